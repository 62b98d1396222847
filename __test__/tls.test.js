/**
 * HTTPS on loopback, with certificates of a test's own authority: whom we trust, what we say
 * where we do not, and that nothing is sent there.
 */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { certificateAuthority } from './support/certificates.js';
import { answering, credentials, environment, wireSandbox } from './support/sandboxes.js';
import { stdout } from './support/wire.js';

let ours;
let other;
let server;
beforeAll(() => {
  ours = certificateAuthority();
  other = certificateAuthority();
  server = ours.issue();
});
afterAll(() => {
  ours.remove();
  other.remove();
});

const trusting = (AWS_CA_BUNDLE, NODE_EXTRA_CA_CERTS) => environment({ AWS_CA_BUNDLE, NODE_EXTRA_CA_CERTS });
const hello = answering(stdout('hello\n'));
const tlsSandbox = (tls, options, onCommand = hello, host = '127.0.0.1') =>
  wireSandbox(onCommand, { maxAttempts: 1, ...options }, { tls: { ...server, ...tls }, host });

async function outcome(...given) {
  const made = await tlsSandbox(...given);
  const result = await made.sandbox.executeCommand('x').catch(error => error);
  return Object.assign(result, { requests: made.server.requests.length, connections: made.server.connections() });
}

const untrusted = { name: 'AgentCoreError', code: 'TLS_FAILED', mayHaveRun: false, retryable: true, requests: 0 };

describe('a private authority is trusted when it is named in', () => {
  it.each([
    ['AWS_CA_BUNDLE', () => trusting(ours.file)],
    ['NODE_EXTRA_CA_CERTS', () => trusting(undefined, ours.file)],
    ['the one, while the other names another', () => trusting(other.file, ours.file)],
    ['both', () => trusting(ours.file, ours.file)],
    ['one, while the other is empty', () => trusting(ours.file, '')],
  ])('%s', async (_, prepare) => {
    prepare();
    expect(await outcome()).toMatchObject({ success: true, stdout: 'hello\n', requests: 1 });
  });

  it('a file of several', async () => {
    const file = join(ours.folder, 'several.pem');
    const [foreign, own] = [other, ours].map(authority => readFileSync(authority.file));
    writeFileSync(file, `Of no use:\n${foreign}\n# Ours:\n${own}\n`);
    trusting(file);
    expect(await outcome()).toMatchObject({ success: true });
  });
});

describe('nothing is sent to a server', () => {
  it.each([
    ['of an unknown authority', () => ({}), () => trusting()],
    ['of another authority', () => ({}), () => trusting(other.file)],
    ['of a certificate that has expired', () => ours.issue(undefined, ['-startdate', '200101000000Z', '-enddate', '200102000000Z'])],
    ['of a certificate that is not valid yet', () => ours.issue(undefined, ['-startdate', '480101000000Z', '-enddate', '480102000000Z'])],
    ['of another host', () => ours.issue(['DNS:example.com', 'IP:127.0.0.2'])],
    ['of TLS 1.1', () => ({ maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' })],
  ])('%s', async (_, tls, prepare = () => trusting(ours.file)) => {
    prepare();
    const error = await outcome(tls());
    expect(error).toMatchObject(untrusted);
    expect(error.connections).toBe(1);
    expect(error.message).toMatch(/^\[AgentCoreRuntimeSandbox\] TlsError: no connection to the service: /);
    expect(error.message).toContain('AWS_CA_BUNDLE');
  });

  it('that speaks no TLS', async () => {
    const { server: plain, sandbox } = await wireSandbox(hello);
    const endpoint = plain.endpoint.replace('http:', 'https:');
    const error = await outcome({}, { endpoint, agentRuntimeArn: sandbox.agentRuntimeArn });
    expect(error).toMatchObject(untrusted);
    expect(plain.requests).toEqual([]);
  });

  it('as often as maxAttempts says, and no oftener', async () => {
    trusting();
    expect(await outcome({}, { maxAttempts: 2 })).toMatchObject({ ...untrusted, connections: 2 });
  });
});

describe('a file of certificates that cannot be read is named', () => {
  it.each([
    ['AWS_CA_BUNDLE', 'missing', name => name],
    ['NODE_EXTRA_CA_CERTS', 'missing', name => name],
    ['AWS_CA_BUNDLE', 'of no PEM', name => (writeFileSync(name, '-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n'), name)],
    ['AWS_CA_BUNDLE', 'of no certificate', name => (writeFileSync(name, 'no certificate\n'), name)],
    ['AWS_CA_BUNDLE', 'a folder', () => ours.folder],
  ])('%s: %s', async (variable, kind, make) => {
    const file = make(join(ours.folder, `${variable}-${kind}.pem`));
    environment({ AWS_CA_BUNDLE: undefined, NODE_EXTRA_CA_CERTS: undefined, [variable]: file });
    const error = await outcome();
    expect(error).toMatchObject({ code: 'CERTIFICATES_UNREADABLE', mayHaveRun: false, requests: 0, connections: 0 });
    expect(error.message).toContain(file);
  });

  it('and a sandbox made once the variable is correct has a client of its own', async () => {
    trusting(join(ours.folder, 'nowhere.pem'));
    const { sandbox: first, server: wire } = await tlsSandbox();
    await expect(first.executeCommand('x')).rejects.toMatchObject({ code: 'CERTIFICATES_UNREADABLE' });
    trusting(ours.file);
    const { agentRuntimeArn } = first;
    const second = new AgentCoreRuntimeSandbox({ agentRuntimeArn, endpoint: wire.endpoint, credentials });
    expect(await second.executeCommand('x')).toMatchObject({ success: true });
  });

  it('and read again by the next command', async () => {
    const file = join(ours.folder, 'late.pem');
    trusting(file);
    const { sandbox } = await tlsSandbox();
    await expect(sandbox.executeCommand('x')).rejects.toMatchObject({ code: 'CERTIFICATES_UNREADABLE' });
    copyFileSync(ours.file, file);
    expect(await sandbox.executeCommand('x')).toMatchObject({ success: true });
  });
});

describe('the handshake', () => {
  it('offers HTTP/1.1 and nothing else', async () => {
    trusting(ours.file);
    const offers = [];
    const ALPNCallback = ({ protocols }) => {
      offers.push(protocols);
      return protocols[0];
    };
    expect(await outcome({ ALPNCallback })).toMatchObject({ success: true });
    expect(offers).toEqual([['http/1.1']]);
  });

  it('comes to HTTP/1.1 where the server would rather have HTTP/2', async () => {
    trusting(ours.file);
    const spoken = [];
    const onCommand = exchange => {
      spoken.push(exchange.request.httpVersion);
      return hello(exchange);
    };
    expect(await outcome({ ALPNProtocols: ['h2', 'http/1.1'] }, {}, onCommand)).toMatchObject({ success: true });
    expect(spoken).toEqual(['1.1']);
  });

  it.each(['TLSv1.2', 'TLSv1.3'])('speaks %s', async version => {
    trusting(ours.file);
    expect(await outcome({ minVersion: version, maxVersion: version })).toMatchObject({ success: true });
  });

  it('names the host it asks for', async () => {
    trusting(ours.file);
    const asked = [];
    const SNICallback = (name, done) => {
      asked.push(name);
      done(null);
    };
    expect(await outcome({ SNICallback }, {}, hello, 'localhost')).toMatchObject({ success: true });
    expect(asked).toEqual(['localhost']);
  });

  it('is used by commands that follow each other', async () => {
    trusting(ours.file);
    const { sandbox, server: wire } = await tlsSandbox();
    for (let n = 0; n < 12; n += 1) await sandbox.executeCommand('x');
    expect(wire.requests).toHaveLength(12);
    // A connection may come back to the pool a moment after the next command asked for one.
    expect(wire.connections()).toBeLessThan(6);
  });

  it('that breaks off is no connection, and nothing was sent', async () => {
    trusting(ours.file);
    const SNICallback = (_, done) => done(new Error('no'));
    const error = await outcome({ SNICallback }, {}, hello, 'localhost');
    expect(error.code).toMatch(/^(TLS_FAILED|CONNECTION_FAILED)$/);
    expect(error).toMatchObject({ mayHaveRun: false, retryable: true, requests: 0 });
  });
});
