/** The option `warmup`: who waits for it, and what ends it. */
import { describe, expect, it, vi } from 'vitest';
import { AgentCoreError } from '../index.js';
import { ended, injectedSandbox, localSandbox } from './support/sandboxes.js';

const cold = { kind: 'status', status: 424, errorType: 'RuntimeClientError', message: 'cold' };
const starting = Object.assign(new Error('cold'), { name: 'RuntimeClientError' });

/** A sandbox whose first `attempts` warm-ups meet a cold start. */
function warming(attempts, options) {
  const { client, sandbox } = injectedSandbox(
    (_, number) => (number <= attempts ? [{ runtimeClientError: starting }] : [ended()]),
    { warmup: true, ...options },
  );
  const sent = () => client.sent.map(({ command }) => command.input.body.command);
  return { client, sandbox, sent };
}

it('runs /bin/true until it is answered, through 409, 424 and 500', async () => {
  const { sandbox, runtime } = await localSandbox({ warmup: true, maxAttempts: 1 });
  runtime.inject(cold);
  runtime.inject({ kind: 'status', status: 500, errorType: 'InternalServerException' });
  runtime.inject({ kind: 'status', status: 409, errorType: 'RetryableConflictException' });
  expect((await sandbox.executeCommand('echo warm')).stdout).toBe('warm\n');
  const { commands, records } = runtime.requests();
  expect(commands).toBe(5);
  expect(records[0].command).toContain('/bin/true');
});

it('belongs to the start, before its hook, and is not repeated', async () => {
  const { sandbox, sent } = warming(0, { onStart: ({ sandbox: self }) => self.executeCommand('hook') });
  await sandbox.start();
  await sandbox.executeCommand('x');
  expect(sent()).toEqual(['/bin/true', 'hook', 'x']);
  expect(sandbox.status).toBe('running');
});

it('is repeated by a start after a stop', async () => {
  const { sandbox, sent } = warming(0);
  await sandbox.executeCommand('x');
  await sandbox._stop();
  await sandbox.executeCommand('y');
  expect(sent()).toEqual(['/bin/true', 'x', '/bin/true', 'y']);
});

it('is one for all who wait', async () => {
  const { sandbox, sent } = warming(1);
  await Promise.all(['a', 'b', 'c'].map(command => sandbox.executeCommand(command)));
  expect(sent()).toEqual(['/bin/true', '/bin/true', 'a', 'b', 'c']);
});

it('fails the start for what is no cold start', async () => {
  const denied = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
  const { client, sandbox } = injectedSandbox([{ accessDeniedException: denied }], { warmup: true });
  await expect(sandbox.executeCommand('x')).rejects.toBeInstanceOf(AgentCoreError);
  expect(client.sent).toHaveLength(1);
  expect(sandbox.status).toBe('error');
});

it('takes no longer than commandTimeout', async () => {
  const { sandbox } = warming(Infinity, { commandTimeout: 700 });
  const began = performance.now();
  await expect(sandbox.executeCommand('x')).rejects.toMatchObject({ code: 'RuntimeClientError' });
  expect(performance.now() - began).toBeLessThan(1_500);
});

it('that the service times out is no answer', async () => {
  const { client, sandbox } = injectedSandbox([ended(-1, 'TIMED_OUT')], { warmup: true });
  await expect(sandbox.start()).rejects.toMatchObject({ code: 'WARMUP_TIMED_OUT', retryable: true });
  expect(client.sent).toHaveLength(1);
});

describe('under abort', () => {
  it('the caller waits no longer, and nothing goes on without it', async () => {
    const { sandbox, sent } = warming(Infinity);
    const result = await sandbox.executeCommand('x', [], { abortSignal: AbortSignal.timeout(50) });
    expect(result).toMatchObject({ killed: true, exitCode: 137, stdout: '' });
    await vi.waitFor(() => expect(sandbox.status).toBe('error'));
    const before = sent().length;
    await new Promise(resolve => setTimeout(resolve, 600));
    expect(sent()).toHaveLength(before);
  });

  it('others that wait are not touched', async () => {
    const { sandbox, sent } = warming(2);
    const [aborted, other] = await Promise.all([
      sandbox.executeCommand('a', [], { abortSignal: AbortSignal.timeout(50) }),
      sandbox.executeCommand('b'),
    ]);
    expect(aborted.killed).toBe(true);
    expect(other.success).toBe(true);
    expect(sent()).toEqual(['/bin/true', '/bin/true', '/bin/true', 'b']);
  });

  it('nor is start()', async () => {
    const { sandbox } = warming(2);
    const started = sandbox.start();
    await sandbox.executeCommand('a', [], { abortSignal: AbortSignal.timeout(50) });
    await started;
    expect(sandbox.status).toBe('running');
  });

  it('who comes just after starts it again', async () => {
    const { sandbox } = warming(1);
    const controller = new AbortController();
    const aborted = sandbox.executeCommand('a', [], { abortSignal: controller.signal });
    await new Promise(resolve => setTimeout(resolve, 50));
    controller.abort();
    await Promise.resolve();
    const next = sandbox.executeCommand('b');
    expect((await aborted).killed).toBe(true);
    expect((await next).success).toBe(true);
  });
});

it('stop and destroy do not wait for it; what waited ends as if aborted', { timeout: 10_000 }, async () => {
  for (const method of ['_stop', '_destroy']) {
    const { sandbox, sent } = warming(Infinity);
    const waiting = sandbox.executeCommand('x');
    await vi.waitFor(() => expect(sent()).not.toHaveLength(0));
    await sandbox[method]();
    expect(await waiting).toMatchObject({ killed: true, exitCode: 137 });
    expect(sent()).not.toContain('x');
  }
});
