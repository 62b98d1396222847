/** Proxies: who goes through them, who does not, and what is said when they will not have us. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateAuthority } from './support/certificates.js';
import { connectProxy } from './support/proxy.js';
import { answering, environment, wireSandbox } from './support/sandboxes.js';
import { stdout, wireServer } from './support/wire.js';

const NONE = {
  HTTPS_PROXY: undefined,
  https_proxy: undefined,
  HTTP_PROXY: undefined,
  http_proxy: undefined,
  ALL_PROXY: undefined,
  all_proxy: undefined,
  NO_PROXY: undefined,
  no_proxy: undefined,
  REQUEST_METHOD: undefined,
};
const hello = answering(stdout('hello\n'));

let authority;
let tls;
beforeAll(() => {
  authority = certificateAuthority();
  tls = authority.issue();
});
afterAll(() => authority.remove());

/** Runs a command on a server of HTTPS, in the environment that `variables` tells. */
async function outcome(variables, options, serverOptions = { tls }) {
  environment({ ...NONE, AWS_CA_BUNDLE: authority.file, ...variables });
  const { sandbox, server } = await wireSandbox(hello, { maxAttempts: 1, ...options }, serverOptions);
  const result = await sandbox.executeCommand('x').catch(error => error);
  return { result, sandbox, server };
}

const ran = { success: true, stdout: 'hello\n' };

describe('a command goes through the proxy of', () => {
  it.each(['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'])('%s', async variable => {
    const proxy = await connectProxy();
    const { result, server } = await outcome({ [variable]: proxy.url });
    expect(result).toMatchObject(ran);
    expect(proxy.tunnels).toEqual([{ target: `127.0.0.1:${server.port}`, authorization: undefined }]);
    expect(proxy.requests).toEqual([]);
  });

  it('HTTPS_PROXY, before that of ALL_PROXY', async () => {
    const [proxy, other] = [await connectProxy(), await connectProxy()];
    const { result } = await outcome({ HTTPS_PROXY: proxy.url, ALL_PROXY: other.url });
    expect(result).toMatchObject(ran);
    expect([proxy, other].map(({ tunnels }) => tunnels.length)).toEqual([1, 0]);
  });

  it('HTTPS_PROXY without a scheme', async () => {
    const proxy = await connectProxy();
    const { result } = await outcome({ HTTPS_PROXY: `127.0.0.1:${proxy.port}` });
    expect(result).toMatchObject(ran);
    expect(proxy.tunnels).toHaveLength(1);
  });

  it('and leaves the host’s name to it', async () => {
    const wire = await wireServer(hello, { tls: authority.issue(['DNS:agentcore.invalid']) });
    const proxy = await connectProxy({ to: wire.port });
    const { result } = await outcome({ HTTPS_PROXY: proxy.url }, { endpoint: 'https://agentcore.invalid' });
    await wire.close();
    expect(result).toMatchObject(ran);
    expect(wire.requests).toMatchObject([{ headers: { host: 'agentcore.invalid' } }]);
    expect(proxy.tunnels).toMatchObject([{ target: 'agentcore.invalid:443' }]);
  });

  it('with a tunnel that commands use one after another', async () => {
    const proxy = await connectProxy();
    const { sandbox, server } = await outcome({ HTTPS_PROXY: proxy.url });
    for (let n = 0; n < 11; n += 1) await sandbox.executeCommand('x');
    expect(server.requests).toHaveLength(12);
    // A connection may come back to the pool a moment after the next command asked for one.
    expect(proxy.tunnels.length).toBeLessThan(6);
  });
});

describe('the proxy’s password', () => {
  const basic = text => `Basic ${Buffer.from(text).toString('base64')}`;
  it.each([
    ['user:pass', 'user:pass'],
    ['user', 'user:'],
    ['us%40er:p%3Aass%2Fw%C3%B6rd', 'us@er:p:ass/wörd'],
  ])('%s is sent to the proxy alone', async (given, meant) => {
    const proxy = await connectProxy();
    const { result, server } = await outcome({ HTTPS_PROXY: `http://${given}@127.0.0.1:${proxy.port}` });
    expect(result).toMatchObject(ran);
    expect(proxy.tunnels).toMatchObject([{ authorization: basic(meant) }]);
    expect(server.requests[0].headers).not.toHaveProperty('proxy-authorization');
  });
});

describe('no proxy', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['example.com, 127.0.0.1', '127.0.0.1'],
    ['127.0.0.0/8', '127.0.0.1'],
    ['*', 'localhost'],
    ['localhost', 'localhost'],
  ])('for what NO_PROXY=%s names', async (NO_PROXY, host) => {
    const proxy = await connectProxy();
    const { result } = await outcome({ HTTPS_PROXY: proxy.url, NO_PROXY }, {}, { tls, host });
    expect(result).toMatchObject(ran);
    expect(proxy.tunnels).toEqual([]);
  });

  it('for an IP address where NO_PROXY=* names everything', async () => {
    const proxy = await connectProxy();
    await outcome({ HTTPS_PROXY: proxy.url, NO_PROXY: '*' });
    expect(proxy.tunnels).toEqual([]);
  });

  it('for what no_proxy names', async () => {
    const proxy = await connectProxy();
    const { result } = await outcome({ https_proxy: proxy.url, no_proxy: '127.0.0.1' });
    expect(result).toMatchObject(ran);
    expect(proxy.tunnels).toEqual([]);
  });

  it('is no matter of hosts that NO_PROXY does not name', async () => {
    const proxy = await connectProxy();
    const { result } = await outcome({ HTTPS_PROXY: proxy.url, NO_PROXY: 'localhost,127.0.0.2,.amazonaws.com' });
    expect(result).toMatchObject(ran);
    expect(proxy.tunnels).toHaveLength(1);
  });

  it.each(['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'])(
    'for an http address, whatever %s says',
    async variable => {
      const proxy = await connectProxy();
      const { result } = await outcome({ [variable]: proxy.url }, {}, {});
      expect(result).toMatchObject(ran);
      expect([...proxy.tunnels, ...proxy.requests]).toEqual([]);
    },
  );

  it('for an https address, where only HTTP_PROXY is set', async () => {
    const proxy = await connectProxy();
    const { result } = await outcome({ HTTP_PROXY: proxy.url });
    expect(result).toMatchObject(ran);
    expect([...proxy.tunnels, ...proxy.requests]).toEqual([]);
  });

  it('where HTTPS_PROXY is empty', async () => {
    const { result } = await outcome({ HTTPS_PROXY: '' });
    expect(result).toMatchObject(ran);
  });
});

describe('PROXY_FAILED', () => {
  const failed = { name: 'AgentCoreError', code: 'PROXY_FAILED', mayHaveRun: false, retryable: true };

  function expectFailed({ result, server }) {
    expect(result).toMatchObject(failed);
    expect(result.message).toMatch(/^\[AgentCoreRuntimeSandbox\] ProxyError: .*the proxy 127\.0\.0\.1 did not open a tunnel/);
    expect(result.message).toContain('HTTPS_PROXY');
    for (const secret of ['hushed', 'aHVzaA', Buffer.from('user:hushed').toString('base64')]) {
      expect(JSON.stringify([result.message, String(result.cause), result])).not.toContain(secret);
    }
    expect(server.requests).toEqual([]);
    expect(server.connections()).toBe(0);
  }

  it.each([407, 403, 502, 'silently'])('where the proxy refuses: %s', async refuse => {
    const proxy = await connectProxy({ refuse });
    expectFailed(await outcome({ HTTPS_PROXY: `http://user:hushed@127.0.0.1:${proxy.port}` }));
    expect(proxy.tunnels).toHaveLength(1);
  });

  it('where there is no proxy', async () => {
    const gone = await wireServer(hello);
    await gone.close();
    expectFailed(await outcome({ HTTPS_PROXY: `http://user:hushed@127.0.0.1:${gone.port}` }));
  });

  it('where the proxy’s host is not known', async () => {
    const { result } = await outcome({ HTTPS_PROXY: 'http://user:hushed@proxy.invalid:3128' });
    expect(result).toMatchObject(failed);
    expect(result.message).toContain('the proxy proxy.invalid did not open a tunnel');
    expect(result.message).not.toContain('hushed');
  });

  it('after as many tries as maxAttempts says', async () => {
    const proxy = await connectProxy({ refuse: 503 });
    const { result } = await outcome({ HTTPS_PROXY: proxy.url }, { maxAttempts: 3 });
    expect(result).toMatchObject(failed);
    expect(proxy.tunnels).toHaveLength(3);
  });

  it('is no end where the proxy comes to its senses', async () => {
    const wire = await wireServer(hello, { tls });
    const refusing = await connectProxy({ refuse: 503 });
    environment({ ...NONE, AWS_CA_BUNDLE: authority.file, HTTPS_PROXY: refusing.url });
    const { sandbox } = await wireSandbox(hello, { endpoint: wire.endpoint, maxAttempts: 1 });
    await expect(sandbox.executeCommand('x')).rejects.toMatchObject(failed);
    refusing.accept();
    expect(await sandbox.executeCommand('x')).toMatchObject(ran);
    await wire.close();
  });

  it('is not what a bad certificate behind the proxy is', async () => {
    const proxy = await connectProxy();
    const { result, server } = await outcome({ HTTPS_PROXY: proxy.url, AWS_CA_BUNDLE: undefined });
    expect(result).toMatchObject({ code: 'TLS_FAILED', mayHaveRun: false });
    expect(server.requests).toEqual([]);
  });
});

it('what is lost inside a tunnel may have run', async () => {
  const proxy = await connectProxy();
  environment({ ...NONE, AWS_CA_BUNDLE: authority.file, HTTPS_PROXY: proxy.url });
  const { sandbox, server } = await wireSandbox(({ response }) => response.socket.destroy(), {}, { tls });
  await expect(sandbox.executeCommand('x')).rejects.toMatchObject({ code: 'CONNECTION_LOST', mayHaveRun: true });
  expect(server.requests).toHaveLength(1);
  expect(proxy.tunnels).toHaveLength(1);
});
