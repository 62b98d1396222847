/** What the local runtime refuses, and when its sessions end: over the wire, as anyone meets it. */
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import {
  BedrockAgentCoreClient,
  InvokeAgentRuntimeCommandCommand,
} from '@aws-sdk/client-bedrock-agentcore';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LocalAgentCoreRuntime } from '../js/local.js';
import { SESSION, localRuntime } from './support/sandboxes.js';

/** Invokes as the official client does; the answer's deltas, or the error. */
async function invoke(runtime, { credentials = runtime.credentials, ...input } = {}) {
  const { endpoint, region, agentRuntimeArn } = runtime;
  const client = new BedrockAgentCoreClient({ endpoint, region, credentials, maxAttempts: 1 });
  onTestFinished(() => client.destroy());
  try {
    const answer = await client.send(
      new InvokeAgentRuntimeCommandCommand({
        agentRuntimeArn,
        runtimeSessionId: SESSION,
        body: { command: 'echo ran', timeout: 20 },
        ...input,
      }),
    );
    let stdout = '';
    for await (const { chunk } of answer.stream) stdout += chunk?.contentDelta?.stdout ?? '';
    return { stdout };
  } catch (error) {
    return { name: error.name, status: error.$metadata?.httpStatusCode };
  }
}

describe('refuses', () => {
  it.each([
    ['a wrong secret', r => ({ credentials: { ...r.credentials, secretAccessKey: 'x'.repeat(40) } }), 403],
    ['an unknown key', r => ({ credentials: { ...r.credentials, accessKeyId: 'AKIAUNKNOWN' } }), 403],
    ['another runtime', r => ({ agentRuntimeArn: `${r.agentRuntimeArn}x` }), 404, 'ResourceNotFoundException'],
    ['an unknown qualifier', () => ({ qualifier: 'nowhere' }), 404, 'ResourceNotFoundException'],
    ['a short session id', () => ({ runtimeSessionId: 'short' }), 400, 'ValidationException'],
    ['a timeout of 0', () => ({ body: { command: 'true', timeout: 0 } }), 400, 'ValidationException'],
    ['a timeout of 3,601', () => ({ body: { command: 'true', timeout: 3601 } }), 400, 'ValidationException'],
    ['an empty command', () => ({ body: { command: '' } }), 400, 'ValidationException'],
    ['65,537 bytes', () => ({ body: { command: 'x'.repeat(65_537) } }), 400, 'ValidationException'],
  ])('%s', async (_, input, status, name) => {
    const runtime = await localRuntime();
    const seen = await invoke(runtime, input(runtime));
    expect(seen.status).toBe(status);
    if (name) expect(seen.name).toBe(name);
    expect(runtime.sessions()).toEqual([]);
  });

  it('what is not signed, and what a web page sends', async () => {
    const runtime = await localRuntime();
    const path = `/runtimes/${encodeURIComponent(runtime.agentRuntimeArn)}/commands`;
    const status = headers =>
      new Promise((resolve, reject) => {
        const sent = request(`${runtime.endpoint}${path}`, { method: 'POST', headers }, answer => {
          answer.resume();
          resolve(answer.statusCode);
        });
        sent.on('error', reject).end('{"command":"true"}');
      });
    expect(await status({})).toBe(403);
    expect(await status({ origin: 'http://evil.example' })).toBe(403);
    expect(await status({ host: 'evil.example' })).toBeGreaterThanOrEqual(400);
    expect(runtime.sessions()).toEqual([]);
  });

  it('options that cannot work', async () => {
    for (const [options, text] of [
      [{ commandSemantics: 'bash' }, 'commandSemantics'],
      [{ idleTimeoutMs: -1 }, 'idleTimeoutMs'],
      [{ agentRuntimeArn: 'arn:aws:s3:::bucket' }, 'agentRuntimeArn'],
    ]) {
      await expect(LocalAgentCoreRuntime.start(options)).rejects.toThrow(text);
    }
  });
});

describe('a session ends', () => {
  const gone = (runtime, directory) =>
    expect.poll(() => runtime.sessions().length === 0 && !existsSync(directory), { timeout: 10_000 }).toBe(true);

  it('when it idles, with what it left running', async () => {
    const runtime = await localRuntime({ idleTimeoutMs: 400 });
    const body = { command: '/bin/sh -c "sleep 67 >/dev/null 2>&1 & echo $!"', timeout: 20 };
    const { stdout } = await invoke(runtime, { body });
    const [{ directory }] = runtime.sessions();
    expect(isAlive(stdout.trim())).toBe(true);
    await gone(runtime, directory);
    expect(isAlive(stdout.trim())).toBe(false);
  });

  it('after its lifetime, whatever it does', async () => {
    const runtime = await localRuntime({ maxLifetimeMs: 500 });
    const running = invoke(runtime, { body: { command: 'sleep 68', timeout: 60 } });
    await expect.poll(() => runtime.sessions()).toHaveLength(1);
    await gone(runtime, runtime.sessions()[0].directory);
    expect((await running).name).toBe('RuntimeClientError');
  });

  it('with the runtime', async () => {
    const runtime = await LocalAgentCoreRuntime.start();
    await invoke(runtime);
    const [{ directory }] = runtime.sessions();
    expect(existsSync(directory)).toBe(true);
    await runtime.stop();
    expect(existsSync(directory)).toBe(false);
  });
});

/** A process that ended may wait as a zombie for whoever adopted it. */
function isAlive(pid) {
  if (!existsSync(`/proc/${pid}`)) return false;
  return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

it('quoted pieces join, or not, as it is told', async () => {
  const body = { command: `printf %s| 'a'"b"`, timeout: 20 };
  expect((await invoke(await localRuntime(), { body })).stdout).toBe('ab|');
  expect((await invoke(await localRuntime({ joinQuotes: false }), { body })).stdout).toBe('a|b|');
});

it('stdin is open, and never ends', async () => {
  const runtime = await localRuntime();
  const started = performance.now();
  await invoke(runtime, { body: { command: 'cat', timeout: 1 } });
  expect(performance.now() - started).toBeGreaterThan(900);
});
