/** How often a request arrives, counted where it arrives: a command that may have run, once. */
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { ARN, answering, credentials, wireSandbox } from './support/sandboxes.js';
import { exception, httpError, start, stdout, stop, wireServer } from './support/wire.js';

const hello = answering(stdout('hello\n'));
const ran = { success: true, stdout: 'hello\n' };
const refusing = (status, code = 'SomeException') => ({ response }) => httpError(response, status, code, 'the message');

async function outcome(onCommand, options) {
  const { sandbox, server } = await wireSandbox(onCommand, options);
  const result = await sandbox.executeCommand('x').catch(error => error);
  return { result, server };
}

/** A server on a port of its own that is closed again, to be opened when the test says. */
async function closedPort() {
  const { port, endpoint, close } = await wireServer(hello);
  await close();
  const open = async () => {
    const server = await wireServer(hello, { port });
    onTestFinished(() => server.close());
    return server;
  };
  return { endpoint, open };
}

describe('a command arrives once where it is answered with', () => {
  it.each([301, 302, 307, 308, 400, 401, 402, 403, 404, 405, 408, 410, 413, 422, 424, 425, 431, 451, 499, 500, 501, 502, 503, 504, 529])(
    '%d',
    async status => {
      const { result, server } = await outcome(({ response }) => {
        response.setHeader('location', '/elsewhere');
        response.setHeader('retry-after', '0');
        httpError(response, status, 'SomeException', 'the message');
      }, { maxAttempts: 5 });
      expect(result).toMatchObject({ name: 'AgentCoreError', httpStatusCode: status });
      expect(result.mayHaveRun).toBe(status < 400 || status >= 424);
      expect(server.requests).toHaveLength(1);
    },
  );

  it.each(['ThrottlingException', 'RetryableConflictException', 'InternalServerException'])('500 and the name %s', async code => {
    const { result, server } = await outcome(refusing(500, code), { maxAttempts: 5 });
    expect(result).toMatchObject({ code, mayHaveRun: true });
    expect(server.requests).toHaveLength(1);
  });

  it('a throttling that comes in the stream', async () => {
    const { result, server } = await outcome(({ answer }) => answer(start(), exception('throttlingException', 'late')).end(), {
      maxAttempts: 5,
    });
    expect(result).toMatchObject({ code: 'ThrottlingException' });
    expect(server.requests).toHaveLength(1);
  });
});

describe.each([409, 429])('a command that is refused with %d arrives', status => {
  it.each([1, 2, 4])('as often as maxAttempts: %d says, the same each time', async maxAttempts => {
    const { result, server } = await outcome(refusing(status), { maxAttempts });
    expect(result).toMatchObject({ httpStatusCode: status, mayHaveRun: false, retryable: true });
    expect(server.requests).toHaveLength(maxAttempts);
    const said = server.requests.map(({ url, headers, body }) =>
      JSON.stringify([url, body, headers['x-amzn-bedrock-agentcore-runtime-session-id']]),
    );
    expect(new Set(said).size).toBe(1);
  });

  it('no more once it is taken', async () => {
    const { result, server } = await outcome(
      exchange => (exchange.number < 3 ? refusing(status)(exchange) : hello(exchange)),
      { maxAttempts: 5 },
    );
    expect(result).toMatchObject(ran);
    expect(server.requests).toHaveLength(3);
  });

  it('no more once it may have run', async () => {
    const { result, server } = await outcome(
      exchange => (exchange.number < 2 ? refusing(status)(exchange) : exchange.response.socket.destroy()),
      { maxAttempts: 5 },
    );
    expect(result).toMatchObject({ code: 'CONNECTION_LOST', mayHaveRun: true, retryable: false });
    expect(server.requests).toHaveLength(2);
  });

  it('with a token of its own each time', async () => {
    let asked = 0;
    const bearerToken = async () => `token-${(asked += 1)}`;
    const { server } = await outcome(refusing(status), { bearerToken, credentials: undefined });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([1, 2, 3].map(n => `Bearer token-${n}`));
  });
});

describe('a connection', () => {
  it('that is refused until the port opens carries the command once', async () => {
    const { endpoint, open } = await closedPort();
    const sandbox = new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, endpoint, credentials, maxAttempts: 8 });
    const running = sandbox.executeCommand('x');
    await pause(150);
    const server = await open();
    expect(await running).toMatchObject(ran);
    expect(server.requests).toHaveLength(1);
  });

  it('that stays refused is an error that promises that nothing ran', async () => {
    const { endpoint } = await closedPort();
    const sandbox = new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, endpoint, credentials, maxAttempts: 2 });
    await expect(sandbox.executeCommand('x')).rejects.toMatchObject({
      code: 'CONNECTION_REFUSED',
      mayHaveRun: false,
      retryable: true,
    });
  });

  it.each(['end', 'destroy', 'resetAndDestroy'])('that is lost at the request’s first byte is not made again: %s', async lose => {
    let connections = 0;
    const server = createServer(socket => {
      connections += 1;
      socket.on('error', () => {});
      socket.once('data', () => socket[lose]());
    });
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => server.close());
    const endpoint = `http://127.0.0.1:${server.address().port}`;
    const sandbox = new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, endpoint, credentials });
    await expect(sandbox.executeCommand('x')).rejects.toMatchObject({ code: 'CONNECTION_LOST', mayHaveRun: true, retryable: false });
    expect(connections).toBe(1);
  });

  it.each(['destroy', 'resetAndDestroy'])('that is lost after the headers is not made again: %s', async lose => {
    const { result, server } = await outcome(({ answer, response }) => {
      answer(start());
      response.flushHeaders();
      setTimeout(() => response.socket[lose](), 50);
    });
    expect(result).toMatchObject({ code: 'STREAM_BROKEN', mayHaveRun: true, retryable: false });
    expect(server.requests).toHaveLength(1);
  });

  it('that the server has closed since is made anew', async () => {
    const { sandbox, server } = await wireSandbox(({ answer, request }) =>
      answer(start(), stdout('hello\n'), stop(0)).end(() => request.socket.destroySoon()),
    );
    for (let n = 1; n <= 5; n += 1) {
      expect(await sandbox.executeCommand('x')).toMatchObject(ran);
      await pause(50);
      expect(server.requests).toHaveLength(n);
    }
    expect(server.connections()).toBe(5);
  });

  it('that the server closes under the next command never brings it twice', async () => {
    const { sandbox, server } = await wireSandbox(({ answer, request }) =>
      answer(start(), stdout('hello\n'), stop(0)).end(() => setImmediate(() => request.socket.destroy())),
    );
    for (let n = 0; n < 100; n += 1) {
      const before = server.requests.length;
      const result = await sandbox.executeCommand(`true ${n}`).catch(error => error);
      if (!result.success) expect(result).toMatchObject({ mayHaveRun: true, retryable: false });
      expect(server.requests.length - before).toBeLessThanOrEqual(1);
    }
    const texts = server.commands.map(({ command }) => command);
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe('waiting for the next try', () => {
  it('ends with the command’s limit', async () => {
    const { sandbox, server } = await wireSandbox(refusing(429, 'ThrottlingException'), { maxAttempts: 100 });
    const result = await sandbox.executeCommand('x', [], { timeout: 1000 }).catch(error => error);
    expect(result).toMatchObject({ code: 'ThrottlingException', mayHaveRun: false, retryable: true });
    // The shortest pauses are of 100, 200, 400 and 800 ms.
    expect(server.requests.length).toBeGreaterThan(1);
    expect(server.requests.length).toBeLessThanOrEqual(4);
  });

  it('ends with an abort, and nothing more arrives', async () => {
    const controller = new AbortController();
    const { sandbox, server } = await wireSandbox(
      exchange => {
        refusing(429)(exchange);
        if (exchange.number === 3) setTimeout(() => controller.abort(), 50);
      },
      { maxAttempts: 100, killOnAbort: false },
    );
    const started = performance.now();
    const result = await sandbox.executeCommand('x', [], { abortSignal: controller.signal });
    expect(result).toMatchObject({ killed: true, timedOut: false, exitCode: 137, success: false, stdout: '' });
    expect(performance.now() - started).toBeLessThan(10_000);
    await pause(1000);
    expect(server.requests).toHaveLength(3);
  });

  it('for a port to open ends with an abort, and nothing arrives when it opens', async () => {
    const { endpoint, open } = await closedPort();
    const sandbox = new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, endpoint, credentials, maxAttempts: 100 });
    const result = await sandbox.executeCommand('x', [], { abortSignal: AbortSignal.timeout(300) });
    expect(result).toMatchObject({ killed: true, exitCode: 137 });
    const server = await open();
    await pause(1000);
    expect(server.requests).toEqual([]);
  });
});

describe('a stop', () => {
  const stopping = async (onStop, options) => {
    const { sandbox, server } = await wireSandbox(hello, options, { onStop });
    const error = await sandbox.stopRuntimeSession().then(
      () => undefined,
      thrown => thrown,
    );
    return { error, requests: server.requests };
  };

  it.each([400, 401, 402, 403, 424])('arrives once where it is refused with %d', async status => {
    const { error, requests } = await stopping(refusing(status));
    expect(error).toMatchObject({ name: 'AgentCoreError', httpStatusCode: status, mayHaveRun: false });
    expect(requests).toHaveLength(1);
  });

  it.each([409, 429, 500, 502, 503])('arrives as often as maxAttempts says where it is answered with %d', async status => {
    const { error, requests } = await stopping(refusing(status), { maxAttempts: 2 });
    expect(error).toMatchObject({ name: 'AgentCoreError', httpStatusCode: status, mayHaveRun: false, retryable: true });
    expect(requests).toHaveLength(2);
  });

  it.each(['destroy', 'resetAndDestroy'])('whose connection is lost is sent again, by the same token: %s', async lose => {
    let number = 0;
    const { error, requests } = await stopping(({ response }) => {
      number += 1;
      if (number < 3) return response.socket[lose]();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{}');
    });
    expect(error).toBeUndefined();
    expect(requests).toHaveLength(3);
    const tokens = requests.map(({ url, body }) => JSON.stringify([url, body]));
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).toMatch(/clientToken/i);
  });

  it('whose connection stays lost says so, after as many tries as maxAttempts says', async () => {
    const { error, requests } = await stopping(({ response }) => response.socket.destroy(), { maxAttempts: 2 });
    expect(error).toMatchObject({ code: 'CONNECTION_LOST', mayHaveRun: false, retryable: true });
    expect(requests).toHaveLength(2);
  });

  it('of a session that is gone is done', async () => {
    const { error, requests } = await stopping(refusing(404, 'ResourceNotFoundException'));
    expect(error).toBeUndefined();
    expect(requests).toHaveLength(1);
  });
});
