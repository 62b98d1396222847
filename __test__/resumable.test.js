/** Commands that survive their connection: the same results as any, and nothing left behind. */
import { expect, it, describe, onTestFinished } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../js/native.js';
import { localSandbox } from './support/sandboxes.js';

const numbers = count => Array.from({ length: count }, (_, n) => `${n + 1}\n`).join('');

async function resumable(options, runtimeOptions) {
  const made = await localSandbox({ resumable: true, ...options }, runtimeOptions);
  onTestFinished(() => made.sandbox._destroy());
  const left = () =>
    made.sandbox
      .executeCommand('ls -A "$TMPDIR/.mastra-agentcore/processes" "$TMPDIR" 2>/dev/null', [], { resumable: false })
      .then(({ stdout }) => stdout.split('\n').filter(line => /^[0-9a-f]{8}-|^\.mastra-agentcore-/.test(line)));
  return { ...made, left };
}

describe('the result is that of any command', () => {
  it.each([
    ['both streams and a code', 'echo out; echo err >&2; exit 7', [], {}],
    ['arguments', 'printf', ['%s|', "it's", '$HOME', '', 'a  b'], {}],
    ['variables and a directory', 'pwd; echo "$A"; true && echo "$A"', [], { cwd: '/usr', env: { A: "x'y\nz" } }],
    ['no output', 'exit 3', [], {}],
    ['what is retained', 'seq 1 1000', [], { maxRetainedBytes: 9 }],
    ['stdin at its end', 'cat; echo ended', [], {}],
    ['an end by a signal', 'kill -9 $$', [], {}],
    ['a text that no command could carry', `printf %s "${"it's ".repeat(20_000)}" | wc -c`, [], {}],
  ])('%s', async (_, command, args, options) => {
    const { sandbox } = await resumable();
    const { executionTimeMs: _1, ...plain } = await sandbox.executeCommand(command, args, { ...options, resumable: false });
    const { executionTimeMs: _2, ...result } = await sandbox.executeCommand(command, args, options);
    expect(result).toEqual(plain);
  });

  it('a directory that is missing', async () => {
    const { sandbox, left } = await resumable();
    const result = await sandbox.executeCommand('echo lost', [], { cwd: '/nowhere' });
    expect(result).toMatchObject({ exitCode: 2, success: false, stdout: '', stderr: /can't cd to \/nowhere/ });
    expect(await left()).toEqual([]);
  });

  it('with ./native, too', async () => {
    const { runtime } = await resumable();
    const sandbox = new AgentCoreRuntimeSandbox(runtime.sandboxOptions);
    onTestFinished(() => sandbox.close());
    expect(await sandbox.executeCommand('echo hi', [], { resumable: true })).toMatchObject({ stdout: 'hi\n', exitCode: 0 });
  });
});

it('streams to callbacks, waits for what they return, and ends with what they throw', async () => {
  const { sandbox } = await resumable();
  const heard = [];
  let ready = 0;
  await sandbox.executeCommand('echo a; sleep 0.3; echo b', [], {
    onStdout: async text => {
      heard.push(text);
      await new Promise(resolve => setTimeout(resolve, 50));
      ready += 1;
    },
  });
  expect(heard.join('')).toBe('a\nb\n');
  expect(ready).toBe(heard.length);
  const oops = new Error('oops');
  const thrown = sandbox.executeCommand('echo a; sleep 60', [], {
    onStdout: () => {
      throw oops;
    },
  });
  await expect(thrown).rejects.toBe(oops);
});

it('an abort and a timeout end it, with all that it started, and leave nothing', async () => {
  const { sandbox, left } = await resumable();
  const controller = new AbortController();
  const aborted = await sandbox.executeCommand('echo begun; sleep 8001 & sleep 8001', [], {
    abortSignal: controller.signal,
    onStdout: () => controller.abort(),
  });
  expect(aborted).toMatchObject({ exitCode: 137, killed: true, timedOut: false, stdout: 'begun\n' });
  const late = await sandbox.executeCommand('echo begun; sleep 8001', [], { timeout: 1_000 });
  expect(late).toMatchObject({ exitCode: 124, killed: true, timedOut: true, stdout: 'begun\n' });
  const found = () => sandbox.executeCommand('grep -l "[s]leep.8001" /proc/[0-9]*/cmdline 2>/dev/null; true', [], { resumable: false });
  await expect.poll(async () => (await found()).stdout, { timeout: 15_000 }).toBe('');
  await expect.poll(left, { timeout: 15_000 }).toEqual([]);
});

it('an abort while it starts starts nothing', async () => {
  const { sandbox, runtime, left } = await resumable();
  const file = `/tmp/mastra-agentcore-test-${process.pid}-${Date.now()}`;
  await sandbox.executeCommand('true');
  runtime.inject({ kind: 'delay', ms: 500 });
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 100);
  const result = await sandbox.executeCommand(`sleep 2; echo ran >${file}`, [], { abortSignal: controller.signal });
  expect(result).toMatchObject({ killed: true, stdout: '' });
  await new Promise(resolve => setTimeout(resolve, 4_000));
  expect((await sandbox.executeCommand('ls', [file], { resumable: false })).exitCode).not.toBe(0);
  await expect.poll(left, { timeout: 15_000 }).toEqual([]);
}, 40_000);

it('each of a hundred thousand lines comes once and in order, while its connections break', async () => {
  const { sandbox, runtime, left } = await resumable();
  let heard = '';
  // Whatever serves it is cut, three times a second.
  await sandbox.executeCommand('true');
  runtime.inject({ kind: 'cut', afterBytes: 30_000, count: 20 });
  const result = await sandbox.executeCommand(
    'i=0; while [ $i -lt 100 ]; do seq $((i * 1000 + 1)) $((i * 1000 + 1000)); echo $i >&2; i=$((i + 1)); sleep 0.05; done; exit 9',
    [],
    { onStdout: text => void (heard += text) },
  );
  expect(result.exitCode).toBe(9);
  expect(heard === numbers(100_000)).toBe(true);
  expect(result.stdout === heard).toBe(true);
  expect(result.stderr).toBe(Array.from({ length: 100 }, (_, n) => `${n}\n`).join(''));
  expect(runtime.requests().commands).toBeGreaterThan(20);
  await expect.poll(left, { timeout: 15_000 }).toEqual([]);
}, 60_000);

it('may take eight hours, and not more; not without a shell', async () => {
  const { sandbox } = await resumable();
  expect((await sandbox.executeCommand('echo long', [], { timeout: 28_800_000 })).stdout).toBe('long\n');
  await expect(sandbox.executeCommand('true', [], { timeout: 28_801_000 })).rejects.toThrow('at most 28800 seconds');
  await expect(sandbox.executeCommand('true', [], { timeout: 3_601_000, resumable: false })).rejects.toThrow('at most 3600 seconds');
  await expect(resumable({ shell: false })).rejects.toThrow(/resumable needs a shell/);
});
