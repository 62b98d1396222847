/** The machine around: networks, credentials, threads, the end of the process. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { ARN, answering, credentials, localRuntime, wireSandbox } from './support/sandboxes.js';
import { stdout, wireServer } from './support/wire.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs a program in a Node of its own, with an environment that holds nothing of AWS. */
async function program(code, env = {}) {
  const home = mkdtempSync(join(tmpdir(), 'agentcore-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const started = performance.now();
  const { stdout: text, stderr } = await run(
    process.execPath,
    ['--no-warnings', '--expose-gc', '--input-type=module', '-e', `import { AgentCoreRuntimeSandbox } from 'mastra-agentcore';\n${code}`],
    { cwd: root, timeout: 110_000, env: { PATH: process.env.PATH, HOME: home, AWS_EC2_METADATA_DISABLED: 'true', ...env } },
  );
  return { text, stderr, ms: performance.now() - started };
}

const tell = options => `
  const sandbox = new AgentCoreRuntimeSandbox(${JSON.stringify(options)});
  await sandbox.executeCommand('true').catch(error => console.log(JSON.stringify({ ...error, message: error.message })));`;

describe('one sentence that says what to do', () => {
  it('without credentials', async () => {
    const { text } = await program(tell({ agentRuntimeArn: ARN, endpoint: 'http://127.0.0.1:9' }));
    expect(JSON.parse(text)).toMatchObject({ code: 'CREDENTIALS_MISSING', mayHaveRun: false });
    expect(text).toContain('aws sso login');
  });

  it('without a region', async () => {
    const { text } = await program(tell({ agentRuntimeArn: 'agent', accountId: '123456789012', credentials }));
    expect(JSON.parse(text)).toMatchObject({ code: 'REGION_MISSING' });
    expect(text).toContain('AWS_REGION');
  });

  it('against a closed port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise(resolve => server.once('listening', resolve));
    const { port } = server.address();
    await new Promise(resolve => server.close(resolve));
    const sandbox = new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, credentials, endpoint: `http://127.0.0.1:${port}`, maxAttempts: 2 });
    await expect(sandbox.executeCommand('true')).rejects.toMatchObject({
      code: 'CONNECTION_REFUSED',
      retryable: true,
      mayHaveRun: false,
      message: /nothing listens there/,
    });
  });

  it('for a host that does not exist', async () => {
    const sandbox = new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, credentials, endpoint: 'http://no-such-host.invalid', maxAttempts: 1 });
    await expect(sandbox.executeCommand('true')).rejects.toMatchObject({ code: 'HOST_NOT_FOUND', mayHaveRun: false });
  });

  it('where TLS meets no TLS', async () => {
    const { sandbox } = await wireSandbox(answering());
    const { server } = await wireSandbox(answering());
    const tls = new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, credentials, endpoint: server.endpoint.replace('http:', 'https:'), maxAttempts: 1 });
    await expect(tls.executeCommand('true')).rejects.toMatchObject({ code: 'TLS_FAILED', mayHaveRun: false });
    await sandbox._destroy();
  });

  it('where a credentials function throws', async () => {
    const sandbox = new AgentCoreRuntimeSandbox({
      agentRuntimeArn: ARN,
      endpoint: 'http://127.0.0.1:9',
      credentials: () => {
        throw new Error('the vault is sealed');
      },
    });
    await expect(sandbox.executeCommand('true')).rejects.toMatchObject({ code: 'CREDENTIALS_MISSING', message: /the vault is sealed/ });
  });

  it('with the secrets of nobody', async () => {
    const secret = 'do-not-tell';
    const sandbox = new AgentCoreRuntimeSandbox({
      agentRuntimeArn: ARN,
      endpoint: 'http://127.0.0.1:9',
      credentials: { accessKeyId: 'AKIA', secretAccessKey: secret, sessionToken: secret },
      maxAttempts: 1,
    });
    const error = await sandbox.executeCommand('true', [], { env: { TOKEN: secret } }).catch(thrown => thrown);
    expect(JSON.stringify([error, error.message, error.stack, String(error.cause)])).not.toContain(secret);
  });
});

it('credentials and region come from the environment', async () => {
  const runtime = await localRuntime();
  const { accessKeyId, secretAccessKey } = runtime.credentials;
  const { text } = await program(
    `const sandbox = new AgentCoreRuntimeSandbox({ agentRuntimeArn: '${runtime.agentRuntimeArn}' });
     process.stdout.write((await sandbox.executeCommand('echo in')).stdout);`,
    {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_ENDPOINT_URL_BEDROCK_AGENTCORE: runtime.endpoint,
    },
  );
  expect(text).toBe('in\n');
});

describe('the process', () => {
  const start = runtime => `const sandbox = new AgentCoreRuntimeSandbox(${JSON.stringify(runtime.sandboxOptions)});`;

  it('ends by itself after a finished command, without destroy', async () => {
    const runtime = await localRuntime();
    const { text, ms } = await program(`${start(runtime)} await sandbox.executeCommand('true'); console.log('done');`);
    expect(text).toBe('done\n');
    expect(ms).toBeLessThan(10_000);
  });

  it('lives while a command runs', async () => {
    const runtime = await localRuntime();
    const { text } = await program(`${start(runtime)} sandbox.executeCommand('sleep 1; echo out').then(r => process.stdout.write(r.stdout));`);
    expect(text).toBe('out\n');
  });

  it('lives for a kill, but not for long', async () => {
    const runtime = await localRuntime();
    const { text, ms } = await program(`${start(runtime)}
      const controller = new AbortController();
      const result = await sandbox.executeCommand('echo begun; sleep 65', [], { abortSignal: controller.signal, onStdout: () => controller.abort() });
      console.log(result.killed);`);
    expect(text).toBe('true\n');
    expect(ms).toBeLessThan(15_000);
    await expect.poll(() => runtime.sessions()[0].runningCommands, { timeout: 10_000 }).toBe(0);
  });

  it('may exit in the middle of a stream', async () => {
    const runtime = await localRuntime();
    const { text } = await program(`${start(runtime)}
      sandbox.executeCommand('yes', [], { maxRetainedBytes: 0, onStdout: () => { console.log('seen'); process.exit(0); } });`);
    expect(text).toBe('seen\n');
  });

  it('may terminate a worker in the middle of a stream', async () => {
    const runtime = await localRuntime();
    const { text } = await program(`
      import { Worker, isMainThread } from 'node:worker_threads';
      const worker = new Worker(\`
        const { AgentCoreRuntimeSandbox } = require('mastra-agentcore');
        const { parentPort } = require('node:worker_threads');
        const sandbox = new AgentCoreRuntimeSandbox(${JSON.stringify(runtime.sandboxOptions)});
        sandbox.executeCommand('yes', [], { maxRetainedBytes: 0, onStdout: () => parentPort.postMessage('seen') });
      \`, { eval: true, execArgv: [] });
      worker.once('message', async () => {
        await worker.terminate();
        ${start(runtime)}
        process.stdout.write((await sandbox.executeCommand('echo alive')).stdout);
      });`);
    expect(text).toBe('alive\n');
    await expect.poll(() => runtime.sessions().every(session => session.runningCommands === 0), { timeout: 15_000 }).toBe(true);
  });

  it('keeps its memory over thousands of commands', { timeout: 120_000 }, async () => {
    const server = await wireServer(answering(stdout('x'.repeat(10_000))));
    onTestFinished(() => server.close());
    const { text } = await program(`
      const sandbox = new AgentCoreRuntimeSandbox({ agentRuntimeArn: '${ARN}', endpoint: '${server.endpoint}', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } });
      const many = async n => { for (let i = 0; i < n; i += 20) await Promise.all(Array.from({ length: 20 }, () => sandbox.executeCommand('x', [], { onStdout() {} }))); };
      const resident = async () => { gc(); await new Promise(resolve => setTimeout(resolve, 100)); return process.memoryUsage.rss(); };
      // What V8 takes at first it keeps; how much differs from version to version.
      await many(8000);
      const before = await resident();
      await many(6000);
      console.log((await resident() - before) / 2 ** 20);`);
    expect(Number(text)).toBeLessThan(24);
  });
});
