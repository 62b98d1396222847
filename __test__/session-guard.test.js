/** The option `requireExistingSession`: a session that was started is told from one that took its place. */
import { describe, expect, it, vi } from 'vitest';
import { AgentCoreError, AgentCoreRuntimeSandbox } from '../index.js';
import { Sentinels } from '../js/sentinels.js';
import { localRuntime, localSandbox } from './support/sandboxes.js';

const replaced = { code: 'SESSION_REPLACED', mayHaveRun: false, retryable: false };

/** A sandbox that knows its session, and what its start found. */
function guarded(runtime, options) {
  const onStart = vi.fn();
  const sandbox = new AgentCoreRuntimeSandbox({
    ...runtime.sandboxOptions,
    requireExistingSession: true,
    onStart,
    ...options,
  });
  return { sandbox, outcomes: () => onStart.mock.calls.map(([given]) => given.outcome) };
}

// Mastra tells hooks the outcome since after 1.64; what start() gives is ours.
const tellsHooks = process.env.MASTRA_CORE !== '1.64';

describe('a start', () => {
  it('finds a fresh session or one that is known, and says which', async () => {
    const runtime = await localRuntime();
    const first = guarded(runtime);
    await first.sandbox._start();
    expect(runtime.requests().commands).toBe(1);
    const { runtimeSessionId } = first.sandbox;
    const second = guarded(runtime, { runtimeSessionId });
    await second.sandbox.executeCommand('true');
    const third = guarded(runtime, { runtimeSessionId });
    expect(await third.sandbox.start()).toEqual({ outcome: 'connected' });
    const other = guarded(runtime);
    expect(await other.sandbox.start()).toEqual({ outcome: 'created' });
    if (!tellsHooks) return;
    expect(first.outcomes()).toEqual(['created']);
    expect(second.outcomes()).toEqual(['connected']);
  });

  it('without the option says nothing and costs nothing', async () => {
    const { sandbox, runtime } = await localSandbox();
    expect(await sandbox.start()).toBeUndefined();
    expect(runtime.requests().commands).toBe(0);
  });

  it('survives a lost answer', async () => {
    const runtime = await localRuntime();
    runtime.inject({ kind: 'drop' });
    const { sandbox } = guarded(runtime);
    expect(await sandbox.start()).toEqual({ outcome: 'created' });
  });

  it('that cannot leave its file fails, and says why', async () => {
    const runtime = await localRuntime({ env: { TMPDIR: '/proc/none' } });
    const { sandbox } = guarded(runtime);
    await expect(sandbox.executeCommand('true')).rejects.toMatchObject({
      code: 'FILE_FAILED',
      message: expect.stringContaining('/proc/none'),
    });
    expect(runtime.requests().commands).toBe(1);
  });

  it('of many at once is one', async () => {
    const runtime = await localRuntime();
    const { sandbox } = guarded(runtime);
    await Promise.all(Array.from({ length: 5 }, () => sandbox.executeCommand('true')));
    expect(runtime.requests().commands).toBe(6);
  });
});

describe('a session that was replaced', () => {
  const commands = [
    ['a command', sandbox => sandbox.executeCommand('touch "$HOME/ran"')],
    ['with arguments', sandbox => sandbox.executeCommand('touch', ['ran'])],
    ['a long one', sandbox => sandbox.executeCommand(`: ${'x'.repeat(70_000)}\ntouch "$HOME/ran"`)],
    ['in a directory that was there', sandbox => sandbox.executeCommand('touch "$HOME/ran"', [], { cwd: 'work' })],
    ['a resumable one', sandbox => sandbox.executeCommand('touch "$HOME/ran"', [], { resumable: true })],
    ['writeFiles', sandbox => sandbox.writeFiles([{ path: 'ran', content: 'x' }])],
    ['writeFiles of a large file', sandbox => sandbox.writeFiles([{ path: 'ran', content: Buffer.alloc(100_000, 'x') }])],
    ['readFile', sandbox => sandbox.readFile('x')],
    ['a process', sandbox => sandbox.processes.spawn('touch "$HOME/ran"')],
  ];

  it.each([['stopped', {}], ['idle', { idleTimeoutMs: 1000 }]])('(%s) runs nothing', async (how, options) => {
    const runtime = await localRuntime(options);
    const { sandbox } = guarded(runtime, { processes: true });
    await sandbox.executeCommand('mkdir work; echo x >x');
    if (how === 'stopped') await sandbox.stopRuntimeSession();
    else await expect.poll(() => runtime.sessions(), { timeout: 15_000 }).toEqual([]);
    for (const [name, run] of commands) {
      const error = await run(sandbox).catch(thrown => thrown);
      expect(error, name).toBeInstanceOf(AgentCoreError);
      expect([name, error]).toMatchObject([name, replaced]);
      expect(error.message).toContain('make a new sandbox, or stop and start this one');
      expect([error.stdout, error.stderr, JSON.stringify(error)].join('')).not.toContain('mastra-agentcore-session-replaced');
    }
    const plain = new AgentCoreRuntimeSandbox({ ...runtime.sandboxOptions, runtimeSessionId: sandbox.runtimeSessionId });
    expect((await plain.executeCommand('ls -A')).stdout).toBe('');
  });

  it('is told where callbacks hear and nothing is retained; they hear nothing', async () => {
    const runtime = await localRuntime();
    const { sandbox } = guarded(runtime);
    await sandbox.executeCommand('true');
    await sandbox.stopRuntimeSession();
    const heard = vi.fn();
    for (const maxRetainedBytes of [Infinity, 0]) {
      const run = sandbox.executeCommand('echo ran; echo ran >&2', [], { onStdout: heard, onStderr: heard, maxRetainedBytes });
      await expect(run).rejects.toMatchObject(replaced);
    }
    expect(heard).not.toHaveBeenCalled();
  });

  it('is gone for good: a second sandbox meets the fresh one as created', async () => {
    const runtime = await localRuntime();
    const { sandbox } = guarded(runtime);
    await sandbox.executeCommand('true');
    await sandbox.stopRuntimeSession();
    const { sandbox: next } = guarded(runtime, { runtimeSessionId: sandbox.runtimeSessionId });
    expect(await next.start()).toEqual({ outcome: 'created' });
    // The mark is the session's, not the sandbox's: the first one goes on in it.
    expect((await sandbox.executeCommand('echo on')).stdout).toBe('on\n');
  });

  it('is left by a stop and a start', async () => {
    const runtime = await localRuntime();
    const { sandbox, outcomes } = guarded(runtime);
    await sandbox.executeCommand('true');
    await sandbox.stopRuntimeSession();
    await expect(sandbox.executeCommand('true')).rejects.toMatchObject(replaced);
    await sandbox._stop();
    expect((await sandbox.executeCommand('echo on')).stdout).toBe('on\n');
    if (tellsHooks) expect(outcomes()).toEqual(['created', 'created']);
  });

  it('ends what reads a process', async () => {
    const runtime = await localRuntime();
    const { sandbox } = guarded(runtime, { processes: true });
    const handle = await sandbox.processes.spawn('echo begun; sleep 70');
    await expect.poll(() => handle.stdout).toBe('begun\n');
    await sandbox.stopRuntimeSession();
    await expect(handle.wait()).rejects.toMatchObject({ code: expect.stringMatching(/SESSION_REPLACED|PROCESS_FAILED|RuntimeClientError/) });
  });
});

describe('a command’s own', () => {
  it.each([
    ['exit code', 'exit 113', { exitCode: 113, stderr: '' }],
    ['text before its exit code', 'echo out; echo err >&2; exit 113', { exitCode: 113, stdout: 'out\n', stderr: 'err\n' }],
    ['lines that look like it', 'echo mastra-agentcore-session-replaced-x >&2; exit 113', { exitCode: 113, stderr: 'mastra-agentcore-session-replaced-x\n' }],
    ['beginning of one', 'printf mastra-agentcore-session-rep >&2', { exitCode: 0, stderr: 'mastra-agentcore-session-rep' }],
    ['pieces of one', 'for p in m astra- agentcore -x; do printf "%s" $p >&2; sleep 0.05; done', { exitCode: 0, stderr: 'mastra-agentcore-x' }],
  ])('%s is untouched', async (_, command, expected) => {
    const runtime = await localRuntime();
    const { sandbox } = guarded(runtime);
    expect(await sandbox.executeCommand(command)).toMatchObject(expected);
    let heard = '';
    const onStderr = text => void (heard += text);
    const result = await sandbox.executeCommand(command, [], { onStderr, maxRetainedBytes: 0 });
    expect(result).toMatchObject({ exitCode: expected.exitCode, stderr: '' });
    expect(heard).toBe(expected.stderr);
  });

  it('timeouts and aborts are untouched', async () => {
    const runtime = await localRuntime();
    const { sandbox } = guarded(runtime);
    expect(await sandbox.executeCommand('echo m >&2; sleep 71', [], { timeout: 1000 })).toMatchObject({ timedOut: true, stderr: 'm\n' });
    const heard = [];
    const controller = new AbortController();
    const result = await sandbox.executeCommand('printf ma >&2; echo begun; sleep 72', [], {
      abortSignal: controller.signal,
      onStdout: () => setTimeout(() => controller.abort(), 200),
      onStderr: text => void heard.push(text),
    });
    expect(result).toMatchObject({ killed: true, stderr: 'ma' });
    expect(heard.join('')).toBe('ma');
  });
});

describe('what keeps the internal line from callbacks', () => {
  const LINE = 'internal-line-1234';

  async function hear(pieces, lines = [LINE]) {
    const heard = [];
    const sentinels = new Sentinels(lines, text => void heard.push(text));
    for (const piece of pieces) await sentinels.callback(piece);
    const met = await sentinels.met();
    return { heard, met };
  }

  it.each([
    ['the line', [`${LINE}\n`]],
    ['its pieces', ['int', 'ernal-', 'line-1234', '\n']],
    ['its characters', [...`${LINE}\n`]],
  ])('meets %s, which nobody hears', async (_, pieces) => {
    expect(await hear(pieces)).toEqual({ heard: [], met: LINE });
  });

  it('tells two apart', async () => {
    expect(await hear(['internal-other\n'], [LINE, 'internal-other'])).toEqual({ heard: [], met: 'internal-other' });
  });

  it.each([
    ['another text', ['other', ' text'], ['other', ' text']],
    ['what begins like it', ['internal-', 'x', 'y'], ['internal-x', 'y']],
    ['what ends after its beginning', ['internal', '-line'], ['internal-line']],
    ['the line without its end', [LINE], [LINE]],
    ['the line, and more', [`${LINE}\n`, 'more'], [`${LINE}\nmore`]],
    ['the line and more in one', [`${LINE}\nmore`], [`${LINE}\nmore`]],
    ['a longer line', [LINE, '5\n'], [`${LINE}5\n`]],
    ['nothing', [], []],
  ])('delivers %s whole', async (_, pieces, heard) => {
    expect(await hear(pieces)).toEqual({ heard, met: undefined });
  });

  it('meets the line after what a program complained of, too', async () => {
    expect(await hear(['x: Broken pipe\n', `${LINE}\n`])).toEqual({ heard: ['x: Broken pipe\n', `${LINE}\n`], met: LINE });
    expect(await hear([`x: Broken pipe\n${LINE}`, '\n'])).toMatchObject({ met: LINE });
    expect(await hear(['x\n', LINE])).toMatchObject({ met: undefined });
  });

  it('is not there where there is nothing to keep', () => {
    const onStderr = () => {};
    expect(new Sentinels([], onStderr).callback).toBe(onStderr);
    expect(new Sentinels([], undefined).callback).toBeUndefined();
  });

  it('passes on what a callback returns and throws', async () => {
    const thrown = new Error('no more');
    const sentinels = new Sentinels([LINE], text => {
      if (text === 'throw') throw thrown;
      return Promise.resolve('waited for');
    });
    expect(await sentinels.callback('x')).toBe('waited for');
    expect(() => sentinels.callback('throw')).toThrow(thrown);
  });
});

it('with shell: false is refused', async () => {
  const runtime = await localRuntime();
  expect(() => guarded(runtime, { shell: false })).toThrow('requireExistingSession needs a shell');
});
