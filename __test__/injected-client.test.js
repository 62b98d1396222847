/** An injected AWS SDK client: what it is sent, and what comes of what it answers. */
import { describe, expect, it, vi } from 'vitest';
import {
  InvokeAgentRuntimeCommandCommand,
  StopRuntimeSessionCommand,
} from '@aws-sdk/client-bedrock-agentcore';
import { ARN, SESSION, ended, err, injectedSandbox, out } from './support/sandboxes.js';

const sentText = client => client.sent[0].command.input.body.command;

describe('what is sent', () => {
  it('is exactly this input, and the caller’s own signal', async () => {
    const { client, sandbox } = injectedSandbox([ended()]);
    const { signal } = new AbortController();
    await sandbox.executeCommand('npm', ['test'], {
      cwd: '/workspace/app',
      env: { NODE_ENV: 'test' },
      abortSignal: signal,
    });
    expect(client.sent).toHaveLength(1);
    const [{ command, options }] = client.sent;
    expect(command).toBeInstanceOf(InvokeAgentRuntimeCommandCommand);
    expect(Object.keys(command.input)).toContain('qualifier');
    expect(command.input).toStrictEqual({
      agentRuntimeArn: ARN,
      runtimeSessionId: SESSION,
      qualifier: undefined,
      contentType: 'application/json',
      accept: 'application/vnd.amazon.eventstream',
      body: { command: 'cd /workspace/app && NODE_ENV=test npm test', timeout: 300 },
    });
    expect(options.abortSignal).toBe(signal);
  });

  it('carries the options qualifier, contentType, accept and commandTimeout', async () => {
    const { client, sandbox } = injectedSandbox([ended()], {
      qualifier: 'prod',
      contentType: 'application/x',
      accept: 'application/y',
      commandTimeout: 1500,
    });
    await sandbox.executeCommand('true');
    expect(client.sent[0].command.input).toMatchObject({
      qualifier: 'prod',
      contentType: 'application/x',
      accept: 'application/y',
      body: { timeout: 2 },
    });
  });

  it.each([
    [undefined, undefined, undefined, 'pwd'],
    ['/srv/app', undefined, undefined, 'cd /srv/app && pwd'],
    ['/srv/app', '/tmp', undefined, 'cd /tmp && pwd'],
    ['/srv/app', '', undefined, 'cd /srv/app && pwd'],
    [undefined, '/my dir', { A: 'b c', B: undefined, C: '' }, "cd '/my dir' && A='b c' C='' pwd"],
  ])('workingDirectory %j, cwd %j, env %j: %s', async (workingDirectory, cwd, env, text) => {
    const { client, sandbox } = injectedSandbox([ended()], { workingDirectory });
    const result = await sandbox.executeCommand('pwd', [], { cwd, env });
    expect(sentText(client)).toBe(text);
    expect(result.command).toBe(text);
  });

  it('quotes arguments as the original does', async () => {
    const { client, sandbox } = injectedSandbox([ended()]);
    const args = ["it's", '$HOME', '', 'a.b_c-d/e=f:g@h', 'é'];
    const result = await sandbox.executeCommand('echo', args);
    expect(sentText(client)).toBe(`echo 'it'\\''s' '$HOME' '' a.b_c-d/e=f:g@h 'é'`);
    expect(result.args).toBe(args);
  });

  it('lays per-command variables over those of setEnv, in order', async () => {
    const { client, sandbox } = injectedSandbox([ended()], { env: { A: '1', B: '2' } });
    sandbox.setEnv(env => ({ ...env, GH_TOKEN: 'tok_1' }));
    await sandbox.executeCommand('x', [], { env: { B: '3' } });
    expect(sentText(client)).toBe('A=1 B=3 GH_TOKEN=tok_1 x');
  });

  it('takes a variable of setEnv away with undefined', async () => {
    const { client, sandbox } = injectedSandbox([ended()], { env: { A: '1', B: '2' } });
    await sandbox.executeCommand('x', [], { env: { A: undefined } });
    expect(sentText(client)).toBe('B=2 x');
  });

  it('loses no variable to a name that JavaScript has a use for', async () => {
    const { client, sandbox } = injectedSandbox([ended()]);
    await sandbox.executeCommand('x', [], { env: JSON.parse('{"__proto__":"1","constructor":"2"}') });
    expect(sentText(client)).toBe('__proto__=1 constructor=2 x');
  });

  it('sends a stop with exactly this input, and never destroys the client', async () => {
    const { client, sandbox } = injectedSandbox([], { stopClientToken: 'token-of-the-caller' });
    await sandbox.stopRuntimeSession();
    const [{ command }] = client.sent;
    expect(command).toBeInstanceOf(StopRuntimeSessionCommand);
    expect(command.input).toStrictEqual({
      agentRuntimeArn: ARN,
      runtimeSessionId: SESSION,
      qualifier: undefined,
      clientToken: 'token-of-the-caller',
    });
    await sandbox._start();
    await sandbox._destroy();
    expect(client.destroyed).toBe(0);
  });
});

describe('the result', () => {
  it('has these fields', async () => {
    const { sandbox } = injectedSandbox([out('hello\n'), err('oops\n'), ended(3)]);
    const result = await sandbox.executeCommand('x', ['y']);
    expect(result).toStrictEqual({
      command: 'x y',
      args: ['y'],
      success: false,
      exitCode: 3,
      stdout: 'hello\n',
      stderr: 'oops\n',
      executionTimeMs: expect.any(Number),
      timedOut: false,
      killed: false,
      stdoutTruncated: false,
      stderrTruncated: false,
      stdoutDroppedBytes: 0,
      stderrDroppedBytes: 0,
    });
  });

  it.each([
    [{ exitCode: 0, status: 'COMPLETED' }, { exitCode: 0, success: true, timedOut: false }],
    [{ exitCode: 124, status: 'COMPLETED' }, { exitCode: 124, timedOut: false, killed: false }],
    [{ exitCode: 137, status: 'COMPLETED' }, { exitCode: 137, timedOut: false, killed: false }],
    [{ status: 'COMPLETED' }, { exitCode: 1, success: false }],
    [{ exitCode: 0, status: 'TIMED_OUT' }, { exitCode: 124, success: false, timedOut: true }],
    [{ exitCode: -1, status: 'TIMED_OUT' }, { exitCode: 124, timedOut: true, killed: true }],
    [{ status: 'TIMED_OUT' }, { exitCode: 124, timedOut: true }],
    [{ exitCode: 0, status: 'EVAPORATED' }, { exitCode: 1, success: false, timedOut: false }],
    [{ exitCode: 9, status: 'EVAPORATED' }, { exitCode: 9, success: false }],
    [{ exitCode: 0 }, { exitCode: 1, success: false }],
    [{ exitCode: 4_294_967_299, status: 'COMPLETED' }, { exitCode: 4_294_967_299 }],
  ])('of %j is %j', async (contentStop, expected) => {
    const { sandbox } = injectedSandbox([{ chunk: { contentStop } }]);
    expect(await sandbox.executeCommand('x')).toMatchObject(expected);
  });

  it('puts stdout before stderr within one event, and all members of one event in order', async () => {
    const seen = [];
    const { sandbox } = injectedSandbox([
      {
        chunk: {
          contentStop: { exitCode: 0, status: 'COMPLETED' },
          contentDelta: { stderr: 'e', stdout: 'o' },
          contentStart: {},
        },
      },
    ]);
    const result = await sandbox.executeCommand('x', [], {
      onStderr: text => void seen.push(['err', text]),
      onStdout: text => void seen.push(['out', text]),
    });
    expect(seen).toEqual([
      ['out', 'o'],
      ['err', 'e'],
    ]);
    expect(result.success).toBe(true);
  });

  it('retains the newest bytes and counts the dropped ones', async () => {
    const { sandbox } = injectedSandbox([out('aé'), out('b😀'), ended()]);
    const of = async maxRetainedBytes =>
      sandbox.executeCommand('x', [], { maxRetainedBytes }).then(
        ({ stdout, stdoutTruncated, stdoutDroppedBytes }) => [stdout, stdoutTruncated, stdoutDroppedBytes],
      );
    expect(await of(Infinity)).toEqual(['aéb😀', false, 0]);
    expect(await of(8)).toEqual(['aéb😀', false, 0]);
    expect(await of(5)).toEqual(['b😀', true, 3]);
    expect(await of(6)).toEqual(['b😀', true, 3]);
    expect(await of(3)).toEqual(['', true, 8]);
    expect(await of(0)).toEqual(['', true, 8]);
  });

  it('joins a surrogate pair that two events share; a lone one costs one character', async () => {
    const { sandbox } = injectedSandbox([out('a\ud83d'), out('\ude00b\ud83d'), out('c'), ended()]);
    expect((await sandbox.executeCommand('x')).stdout).toBe('a😀b\ufffdc');
  });
});

describe('callbacks', () => {
  it('get one event each, in order, all before the promise settles', async () => {
    const seen = [];
    const { sandbox } = injectedSandbox([out('1'), out('2'), err('3'), out('4'), ended()]);
    await sandbox.executeCommand('x', [], {
      onStdout: text => void seen.push(text),
      onStderr: text => void seen.push(text),
    });
    expect(seen).toEqual(['1', '2', '3', '4']);
  });

  it('reject with the very error they throw, and end the command', async () => {
    const thrown = new Error('no more');
    const { sandbox } = injectedSandbox([out('1'), out('2'), ended()]);
    const onStdout = vi.fn(() => {
      throw thrown;
    });
    await expect(sandbox.executeCommand('x', [], { onStdout })).rejects.toBe(thrown);
    expect(onStdout).toHaveBeenCalledTimes(1);
  });

  it('may return promises: the next piece waits, and a rejection is the command’s', async () => {
    const seen = [];
    const { sandbox } = injectedSandbox([out('1'), err('2'), ended()]);
    const slowly = text => new Promise(resolve => setTimeout(resolve, 20)).then(() => seen.push(text));
    await sandbox.executeCommand('x', [], { onStdout: slowly, onStderr: slowly });
    expect(seen).toEqual(['1', '2']);
    const rejection = new Error('rejected');
    await expect(
      sandbox.executeCommand('x', [], { onStdout: () => Promise.reject(rejection) }),
    ).rejects.toBe(rejection);
  });
});

describe('errors of the stream', () => {
  it.each([
    ['accessDeniedException', 'AccessDeniedException'],
    ['internalServerException', 'InternalServerException'],
    ['resourceNotFoundException', 'ResourceNotFoundException'],
    ['serviceQuotaExceededException', 'ServiceQuotaExceededException'],
    ['throttlingException', 'ThrottlingException'],
    ['validationException', 'ValidationException'],
    ['runtimeClientError', 'RuntimeClientError'],
  ])('%s', async (member, name) => {
    const cause = Object.assign(new Error('what happened'), { name });
    const { sandbox } = injectedSandbox([out('seen\n'), { [member]: cause }]);
    await expect(sandbox.executeCommand('x')).rejects.toMatchObject({
      name: 'AgentCoreError',
      message: `[AgentCoreRuntimeSandbox] ${name}: what happened`,
      code: name,
      stdout: 'seen\n',
    });
  });

  it.each([
    [{ throttlingException: { message: 'slow down' } }, 'throttlingException: slow down'],
    [{ throttlingException: {} }, 'throttlingException'],
    [{ $unknown: ['newThing', { message: 'm' }] }, 'newThing: m'],
    [{ $unknown: ['newThing', 7] }, 'newThing: 7'],
  ])('%j reads %s', async (event, text) => {
    const { sandbox } = injectedSandbox([event]);
    await expect(sandbox.executeCommand('x')).rejects.toThrow(
      new RegExp(`^\\[AgentCoreRuntimeSandbox\\] ${text}$`),
    );
  });

  it('that ends without contentStop is no exit code', async () => {
    const { sandbox } = injectedSandbox([out('half')]);
    await expect(sandbox.executeCommand('x')).rejects.toMatchObject({
      code: 'STREAM_BROKEN',
      mayHaveRun: true,
      stdout: 'half',
    });
  });

  it('keeps what the client threw as the cause', async () => {
    const { client, sandbox } = injectedSandbox([]);
    const cause = new Error('socket hang up');
    client.send = () => Promise.reject(cause);
    await expect(sandbox.executeCommand('x')).rejects.toMatchObject({
      message: '[AgentCoreRuntimeSandbox] Error: socket hang up',
      cause,
    });
  });
});

describe('abort', () => {
  it('before anything was sent gives a result and sends nothing', async () => {
    const { client, sandbox } = injectedSandbox([ended()]);
    const result = await sandbox.executeCommand('x', [], { abortSignal: AbortSignal.abort() });
    expect(result).toMatchObject({ success: false, killed: true, timedOut: false, exitCode: 137, stdout: '' });
    expect(client.sent).toHaveLength(0);
  });

  it('gives what the callbacks saw, at once', async () => {
    const never = new Promise(() => {});
    const { sandbox } = injectedSandbox(() => [out('seen\n'), never]);
    const controller = new AbortController();
    const result = await sandbox.executeCommand('x', [], {
      abortSignal: controller.signal,
      onStdout: () => controller.abort(),
    });
    expect(result).toMatchObject({ killed: true, exitCode: 137, stdout: 'seen\n' });
  });

  it('is not held back by a callback that waits', async () => {
    const never = new Promise(() => {});
    const { sandbox } = injectedSandbox(() => [out('seen'), out('unseen'), never]);
    const controller = new AbortController();
    const result = await sandbox.executeCommand('x', [], {
      abortSignal: controller.signal,
      onStdout: () => {
        setTimeout(() => controller.abort(), 20);
        return never;
      },
    });
    expect(result.stdout).toBe('seen');
  });
});
