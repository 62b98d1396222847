/** Everything that can go wrong on the wire: each with the right outcome and the output so far. */
import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { answering, localSandbox, wireSandbox } from './support/sandboxes.js';
import { chunk, exception, frame, httpError, start, stderr, stdout, stop, wireError } from './support/wire.js';

const seen = stdout('seen\n');

async function outcome(onCommand, options) {
  const { sandbox, server } = await wireSandbox(onCommand);
  const result = await sandbox.executeCommand('x', [], options).catch(error => error);
  return Object.assign(result, { requests: server.commands.length });
}

describe('a stream that breaks rejects, once and for all', () => {
  const bad = frame({ ':message-type': 'event', ':event-type': 'chunk' }, '{}');
  bad[bad.length - 1] ^= 1;
  const badPrelude = Buffer.from(start());
  badPrelude[9] ^= 1;
  it.each([
    ['no contentStop', ({ answer }) => answer(start(), seen).end(), 'it ended without contentStop'],
    ['an empty 200', ({ answer }) => answer().end(), 'it is empty'],
    ['cut after a prelude', ({ answer }) => answer(seen, stop().subarray(0, 12)).end(), '12 bytes into a frame'],
    ['cut inside a frame', ({ answer }) => answer(seen, stop().subarray(0, 50)).end(), '50 bytes into a frame'],
    ['a bad checksum', ({ answer }) => answer(seen, bad, stop()).end(), 'the checksum of a frame is wrong'],
    ['a bad prelude', ({ answer }) => answer(seen, badPrelude, stop()).end(), "the checksum of a frame's prelude is wrong"],
    ['no JSON', ({ answer }) => answer(seen, chunk('{"contentDelta":'), stop()).end(), "an event's payload cannot be read"],
    ['no message type', ({ answer }) => answer(seen, frame({ a: 'b' }, '{}'), stop()).end(), 'no :message-type'],
    [
      'cut inside an HTTP chunk',
      ({ answer, response }) => {
        answer(seen);
        setTimeout(() => {
          response.socket.write('ff\r\nhalf');
          response.socket.end();
        }, 50);
      },
      'the connection was lost',
    ],
    [
      'a reset',
      ({ answer, response }) => {
        answer(seen);
        setTimeout(() => response.socket.resetAndDestroy(), 50);
      },
      'the connection was lost',
    ],
    [
      'another content type',
      ({ response }) => {
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end('<p>');
      },
      'its content type is "text/html"',
    ],
  ])('%s', async (name, onCommand, why) => {
    const error = await outcome(onCommand);
    expect(error).toMatchObject({
      name: 'AgentCoreError',
      code: 'STREAM_BROKEN',
      mayHaveRun: true,
      retryable: false,
      requests: 1,
    });
    expect(error.message).toContain(why);
    if (!/empty|content type/.test(name)) expect(error.stdout).toBe('seen\n');
  });
});

describe('exceptions in the stream', () => {
  it.each([
    ['accessDeniedException', 'AccessDeniedException', false, false],
    ['internalServerException', 'InternalServerException', true, true],
    ['resourceNotFoundException', 'ResourceNotFoundException', false, false],
    ['serviceQuotaExceededException', 'ServiceQuotaExceededException', false, false],
    ['throttlingException', 'ThrottlingException', true, false],
    ['validationException', 'ValidationException', false, false],
    ['runtimeClientError', 'RuntimeClientError', false, true],
    ['somethingNewException', 'SomethingNewException', false, true],
  ])('%s', async (kind, name, retryable, mayHaveRun) => {
    const error = await outcome(({ answer }) => answer(start(), seen, exception(kind, 'what happened')).end());
    expect(error).toMatchObject({
      message: `[AgentCoreRuntimeSandbox] ${name}: what happened`,
      code: name,
      retryable,
      mayHaveRun,
      stdout: 'seen\n',
      requests: 1,
    });
  });

  it('of no model', async () => {
    const error = await outcome(({ answer }) => answer(seen, wireError('Odd.Code', 'odd message')).end());
    expect(error).toMatchObject({ code: 'Odd.Code', message: '[AgentCoreRuntimeSandbox] Odd.Code: odd message' });
  });

  it('without a message', async () => {
    const error = await outcome(({ answer }) => answer(frame({ ':message-type': 'exception', ':exception-type': 'throttlingException' }, '')).end());
    expect(error.message).toBe('[AgentCoreRuntimeSandbox] ThrottlingException');
  });
});

describe('what the service may grow is no fault', () => {
  it.each([
    ['unknown events', [frame({ ':message-type': 'event', ':event-type': 'metrics' }, 'x')], 'seen\n'],
    ['unknown members', [chunk({ contentProgress: { percent: 5 }, contentDelta: { stdlog: 'x' } })], 'seen\n'],
    ['null members', [chunk({ contentStart: null, contentDelta: { stdout: null }, contentStop: null })], 'seen\n'],
    ['an empty chunk', [chunk({})], 'seen\n'],
    ['escapes', [chunk('{"contentDelta":{"stdout":"\\u0041\\n\\"\\\\\\/"}}')], 'seen\nA\n"\\/'],
    ['a surrogate pair in two events', [chunk('{"contentDelta":{"stdout":"\\ud83d"}}'), chunk('{"contentDelta":{"stdout":"\\ude00"}}')], 'seen\n😀'],
    ['a lone surrogate', [chunk('{"contentDelta":{"stdout":"a\\ud83db"}}')], 'seen\na\ufffdb'],
    ['bytes that are no UTF-8', [chunk(Buffer.from('7b22636f6e74656e7444656c7461223a7b227374646f7574223a2261ff62227d7d', 'hex'))], 'seen\na\ufffdb'],
    ['NUL', [chunk('{"contentDelta":{"stdout":"a\\u0000b"}}')], 'seen\na\0b'],
  ])('%s', async (_, frames, text) => {
    expect(await outcome(answering(seen, ...frames))).toMatchObject({ success: true, stdout: text });
  });

  it('all members in one chunk', async () => {
    const all = chunk({ contentStop: { exitCode: 3, status: 'COMPLETED' }, contentDelta: { stderr: 'e', stdout: 'o' }, contentStart: {} });
    expect(await outcome(({ answer }) => answer(all).end())).toMatchObject({ exitCode: 3, stdout: 'o', stderr: 'e' });
  });

  it('output after the stop is output, and the first of two stops holds', async () => {
    const late = ({ answer }) => answer(seen, stop(4), stdout('late\n'), stop(0)).end();
    expect(await outcome(late)).toMatchObject({ exitCode: 4, stdout: 'seen\nlate\n' });
  });

  it('a fault after the stop takes nothing back', async () => {
    for (const after of [exception('internalServerException', 'x'), Buffer.from('garbage garbage')]) {
      const late = ({ answer }) => answer(seen, stop(4), after).end();
      expect(await outcome(late)).toMatchObject({ exitCode: 4, stdout: 'seen\n' });
    }
    const open = ({ answer }) => void answer(seen, stop(4));
    expect(await outcome(open)).toMatchObject({ exitCode: 4, stdout: 'seen\n' });
  });

  it.each([
    ['{"status":"COMPLETED"}', { exitCode: 1, success: false }],
    ['{"exitCode":null,"status":"COMPLETED"}', { exitCode: 1, success: false }],
    ['{"exitCode":-1,"status":"COMPLETED"}', { exitCode: -1, success: false }],
    ['{"exitCode":99999999999,"status":"COMPLETED"}', { exitCode: 99_999_999_999, success: false }],
    ['{"exitCode":0,"status":"PAUSED"}', { exitCode: 1, success: false }],
    ['{"exitCode":-1,"status":"TIMED_OUT"}', { exitCode: 124, timedOut: true, killed: true }],
  ])('contentStop %s', async (json, expected) => {
    const onCommand = ({ answer, number }) =>
      answer(number === 1 ? chunk(`{"contentStop":${json}}`) : stop(0)).end();
    expect(await outcome(onCommand)).toMatchObject(expected);
  });

  it('a frame of 16 MB', async () => {
    const text = 'é'.repeat(8 * 1024 * 1024);
    let heard = 0;
    const result = await outcome(answering(stdout(text)), { onStdout: piece => void (heard += piece.length) });
    expect(result.stdout === text).toBe(true);
    expect(heard).toBe(text.length);
  });
});

describe('HTTP errors', () => {
  it.each([
    [400, 'ValidationException', false, false, 1, ''],
    [401, 'UnauthorizedException', false, false, 1, 'bearerToken'],
    [402, 'ServiceQuotaExceededException', false, false, 1, 'quota'],
    [403, 'AccessDeniedException', false, false, 1, 'bedrock-agentcore:InvokeAgentRuntimeCommand'],
    [404, 'ResourceNotFoundException', false, false, 1, 'agentRuntimeArn'],
    [409, 'RetryableConflictException', true, false, 3, 'started or stopped'],
    [424, 'RuntimeClientError', false, true, 1, 'cold start'],
    [429, 'ThrottlingException', true, false, 3, 'too many requests'],
    [500, 'InternalServerException', true, true, 1, 'cold start'],
    [503, 'ServiceUnavailable', true, true, 1, 'may have run'],
  ])('%d %s', async (status, code, retryable, mayHaveRun, requests, advice) => {
    const error = await outcome(({ response }) => httpError(response, status, code, 'the message'));
    expect(error).toMatchObject({
      name: 'AgentCoreError',
      code,
      httpStatusCode: status,
      requestId: '00000000-1111-2222-3333-444444444444',
      retryable,
      mayHaveRun,
      requests,
    });
    expect(error.message).toMatch(new RegExp(`^\\[AgentCoreRuntimeSandbox\\] ${code}: the message`));
    expect(error.message).toContain(advice);
  });

  it('403 authorization method mismatch names bearerToken', async () => {
    const error = await outcome(({ response }) => httpError(response, 403, 'AccessDeniedException', 'Authorization method mismatch'));
    expect(error.message).toContain('JWT authorizer');
  });

  it('a conflict that passes is no error', async () => {
    const result = await outcome(({ response, answer, number }) =>
      number === 1 ? httpError(response, 409, 'RetryableConflictException', 'wait') : answer(seen, stop(0)).end(),
    );
    expect(result).toMatchObject({ success: true, stdout: 'seen\n', requests: 2 });
  });

  it('a connection lost after the request was sent is never tried again', async () => {
    for (const lose of ['destroy', 'resetAndDestroy']) {
      const error = await outcome(({ response }) => response.socket[lose]());
      expect(error).toMatchObject({ code: 'CONNECTION_LOST', mayHaveRun: true, requests: 1 });
    }
  });
});

describe.concurrent('silence', () => {
  const limited = async onCommand => {
    const started = performance.now();
    const result = await outcome(onCommand, { timeout: 1000 });
    return Object.assign(result, { seconds: (performance.now() - started) / 1000 });
  };
  const stalls = [
    ['before the headers', () => {}, ''],
    ['after the headers', ({ response, answer }) => (answer(), response.flushHeaders()), ''],
    ['in the stream', ({ answer, number }) => (number === 1 ? void answer(start(), seen) : answer(stop(0)).end()), 'seen\n'],
  ];
  for (const [where, onCommand, text] of stalls) {
    it(`${where} past the limit and thirty seconds counts as timed out`, { timeout: 60_000 }, async () => {
      const result = await limited(onCommand);
      expect(result).toMatchObject({ exitCode: 124, timedOut: true, success: false, stdout: text });
      expect(result.seconds).toBeGreaterThan(30.5);
      expect(result.seconds).toBeLessThan(40);
    });
  }

  it('of twelve seconds is no stall', { timeout: 60_000 }, async () => {
    const result = await limited(({ answer }) => {
      answer(start(), seen);
      setTimeout(() => answer(stop(0)).end(), 12_000);
    });
    expect(result).toMatchObject({ success: true, stdout: 'seen\n' });
  });

  it('while a callback is slow is not the network’s', { timeout: 60_000 }, async () => {
    const result = await outcome(answering(seen), {
      timeout: 1000,
      onStdout: () => new Promise(resolve => setTimeout(resolve, 33_000)),
    });
    expect(result).toMatchObject({ success: true, timedOut: false });
  });
});

describe('abort', () => {
  it('while the answer is waited for', async () => {
    const result = await outcome(({ number, answer }) => number > 1 && answer(stop(0)).end(), {
      abortSignal: AbortSignal.timeout(50),
    });
    expect(result).toMatchObject({ killed: true, exitCode: 137, success: false, timedOut: false });
  });

  it('after the end changes nothing', async () => {
    const controller = new AbortController();
    const result = await outcome(answering(seen), { abortSignal: controller.signal });
    controller.abort();
    expect(result).toMatchObject({ success: true, killed: false, requests: 1 });
  });

  it('of a signal that fifty commands share leaves no listener and no warning', async () => {
    const warnings = [];
    const warned = warning => warnings.push(warning);
    process.on('warning', warned);
    // Fifty kills at once would make this a test of the machine; the next one has ten.
    const { sandbox } = await localSandbox({ killOnAbort: false });
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 50 }, () => sandbox.executeCommand('true', [], { abortSignal: signal })));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    const controller = new AbortController();
    const running = Array.from({ length: 50 }, () =>
      sandbox.executeCommand('echo begun; sleep 60', [], { abortSignal: controller.signal }),
    );
    setTimeout(() => controller.abort(), 500);
    for (const result of await Promise.all(running)) expect(result.killed).toBe(true);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    await sandbox._destroy();
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });

  it('of ten commands at once kills what all of them started', { timeout: 90_000 }, async () => {
    const { sandbox, runtime } = await localSandbox();
    const controller = new AbortController();
    const running = Array.from({ length: 10 }, () =>
      sandbox.executeCommand('echo begun; sleep 60', [], { abortSignal: controller.signal }),
    );
    setTimeout(() => controller.abort(), 500);
    for (const result of await Promise.all(running)) expect(result.killed).toBe(true);
    await sandbox._destroy();
    expect(runtime.sessions()[0].runningCommands).toBe(0);
  });
});

it('both streams keep their order at any speed', async () => {
  const frames = Array.from({ length: 3000 }, (_, n) => (n % 3 ? stdout(`o${n}\n`) : stderr(`e${n}\n`)));
  let heard = '';
  const hear = text => void (heard += text);
  await outcome(answering(...frames), { onStdout: hear, onStderr: hear });
  expect(heard).toBe(Array.from({ length: 3000 }, (_, n) => `${n % 3 ? 'o' : 'e'}${n}\n`).join(''));
});
