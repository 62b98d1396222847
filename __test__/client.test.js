/** The native client that several sandboxes are given. */
import { expect, it } from 'vitest';
import { AgentCoreRuntimeClient, AgentCoreRuntimeSandbox } from '../index.js';
import { ARN, answering, credentials, environment, localRuntime, wireSandbox } from './support/sandboxes.js';
import { stdout } from './support/wire.js';

it('serves several sandboxes, whose destroy does not end it', async () => {
  const { agentRuntimeArn, ...connection } = (await localRuntime()).sandboxOptions;
  const client = new AgentCoreRuntimeClient(connection);
  const [a, b] = [1, 2].map(() => new AgentCoreRuntimeSandbox({ agentRuntimeArn, client }));
  expect((await a.executeCommand('echo a')).stdout).toBe('a\n');
  await a._destroy();
  expect((await b.executeCommand('echo b')).stdout).toBe('b\n');
  await b.stopRuntimeSession();
  client.close();
  await expect(b.executeCommand('true')).rejects.toThrow('AgentCoreRuntimeClient is closed');
});

it('refuses credentials that are none, without naming them', () => {
  expect(() => new AgentCoreRuntimeClient({ credentials: { secretAccessKey: 'do-not-tell' } })).toThrow(
    /^\[AgentCoreRuntimeSandbox\] credentials must be an object with accessKeyId and secretAccessKey/,
  );
});

it('without a region of its own goes where the ARN says', async () => {
  const { agentRuntimeArn, endpoint, credentials: given } = await localRuntime();
  const client = new AgentCoreRuntimeClient({ endpoint, credentials: given });
  const sandbox = new AgentCoreRuntimeSandbox({ agentRuntimeArn, client });
  expect((await sandbox.executeCommand('echo there')).stdout).toBe('there\n');
});

it('a function that gives nothing is named, not sent', async () => {
  const none = { agentRuntimeArn: ARN, endpoint: 'http://127.0.0.1:9', maxAttempts: 1 };
  for (const given of [undefined, '', 7]) {
    const sandbox = new AgentCoreRuntimeSandbox({ ...none, bearerToken: async () => given });
    await expect(sandbox.executeCommand('true')).rejects.toMatchObject({
      code: 'BEARER_TOKEN_MISSING',
      message: /the bearerToken function gave no token/,
      mayHaveRun: false,
    });
  }
  for (const given of [undefined, {}, { accessKeyId: 'a', secretAccessKey: 770_077 }]) {
    const sandbox = new AgentCoreRuntimeSandbox({ ...none, credentials: async () => given });
    const error = await sandbox.executeCommand('true').catch(thrown => thrown);
    expect(error).toMatchObject({ code: 'CREDENTIALS_MISSING', mayHaveRun: false });
    expect(error.message).toContain('the credentials function gave no accessKeyId and secretAccessKey');
    expect(error.message).not.toContain('770077');
  }
});

it('a destroyed sandbox gives its share back, and its sibling works on', async () => {
  const { sandbox, server } = await wireSandbox(answering(stdout('x')));
  const sibling = new AgentCoreRuntimeSandbox({
    agentRuntimeArn: sandbox.agentRuntimeArn,
    endpoint: server.endpoint,
    credentials,
  });
  for (let n = 0; n < 4; n += 1) {
    await sandbox.executeCommand('x');
    await sibling.executeCommand('x');
  }
  await sandbox._destroy();
  for (let n = 0; n < 4; n += 1) await sibling.executeCommand('x');
  expect(server.requests).toHaveLength(12);
  // A connection may come back to the pool a moment after the next command asked for one.
  expect(server.connections()).toBeLessThan(6);
});

it('a sandbox made after the keys of the environment changed signs with the new ones', async () => {
  const keys = id => environment({ AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: undefined });
  keys('AKIAFIRST');
  const { sandbox, server } = await wireSandbox(answering(), { credentials: undefined });
  await sandbox.executeCommand('x');
  keys('AKIASECOND');
  const later = new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, endpoint: server.endpoint });
  await later.executeCommand('x');
  await sandbox.executeCommand('x');
  const signers = server.requests.map(({ headers }) => /Credential=([^/]+)/.exec(headers.authorization)[1]);
  expect(signers).toEqual(['AKIAFIRST', 'AKIASECOND', 'AKIAFIRST']);
});

it('sends trace headers: those given, those of a function, or none', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  for (const [trace, expected] of [
    [{ traceparent, tracestate: 'a=b', baggage: 'c=d', traceId: 'Root=1' }, traceparent],
    [() => ({ traceparent }), traceparent],
    [() => undefined, undefined],
    [false, undefined],
  ]) {
    const { sandbox, server } = await wireSandbox(answering(), { trace });
    await sandbox.executeCommand('x');
    const [{ headers }] = server.requests;
    expect(headers.traceparent).toBe(expected);
    if (trace.traceId) {
      expect(headers).toMatchObject({ tracestate: 'a=b', baggage: 'c=d', 'x-amzn-trace-id': 'Root=1' });
    }
  }
});

it('a request carries what the service asks for', async () => {
  const { sandbox, server } = await wireSandbox(answering(), { qualifier: 'prod' });
  await sandbox.executeCommand('x', [], { timeout: 2000 });
  const [{ url, headers, body }] = server.requests;
  expect(url).toBe(`/runtimes/${encodeURIComponent(sandbox.agentRuntimeArn)}/commands?qualifier=prod`);
  expect(headers).toMatchObject({
    accept: 'application/vnd.amazon.eventstream',
    'content-type': 'application/json',
    'x-amzn-bedrock-agentcore-runtime-session-id': sandbox.id,
    authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/us-west-2\/bedrock-agentcore\//),
    'user-agent': expect.stringContaining('mastra-agentcore'),
  });
  expect(body).toEqual({ command: expect.stringContaining('exec </dev/null'), timeout: 2 });
});
