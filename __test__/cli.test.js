/** The command line: exec and local. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { localRuntime } from './support/sandboxes.js';

const cli = fileURLToPath(new URL('../js/cli.js', import.meta.url));

function start(args, env = {}) {
  const child = spawn(process.execPath, ['--no-warnings', cli, ...args], {
    env: { PATH: process.env.PATH, AWS_EC2_METADATA_DISABLED: 'true', ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const seen = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', text => {
      seen[name] += text;
    });
  }
  return { child, seen };
}

async function end({ child, seen }) {
  const [code] = await once(child, 'close');
  return { code, ...seen };
}

const environment = runtime => ({
  AGENTCORE_RUNTIME_ARN: runtime.agentRuntimeArn,
  AWS_ENDPOINT_URL_BEDROCK_AGENTCORE: runtime.endpoint,
  AWS_ACCESS_KEY_ID: runtime.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: runtime.credentials.secretAccessKey,
});

it('exec streams output and ends with the command’s exit code', async () => {
  const runtime = await localRuntime();
  const env = environment(runtime);
  expect(await end(start(['exec', '--', 'echo out; echo err >&2; exit 7'], env))).toEqual({
    code: 7,
    stdout: 'out\n',
    stderr: 'err\n',
  });
  const args = await end(start(['exec', '--cwd', '/', '--stop', '--', 'printf', '%s|', "it's", '$HOME'], env));
  expect(args).toMatchObject({ code: 0, stdout: "it's|$HOME|" });
  expect(runtime.sessions()).toHaveLength(1);
  expect((await end(start(['exec', '--timeout', '1', '--', 'sleep 9'], env))).code).toBe(124);
});

it('exec says in one line what is wrong', async () => {
  expect(await end(start(['exec', '--', 'true']))).toMatchObject({
    code: 70,
    stderr: '[AgentCoreRuntimeSandbox] agentRuntimeArn is required\n',
  });
  expect((await end(start(['exec']))).code).toBe(64);
  expect((await end(start(['exec', '--nonsense', '--', 'true']))).code).toBe(64);
});

it('exec passes an interrupt on as an abort', async () => {
  const runtime = await localRuntime();
  const running = start(['exec', '--', 'echo begun; sleep 66'], environment(runtime));
  running.child.stdout.once('data', () => running.child.kill('SIGINT'));
  expect(await end(running)).toMatchObject({ code: 137, stdout: 'begun\n' });
});

it('local serves what exec can use, until a signal', async () => {
  const server = start(['local']);
  await expect.poll(() => server.seen.stdout).toContain('AWS_SECRET_ACCESS_KEY=');
  const env = Object.fromEntries([...server.seen.stdout.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
  expect(server.seen.stdout).toContain('It isolates nothing');
  expect(await end(start(['exec', '--', 'echo through'], env))).toMatchObject({ code: 0, stdout: 'through\n' });
  server.child.kill('SIGTERM');
  expect((await end(server)).code).toBe(0);
});

it('--help and --version', async () => {
  expect((await end(start(['--help']))).stdout).toContain('Usage:');
  expect((await end(start(['--version']))).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});
