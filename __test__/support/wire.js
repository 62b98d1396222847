/**
 * A server that speaks the service's wire protocol by script, faults included: what the
 * local runtime is too honest for. It verifies nothing and runs nothing.
 */
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { crc32 } from 'node:zlib';

/** One event stream frame. Hand-made, so that it can be made wrong. */
export function frame(headers, payload) {
  const names = Object.entries(headers).map(([name, value]) => {
    const [n, v] = [Buffer.from(name), Buffer.from(value)];
    const head = Buffer.alloc(1 + n.length + 3);
    head.writeUInt8(n.length);
    n.copy(head, 1);
    head.writeUInt8(7, 1 + n.length);
    head.writeUInt16BE(v.length, 2 + n.length);
    return Buffer.concat([head, v]);
  });
  const block = Buffer.concat(names);
  const body = Buffer.isBuffer(payload) ? payload : Buffer.from(payload);
  const whole = Buffer.alloc(12 + block.length + body.length + 4);
  whole.writeUInt32BE(whole.length, 0);
  whole.writeUInt32BE(block.length, 4);
  whole.writeUInt32BE(crc32(whole.subarray(0, 8)), 8);
  block.copy(whole, 12);
  body.copy(whole, 12 + block.length);
  whole.writeUInt32BE(crc32(whole.subarray(0, -4)), whole.length - 4);
  return whole;
}

const json = value =>
  typeof value === 'string' || Buffer.isBuffer(value) ? value : JSON.stringify(value);

/** A `chunk` event; a string or buffer is the raw payload. */
export const chunk = value =>
  frame(
    { ':message-type': 'event', ':event-type': 'chunk', ':content-type': 'application/json' },
    json(value),
  );
export const start = () => chunk({ contentStart: {} });
export const stdout = text => chunk({ contentDelta: { stdout: text } });
export const stderr = text => chunk({ contentDelta: { stderr: text } });
export const stop = (exitCode = 0, status = 'COMPLETED') =>
  chunk({ contentStop: { exitCode, status } });
export const exception = (kind, message) =>
  frame(
    {
      ':message-type': 'exception',
      ':exception-type': kind,
      ':content-type': 'application/json',
    },
    JSON.stringify({ message }),
  );
export const wireError = (code, message) =>
  frame({ ':message-type': 'error', ':error-code': code, ':error-message': message }, '');

const SESSION = 'x-amzn-bedrock-agentcore-runtime-session-id';

/**
 * Starts a server on loopback. `onCommand` answers each command; it gets `{ request,
 * response, body, number }` and may do as it likes. `answer` writes a 200 with its frames.
 * With `tls`, Node's options of a TLS server, it speaks HTTPS; `host` is its name in `endpoint`.
 * `onStop` answers stops of sessions, which else succeed.
 *
 * @returns {Promise<{ endpoint: string, port: number, commands: { command: string, timeout: number }[],
 *   requests: { url: string, headers: object, body: any }[], connections: () => number,
 *   close: () => Promise<void> }>}
 */
export async function wireServer(onCommand, { tls, host = '127.0.0.1', port = 0, onStop = stopped } = {}) {
  const commands = [];
  const requests = [];
  let connections = 0;
  const onRequest = async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const body = text ? JSON.parse(text) : {};
    requests.push({ url: request.url, headers: request.headers, body });
    if (request.url.includes('/stopruntimesession')) {
      onStop({ request, response, body });
      return;
    }
    commands.push(body);
    try {
      await onCommand({ request, response, body, number: commands.length, answer: begin(request, response) });
    } catch (error) {
      response.destroy(error);
    }
  };
  const server = tls ? createTlsServer(tls, onRequest) : createServer(onRequest);
  server.on('connection', socket => {
    connections += 1;
    socket.on('error', () => {});
  });
  await new Promise(resolve => server.listen(port, '127.0.0.1', resolve));
  return {
    endpoint: `${tls ? 'https' : 'http'}://${host}:${server.address().port}`,
    port: server.address().port,
    commands,
    requests,
    connections: () => connections,
    close: () =>
      new Promise(resolve => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}

function stopped({ response }) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end('{}');
}

function begin(request, response) {
  return (...frames) => {
    if (!response.headersSent) {
      response.writeHead(200, {
        'content-type': 'application/vnd.amazon.eventstream',
        'x-amzn-requestid': '00000000-1111-2222-3333-444444444444',
        [SESSION]: request.headers[SESSION] ?? '',
      });
    }
    for (const each of frames) response.write(each);
    return response;
  };
}

/** An HTTP error as the service answers it. */
export function httpError(response, status, type, message) {
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-amzn-errortype': type,
    'x-amzn-requestid': '00000000-1111-2222-3333-444444444444',
  });
  response.end(JSON.stringify({ message }));
}
