/** `mastra-agentcore doctor`: what it finds on a sound runtime, and on unsound ones. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ARN, localRuntime } from './support/sandboxes.js';

const cli = fileURLToPath(new URL('../js/cli.js', import.meta.url));

/** Runs it with this environment and nothing else. */
function doctor(env, ...args) {
  return new Promise(resolve => {
    execFile(process.execPath, [cli, 'doctor', ...args], { env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env } }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
}

const environmentOf = runtime => ({
  AGENTCORE_RUNTIME_ARN: runtime.agentRuntimeArn,
  AWS_ENDPOINT_URL_BEDROCK_AGENTCORE: runtime.endpoint,
  AWS_ENDPOINT_URL_STS: 'http://127.0.0.1:9',
  AWS_ACCESS_KEY_ID: runtime.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: runtime.credentials.secretAccessKey,
});

it('finds a sound runtime sound, stops its session and prints no secret', async () => {
  const runtime = await localRuntime();
  const { code, stdout, stderr } = await doctor(environmentOf(runtime));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/✔ region us-west-2\n/);
  expect(stdout).toMatch(/✔ credentials AKIA….{4} \(EnvVars\)/);
  expect(stdout).toMatch(/! whose they are could not be asked/);
  expect(stdout).toMatch(/✔ session \S+ answered after \d+ ms/);
  expect(stdout).toMatch(/✔ shell \/bin\/sh, user \d+/);
  expect(stdout).toMatch(/✔ writing files: all there/);
  expect(stdout).not.toContain('✖');
  expect(stdout).not.toContain(runtime.credentials.secretAccessKey);
  expect(stdout).not.toContain(runtime.credentials.accessKeyId);
  expect(runtime.requests().stops).toBe(1);
  expect(runtime.sessions()).toEqual([]);
});

it('names tools that the image lacks', async () => {
  const runtime = await localRuntime({ env: { PATH: '/nonexistent' } });
  const { code, stdout } = await doctor(environmentOf(runtime));
  // Not even env is there: no command with the mark gets through.
  expect(code).toBe(1);
  expect(stdout).toMatch(/✖ a command reaches session \S+, but \/bin\/sh ends with 127/);
});

it.each([
  ['no runtime', { AGENTCORE_RUNTIME_ARN: '' }, [], /✖ no runtime: pass --arn/],
  ['a wrong region', {}, ['--region', 'eu-west-1'], /✖ .*region eu-west-1 contradicts agentRuntimeArn/],
  ['no credentials', { AWS_ACCESS_KEY_ID: '', AWS_EC2_METADATA_DISABLED: 'true' }, [], /✖ no AWS credentials were found: set the option/],
  ['a wrong secret', { AWS_SECRET_ACCESS_KEY: 'wrong' }, [], /✖ .*InvalidSignatureException: .*check the secret key/],
  ['nobody there', {}, ['--endpoint', 'http://127.0.0.1:9'], /✖ .*ConnectionRefused: .*nothing listens there/],
  ['another runtime', {}, ['--arn', ARN], /✖ .*ResourceNotFoundException: .*check agentRuntimeArn/],
])('says what to do about %s', async (_, env, args, finding) => {
  const runtime = await localRuntime();
  const { code, stdout } = await doctor({ ...environmentOf(runtime), ...env }, ...args);
  expect(stdout).toMatch(finding);
  expect(code).toBe(1);
  expect(stdout).not.toContain(runtime.credentials.secretAccessKey);
});
