/** boto3, unmodified, against the local runtime. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { localRuntime } from '../support/sandboxes.js';
import { httpErrors, streamErrors } from './official.js';

const environment = fileURLToPath(new URL('../../.cache/boto3', import.meta.url));
const python = `${environment}/bin/python`;
const script = fileURLToPath(new URL('boto3_client.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

describe.skipIf(!hasPython && !process.env.CI)('boto3', () => {
  beforeAll(() => {
    if (existsSync(`${environment}/installed`)) return;
    execFileSync('python3', ['-m', 'venv', environment]);
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', 'boto3>=1.43']);
    execFileSync('touch', [`${environment}/installed`]);
  }, 180_000);

  async function client() {
    const runtime = await localRuntime();
    const { endpoint, region, agentRuntimeArn, credentials } = runtime;
    const child = spawn(python, [script, endpoint, region, agentRuntimeArn, credentials.accessKeyId, credentials.secretAccessKey], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill());
    const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
    const ask = async call => {
      child.stdin.write(`${JSON.stringify(call)}\n`);
      return JSON.parse((await answers.next()).value);
    };
    return { runtime, ask };
  }

  it('invokes and stops', async () => {
    const { runtime, ask } = await client();
    const seen = await ask({ call: 'invoke', command: '/bin/sh -c "echo out; echo err >&2; exit 3"' });
    expect(seen).toEqual({
      session: 'boto3-session-0123456789-0123456789-0123456789',
      stdout: 'out\n',
      stderr: 'err\n',
      kinds: ['contentStart', 'contentDelta', 'contentStop'],
      stop: { exitCode: 3, status: 'COMPLETED' },
    });
    expect(await ask({ call: 'stop' })).toEqual({ session: seen.session });
    expect(runtime.sessions()).toEqual([]);
  });

  it('sees every HTTP error as its class', async () => {
    const { runtime, ask } = await client();
    for (const [status, errorType, modelled] of httpErrors) {
      runtime.inject({ kind: 'status', status, errorType, message: 'm' });
      const seen = await ask({ call: 'invoke', command: 'true' });
      expect(seen).toMatchObject({ code: errorType, message: 'm', status });
      if (modelled) expect(seen.class).toBe(errorType);
    }
  });

  it('sees every exception of the stream', async () => {
    const { runtime, ask } = await client();
    for (const [exceptionType] of streamErrors) {
      runtime.inject({ kind: 'exception', exceptionType, message: 'm', afterEvents: 1 });
      const seen = await ask({ call: 'invoke', command: 'true' });
      expect(seen).toMatchObject({ class: 'EventStreamError', code: exceptionType });
    }
  });
});
