/** A runtime with a JWT authorizer: tokens signed by a key of the test's, and verified. */
import { createSign, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { LocalAgentCoreRuntime } from '../js/local.js';
import { localRuntime } from './support/sandboxes.js';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = ({ publicKey }) => publicKey.export({ type: 'spki', format: 'pem' });

const ISSUER = 'https://issuer.example';
const now = () => Math.floor(Date.now() / 1000);
const CLAIMS = { iss: ISSUER, aud: 'commands', client_id: 'agents', sub: 'user-1' };

function token(claims = {}, { privateKey } = rsa, algorithm = 'RS256') {
  const part = value => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: algorithm, typ: 'JWT' })}.${part({ ...CLAIMS, exp: now() + 300, ...claims })}`;
  const key = algorithm.startsWith('ES') ? { key: privateKey, dsaEncoding: /** @type {const} */ ('ieee-p1363') } : privateKey;
  return `${text}.${createSign('sha256').update(text).sign(key, 'base64url')}`;
}

async function jwtRuntime(authorizer) {
  const runtime = await localRuntime({ jwtAuthorizer: { publicKey: pem(rsa), ...authorizer } });
  return bearerToken => {
    const { credentials: _, ...options } = runtime.sandboxOptions;
    return new AgentCoreRuntimeSandbox({ ...options, bearerToken });
  };
}

const STRICT = { issuer: ISSUER, allowedAudience: ['other', 'commands'], allowedClients: ['agents'] };

describe('a token that is right', () => {
  it('runs commands and stops the session', async () => {
    const sandbox = (await jwtRuntime(STRICT))(token());
    expect(await sandbox.executeCommand('echo in')).toMatchObject({ stdout: 'in\n', exitCode: 0 });
    await sandbox.stopRuntimeSession();
  });

  it('may come from a function, anew for each request', async () => {
    let asked = 0;
    const sandbox = (await jwtRuntime())(async () => token({ jti: String(++asked) }));
    await sandbox.executeCommand('true');
    await sandbox.executeCommand('true');
    expect(asked).toBe(2);
  });

  it('may be signed on an elliptic curve', async () => {
    const sandbox = (await jwtRuntime({ publicKey: pem(ec) }))(token({}, ec, 'ES256'));
    expect((await sandbox.executeCommand('echo in')).stdout).toBe('in\n');
  });
});

describe('a token that is wrong is refused, with what to do', () => {
  it.each([
    ['signed by a stranger', () => token({}, stranger), /signature/],
    ['expired', () => token({ exp: now() - 300 }), /expired/],
    ['without an end', () => token({ exp: undefined }), /Invalid/],
    ['not valid yet', () => token({ nbf: now() + 300 }), /not valid yet/],
    ['of another issuer', () => token({ iss: 'https://other.example' }), /'iss'/],
    ['for another audience', () => token({ aud: ['elsewhere'] }), /'aud'/],
    ['of another client', () => token({ client_id: 'others' }), /'client_id'/],
    ['of no algorithm', () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.${token().split('.')[1]}.`, /Invalid/],
    ['no token at all', () => 'hello', /Invalid/],
  ])('%s', async (_, made, reason) => {
    const sandbox = (await jwtRuntime(STRICT))(made());
    const error = await sandbox.executeCommand('true').catch(each => each);
    expect(error).toMatchObject({ code: 'UnauthorizedException', httpStatusCode: 401, mayHaveRun: false });
    expect(error.message).toMatch(reason);
    expect(error.message).toContain('set the option bearerToken');
  });

  it('and so is a signature', async () => {
    const runtime = await localRuntime({ jwtAuthorizer: { publicKey: pem(rsa) } });
    const sandbox = new AgentCoreRuntimeSandbox(runtime.sandboxOptions);
    await expect(sandbox.executeCommand('true')).rejects.toMatchObject({ httpStatusCode: 403, message: /bearerToken/ });
  });
});

it('a key that is none is refused by name', async () => {
  await expect(LocalAgentCoreRuntime.start({ jwtAuthorizer: { publicKey: 'none' } })).rejects.toThrow(/jwtAuthorizer: publicKey/);
});
