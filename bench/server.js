/**
 * The server of the benchmarks: answers commands from bytes that were rendered before,
 * written in large pieces, so that it is never what is measured. It checks nothing.
 *
 * A command's text says what its answer is: `lines:COUNT:BYTES`, `blocks:COUNT:BYTES` or
 * `tiny`. The first request of each kind renders it; `GET /render/KIND` does so ahead.
 */
import { createServer } from 'node:http';
import { chunk, start, stop } from '../__test__/support/wire.js';

/** One write: large enough that the number of system calls does not matter. */
const WRITE_BYTES = 1024 * 1024;
const rendered = new Map();

function render(kind) {
  let plan = rendered.get(kind);
  if (!plan) {
    plan = kind === 'tiny' ? tiny() : many(...kind.split(':').slice(1).map(Number));
    rendered.set(kind, plan);
  }
  return plan;
}

function tiny() {
  const only = Buffer.concat([start(), chunk({ contentDelta: { stdout: 'ok\n' } }), stop(0)]);
  return { first: only, piece: undefined, times: 0, rest: Buffer.alloc(0) };
}

/** `count` events of `bytes` bytes each, as few distinct bytes as possible. */
function many(count, bytes) {
  const event = chunk({ contentDelta: { stdout: `${'x'.repeat(bytes - 1)}\n` } });
  const perPiece = Math.max(1, Math.min(count, Math.floor(WRITE_BYTES / event.length)));
  const times = Math.floor(count / perPiece);
  const repeat = n => Buffer.concat(Array.from({ length: n }, () => event));
  return {
    first: start(),
    piece: repeat(perPiece),
    times,
    rest: Buffer.concat([repeat(count - times * perPiece), stop(0)]),
  };
}

/** Waits until more can be written, or the client is gone. */
function drained(response) {
  return new Promise(resolve => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    render(decodeURIComponent(request.url.slice('/render/'.length)));
    response.end();
    return;
  }
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const { command } = JSON.parse(Buffer.concat(pieces).toString());
  const { first, piece, times, rest } = render(/(?:lines|blocks):\d+:\d+|tiny/.exec(command)[0]);
  response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
  response.write(first);
  for (let n = 0; n < times && !response.destroyed; n += 1) {
    if (!response.write(piece)) await drained(response);
  }
  response.end(rest);
});
server.on('connection', socket => socket.on('error', () => {}));
server.listen(0, '127.0.0.1', 4096, () => process.send?.({ port: server.address().port }));
process.on('disconnect', () => process.exit());
