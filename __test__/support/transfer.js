/**
 * Writes and reads back a large file, in a Node of its own, so that its memory is nobody else's.
 *
 * `node transfer.js OPTIONS MEGABYTES`: prints one line of JSON.
 */
import { createCipheriv, createHash } from 'node:crypto';
import { Writable } from 'node:stream';
import { AgentCoreRuntimeSandbox } from '../../js/native.js';

const MEGABYTE = 1_000_000;
const sandbox = new AgentCoreRuntimeSandbox(JSON.parse(process.argv[2]));
const megabytes = Number(process.argv[3]);

/** Bytes that nothing compresses, the same each time, made as they are asked for. */
async function* incompressible(size, hash) {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16));
  for (let left = size; left > 0; ) {
    const piece = cipher.update(Buffer.alloc(Math.min(65_536, left)));
    left -= piece.length;
    hash.update(piece);
    yield piece;
  }
}

async function transfer(size) {
  const [sent, received] = [createHash('sha256'), createHash('sha256')];
  let bytes = 0;
  const began = performance.now();
  await sandbox.writeFiles([{ path: 'large', content: incompressible(size, sent) }]);
  const written = performance.now();
  await sandbox.downloadFile(
    'large',
    new Writable({
      write(piece, _, done) {
        bytes += piece.length;
        received.update(piece);
        done();
      },
    }),
  );
  const read = performance.now();
  return {
    equal: bytes === size && sent.digest('hex') === received.digest('hex'),
    writtenPerSecond: (size / MEGABYTE / (written - began)) * 1000,
    readPerSecond: (size / MEGABYTE / (read - written)) * 1000,
  };
}

await transfer(10 * MEGABYTE);
const before = process.memoryUsage.rss();
let most = before;
const sampling = setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
}, 20);
const done = await transfer(megabytes * MEGABYTE);
clearInterval(sampling);
console.log(JSON.stringify({ ...done, growth: (most - before) / 2 ** 20 }));
await sandbox.close();
