/**
 * The server of the benchmarks, a process of its own: answers each command with bytes that
 * were rendered before (frames.js), in large writes, under backpressure. It reads no more
 * of HTTP than it must and checks nothing, so that it is never what is measured.
 *
 * Its parent sends it the text of a command to have the answer rendered ahead.
 */
import { createServer } from 'node:net';
import { render } from './frames.js';

const rendered = new Map();

function answerTo(command) {
  const answer = rendered.get(command) ?? render(command);
  rendered.set(command, answer);
  return answer;
}

async function send(socket, { first, repeated, times, last }) {
  socket.write(first);
  for (let n = 0; n < times && !socket.destroyed; n += 1) {
    if (!socket.write(repeated)) await drained(socket);
  }
  if (last.length > 0) socket.write(last);
}

/** Waits until more may be written, or nothing ever will be. */
function drained(socket) {
  return new Promise(resolve => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}

const server = createServer({ noDelay: true }, socket => {
  let received = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', bytes => {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
    const head = received.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received.latin1Slice(0, head))[1]);
    if (received.length < head + 4 + length) return;
    const { command } = JSON.parse(received.utf8Slice(head + 4, head + 4 + length));
    // Clients do not pipeline: nothing of a next request can have come.
    received = Buffer.alloc(0);
    send(socket, answerTo(command)).catch(() => socket.destroy());
  });
});

process.on('message', command => {
  answerTo(command);
  process.send({ rendered: command });
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', 4096, () => process.send({ port: server.address().port }));
