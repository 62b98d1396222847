/**
 * The answers that the server sends, as bytes: event stream frames made by Smithy's own
 * codec, in the pieces of HTTP's chunked encoding. Rendered before anything is measured.
 */
import { EventStreamCodec } from '@smithy/core/event-streams';

/** One write: large enough that the number of system calls does not matter. */
const WRITE_BYTES = 1024 * 1024;
const HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\n' +
    'content-type: application/vnd.amazon.eventstream\r\n' +
    'x-amzn-requestid: 00000000-1111-2222-3333-444444444444\r\n' +
    'transfer-encoding: chunked\r\n\r\n',
);
const END = Buffer.from('0\r\n\r\n');
const NONE = Buffer.alloc(0);

const codec = new EventStreamCodec(
  bytes => Buffer.from(bytes).toString(),
  text => Buffer.from(text),
);

/** A `chunk` event of the service. */
function event(members) {
  const text = value => ({ type: 'string', value });
  const headers = {
    ':message-type': text('event'),
    ':event-type': text('chunk'),
    ':content-type': text('application/json'),
  };
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(members)) }));
}

const start = event({ contentStart: {} });
const stop = event({ contentStop: { exitCode: 0, status: 'COMPLETED' } });

/** One piece of the chunked encoding. */
function piece(...frames) {
  const bytes = Buffer.concat(frames);
  if (bytes.length === 0) return NONE;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

/**
 * Renders the answer that a command asks for with its text: `bench:lines:COUNT:BYTES`,
 * `bench:blocks:COUNT:BYTES` (the same, by another name) or `bench:tiny`.
 *
 * @param {string} command
 * @returns {{ first: Buffer, repeated: Buffer, times: number, last: Buffer }} what is sent:
 *   the same large piece is sent again and again, so that it stays in the processor's caches
 */
export function render(command) {
  const [, count, bytes] = /bench:(?:lines|blocks):(\d+):(\d+)/.exec(command) ?? [command, 1, 3];
  const line = event({ contentDelta: { stdout: `${'x'.repeat(Number(bytes) - 1)}\n` } });
  const perPiece = Math.max(1, Math.min(Number(count), Math.floor(WRITE_BYTES / line.length)));
  const times = Math.floor(Number(count) / perPiece);
  const lines = n => Array.from({ length: n }, () => line);
  const rest = lines(Number(count) - times * perPiece);
  const first = [HEAD, piece(start)];
  const repeated = piece(...lines(perPiece));
  const last = [piece(...rest, stop), END];
  // What is small goes out in one write, as a packet of its own.
  if (times === 1) return { first: Buffer.concat([...first, repeated, ...last]), repeated: NONE, times: 0, last: NONE };
  return { first: Buffer.concat(first), repeated, times, last: Buffer.concat(last) };
}
