/** Real commands in the local runtime, as words and as shell text. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BedrockAgentCoreClient } from '@aws-sdk/client-bedrock-agentcore';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { AgentCoreRuntimeSandbox as NativeSandbox } from '../js/native.js';
import { localRuntime, localSandbox } from './support/sandboxes.js';

const scripts = [
  'echo a; echo b | wc -l',
  'for i in 1 2; do echo $i; done',
  'cat <<EOF\nhere $FOO\nEOF',
  '(cd / && pwd); pwd',
  'echo visible # comment',
  'true & wait; echo "$FOO"',
  'true && echo $FOO',
  'if [ "$FOO" = "it\'s" ]; then echo yes; fi',
  'echo $FOO >&2; exit 3',
];

describe.each(['argv', 'shell'])('with %s semantics', commandSemantics => {
  it('commands mean what bash gives in that directory with those variables', async () => {
    const { sandbox } = await localSandbox({}, { commandSemantics });
    const directory = mkdtempSync(join(tmpdir(), "it's a directory-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const env = { FOO: "it's" };
    for (const script of scripts) {
      const { exitCode, stdout, stderr } = await sandbox.executeCommand(script, [], { cwd: directory, env });
      const bash = runBash(script, directory, env);
      expect({ script, exitCode, stdout, stderr }).toEqual({ script, ...bash });
    }
  });

  it('arguments arrive as they are', async () => {
    const { sandbox } = await localSandbox({}, { commandSemantics });
    const args = ["it's", '$HOME', '', 'a  b', '\\n', '*', '`id`', 'é\n'];
    const { stdout } = await sandbox.executeCommand('printf', ['%s|', ...args]);
    expect(stdout).toBe(args.map(arg => `${arg}|`).join(''));
  });

  it('stdin is closed', async () => {
    const { sandbox } = await localSandbox({}, { commandSemantics });
    const result = await sandbox.executeCommand('cat', [], { timeout: 5000 });
    expect(result).toMatchObject({ success: true, stdout: '', timedOut: false });
  });

  it('a missing directory never runs the command elsewhere', async () => {
    const { sandbox } = await localSandbox({}, { commandSemantics });
    const result = await sandbox.executeCommand('echo ran', [], { cwd: '/no/such' });
    expect(result).toMatchObject({ success: false, stdout: '' });
    expect(result.stderr).toContain('/no/such');
  });
});

function runBash(script, cwd, env) {
  try {
    const stdout = execFileSync('/bin/bash', ['--norc', '-c', script], { cwd, env: { PATH: process.env.PATH, ...env }, stdio: 'pipe' });
    return { exitCode: 0, stdout: stdout.toString(), stderr: '' };
  } catch ({ status, stdout, stderr }) {
    return { exitCode: status, stdout: stdout.toString(), stderr: stderr.toString() };
  }
}

it('seq 1 100000 arrives whole, in order, every callback before the promise settles', async () => {
  const { sandbox } = await localSandbox();
  const expected = Array.from({ length: 100_000 }, (_, n) => `${n + 1}\n`).join('');
  let heard = '';
  const result = await sandbox.executeCommand('seq 1 100000', [], { onStdout: text => void (heard += text) });
  expect(heard === expected).toBe(true);
  expect(result.stdout === expected).toBe(true);
});

it('output streams while the command runs', async () => {
  const { sandbox } = await localSandbox();
  const at = [];
  const started = performance.now();
  await sandbox.executeCommand('echo first; sleep 1; echo second', [], { onStdout: () => void at.push(performance.now() - started) });
  expect(at).toHaveLength(2);
  expect(at[1] - at[0]).toBeGreaterThan(800);
});

it('shell: false sends the drop-in text, which a service without a shell cannot run', async () => {
  const { sandbox, runtime } = await localSandbox({ shell: false });
  const run = sandbox.executeCommand('npm', ['test'], { cwd: '/workspace/app', env: { NODE_ENV: 'test' } });
  await expect(run).rejects.toMatchObject({ code: 'RuntimeClientError' });
  expect(runtime.requests().records[0].command).toBe('cd /workspace/app && NODE_ENV=test npm test');
});

it('a timeout is 124, and nothing of the command is left', async () => {
  const { sandbox, runtime } = await localSandbox({}, { timeoutKills: 'leader' });
  const result = await sandbox.executeCommand('sleep 61 & echo begun; wait', [], { timeout: 1000 });
  expect(result).toMatchObject({ exitCode: 124, timedOut: true, killed: true, success: false, stdout: 'begun\n' });
  await sandbox._destroy();
  expect(runtime.requests().commands).toBe(2);
});

it('an abort kills the whole tree on the runtime; killOnAbort: false does not', async () => {
  for (const killOnAbort of [true, false]) {
    const { sandbox, runtime } = await localSandbox({ killOnAbort });
    const controller = new AbortController();
    const result = await sandbox.executeCommand('echo begun; setsid sleep 62 & sh -c "sleep 63; echo on"', [], {
      abortSignal: controller.signal,
      onStdout: () => setTimeout(() => controller.abort(), 100),
    });
    expect(result).toMatchObject({ killed: true, exitCode: 137, stdout: 'begun\n' });
    await sandbox._destroy();
    expect(runtime.requests().commands).toBe(killOnAbort ? 2 : 1);
    const { directory } = runtime.sessions()[0];
    const left = processesIn(directory);
    if (killOnAbort) expect(left).toEqual([]);
    else expect(left.length).toBeGreaterThanOrEqual(3);
  }
});

/** The processes whose working directory is a session's. */
function processesIn(directory) {
  const found = execFileSync('/bin/sh', ['-c', `for p in /proc/[0-9]*; do [ "$(readlink $p/cwd 2>/dev/null)" = "${directory}" ] && echo $p; done; true`], { encoding: 'utf8' });
  return found.split('\n').filter(Boolean);
}

it('a command that is not aborted pays no request for the kill', async () => {
  const { sandbox, runtime } = await localSandbox();
  await sandbox.executeCommand('true');
  await sandbox.executeCommand('false');
  await sandbox._destroy();
  expect(runtime.requests()).toMatchObject({ commands: 2, stops: 0 });
});

it('the real JavaScript client gives the same results as the native path', async () => {
  const runtime = await localRuntime();
  const { endpoint, region, credentials, agentRuntimeArn } = runtime;
  const client = new BedrockAgentCoreClient({ endpoint, region, credentials });
  onTestFinished(() => client.destroy());
  const injected = new AgentCoreRuntimeSandbox({ agentRuntimeArn, client });
  const native = new AgentCoreRuntimeSandbox(runtime.sandboxOptions);
  for (const command of ['echo "it\'s"; echo err >&2; exit 3', 'seq 1 2000', 'printf "no newline"', 'cat']) {
    const [a, b] = await Promise.all([injected, native].map(sandbox => sandbox.executeCommand(command, [], { env: { A: 'é' } })));
    expect({ ...a, executionTimeMs: 0 }).toEqual({ ...b, executionTimeMs: 0 });
  }
  const controller = new AbortController();
  const aborted = await injected.executeCommand('echo begun; sleep 64', [], {
    abortSignal: controller.signal,
    onStdout: () => controller.abort(),
  });
  expect(aborted).toMatchObject({ killed: true, stdout: 'begun\n' });
  await injected._destroy();
  await expect.poll(() => processesIn(runtime.sessions()[0].directory)).toEqual([]);
  await injected.stopRuntimeSession();
});

it('the native class does the same without Mastra', async () => {
  const runtime = await localRuntime();
  const sandbox = new NativeSandbox({ ...runtime.sandboxOptions, env: { A: 'b' }, workingDirectory: '/' });
  const result = await sandbox.executeCommand('echo $A; pwd');
  expect(result).toMatchObject({ success: true, stdout: 'b\n/\n' });
  const error = await sandbox.executeCommand('x', [], { cwd: '\0' }).catch(thrown => thrown);
  expect(error).toBeInstanceOf(RangeError);
  await sandbox.stopRuntimeSession();
  await sandbox.close();
  await expect(sandbox.executeCommand('true')).rejects.toThrow('closed');
});

it('fifty sandboxes of one configuration share a client, and ask for credentials once', async () => {
  const runtime = await localRuntime();
  let asked = 0;
  const credentials = async () => {
    asked += 1;
    return runtime.credentials;
  };
  const { agentRuntimeArn, endpoint } = runtime;
  const sandboxes = Array.from({ length: 50 }, () => new AgentCoreRuntimeSandbox({ agentRuntimeArn, endpoint, credentials }));
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(sandboxes.slice(round * 10, round * 10 + 20).map(sandbox => sandbox.executeCommand('true')));
  }
  expect(asked).toBe(1);
  expect(runtime.requests().connections).toBeLessThanOrEqual(30);
});

it('a bearer token opens a JWT runtime, a signature does not', async () => {
  const runtime = await localRuntime({ bearerTokens: ['token-1'] });
  const { agentRuntimeArn, endpoint, credentials } = runtime;
  const options = { agentRuntimeArn, endpoint };
  for (const bearerToken of ['token-1', async () => 'token-1']) {
    const sandbox = new AgentCoreRuntimeSandbox({ ...options, bearerToken });
    expect((await sandbox.executeCommand('echo in')).stdout).toBe('in\n');
    await sandbox.stopRuntimeSession();
  }
  const signed = new AgentCoreRuntimeSandbox({ ...options, credentials });
  await expect(signed.executeCommand('true')).rejects.toMatchObject({ httpStatusCode: 403, message: /bearerToken/ });
  const wrong = new AgentCoreRuntimeSandbox({ ...options, bearerToken: 'wrong' });
  await expect(wrong.executeCommand('true')).rejects.toMatchObject({ httpStatusCode: 401 });
  const throwing = new AgentCoreRuntimeSandbox({ ...options, bearerToken: () => { throw new Error('no token today'); } });
  await expect(throwing.executeCommand('true')).rejects.toMatchObject({ code: 'BEARER_TOKEN_MISSING', message: /no token today/ });
});
