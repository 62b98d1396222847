/**
 * Files to and from a session: in chunks that a command can carry, each safe to send again, and
 * whole or not at all. A small file is one of many in a command; a large one is put together beside
 * its place, checked, and moved there.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { Readable, pipeline } from 'node:stream';
import { createGunzip, createGzip, gzipSync } from 'node:zlib';
import { mayRepeat, pauseBefore } from './engine.js';
import { LineSplitter, toolsOf } from './tools.js';
import { temporary, word } from './words.js';

/** Files up to this size share commands. */
const SMALL = 24_000;
/** So much of a command's text is for files: the rest is the script, and what quoting adds. */
const BATCH = 56_000;
/** Commands at a time. */
const PARALLEL = 8;
/** Longer than this, a compressible file is compressed on its way. */
const COMPRESS_FROM = 128 * 1024;
const READ_SECONDS = 3_600;
/** So long destroy() waits for what must not be left half. */
const LAST_SECONDS = 30;

/** Defines locate: $f where the file $1 is, $t beside it; and put: stdin becomes the file $1 with mode $2, if it has $3 bytes. */
const PUT = `locate() {
  f=$1
  case $f in */) echo it is a directory >&2; exit 65 ;; esac
  [ -d "$f" ] && { echo it is a directory >&2; exit 65; }
  if [ -L "$f" ]; then target=$(readlink -f "$f") && f=$target; fi
  t=$f.$2
}
parent() {
  d=\${f%/*}
  [ "$d" = "$f" ] && d=.
  [ -d "\${d:-/}" ] || mkdir -p "\${d:-/}" || exit 65
}
put() {
  locate "$1" $id
  parent
  (umask 077; cat >"$t") || { rm -f "$t"; exit 65; }
  [ "$(wc -c <"$t")" -eq $3 ] || { rm -f "$t"; echo not all of it could be written >&2; exit 65; }
  chmod $2 "$t" && mv -f "$t" "$f" || { rm -f "$t"; exit 65; }
  echo done
}
`;

/** @type {WeakMap<object, Files>} */
const instances = new WeakMap();

/**
 * @typedef {object} FileInput
 * @property {string | { temporary: string }} path
 * @property {string | Uint8Array | AsyncIterable<Uint8Array | string>} content
 * @property {number} [mode]
 *
 * @typedef {object} TransferOptions
 * @property {AbortSignal} [signal]
 * @property {boolean} [toItsEnd] settles when nothing of it goes on in the session, even after
 *   stop() or destroy()
 * @property {(progress: { path: string, bytes: number, done: boolean }) => void} [onProgress]
 */

/** What a transfer rejects with after an abort. */
export class TransferAborted extends Error {
  name = 'AbortError';
}

export class Files {
  #engine;

  /** @param {import('./engine.js').Engine} engine */
  constructor(engine) {
    this.#engine = engine;
  }

  /** @param {import('./engine.js').Engine} engine */
  static of(engine) {
    let files = instances.get(engine);
    if (!files) {
      files = new Files(engine);
      instances.set(engine, files);
    }
    return files;
  }

  /**
   * Writes files; those before one that fails stay.
   *
   * @param {FileInput[]} files
   * @param {TransferOptions} [given]
   */
  async write(files, given = {}) {
    checkAborted(given.signal);
    for (const { path, content } of files) checkContent(nameOf(path), content);
    const { signal, release } = this.#engine.until(given.signal);
    // destroy() waits for it, and with it for what it cleans up.
    const writing = this.#write(files, { ...given, signal }).finally(release);
    this.#engine.behind(writing);
    await writing;
  }

  async #write(files, options) {
    const tools = await toolsOf(this.#engine);
    tools.need('writing files', 'cat', 'chmod', 'dd', 'ln', 'mkdir', 'mv', 'rm', 'wc');
    const small = [];
    const tasks = [];
    for (const file of files) {
      const content = typeof file.content === 'string' ? Buffer.from(file.content) : file.content;
      const item = { ...file, content, mode: (file.mode ?? 0o644).toString(8), name: nameOf(file.path) };
      if (content instanceof Uint8Array && content.length <= SMALL) small.push(item);
      else tasks.push(() => this.#large(item, tools, options));
    }
    for (const batch of batches(small, tools)) tasks.push(() => this.#batch(batch, tools, options));
    await parallel(tasks, PARALLEL / 2);
  }

  /** Many small files in one command; halved where that is too long. */
  async #batch(files, tools, options) {
    checkAborted(options.signal);
    const id = `mastra-${randomUUID()}`;
    const lines = files.map(
      ({ path, content, mode }) => `${tools.print(asBuffer(content))} | put ${place(path)} ${mode} ${content.length} || exit`,
    );
    let done;
    try {
      // Sent again after a lost answer, it does not meet the first one's files.
      const script = `id=${id}.$$\n${PUT}${lines.join('\n')}`;
      done = options.toItsEnd
        ? await this.#run(script, undefined, LAST_SECONDS, true)
        : await this.#run(script, options.signal);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      if (files.length === 1) return this.#large(files[0], tools, options);
      const half = Math.ceil(files.length / 2);
      await this.#batch(files.slice(0, half), tools, options);
      await this.#batch(files.slice(half), tools, options);
      return;
    }
    const count = done.stdout.split('\n').filter(line => line === 'done').length;
    for (const { name, content } of files.slice(0, count)) {
      options.onProgress?.({ path: name, bytes: content.length, done: true });
    }
    if (count < files.length) throw this.#failed('written', files[count].name, done);
  }

  /** One large file, or one whose size is not known. */
  async #large(file, tools, options) {
    const { signal } = options;
    const id = `mastra-${randomUUID()}`;
    // A chunk that comes late finds no directory, and makes no file.
    const directory = temporary(`.mastra-agentcore-${id}`);
    const link = temporary(`.mastra-agentcore-${id}/file`);
    const gone = temporary(`.mastra-agentcore-${id}.gone`);
    // At once: a chunk that comes between would fill it again.
    const remove = `mv ${directory} ${gone} 2>/dev/null\nrm -rf ${gone}`;
    const locate = `${PUT}locate ${place(file.path)} ${id}\ncase $t in /*) ;; *) t=$PWD/$t ;; esac\n`;
    /** @type {Promise<unknown>} */
    let opening = Promise.resolve();
    const source = sourceOf(file.content, next => this.#untilAborted(next, signal));
    try {
      await source.look(tools);
      // Not ended by anything: what it makes must be there to be removed.
      const open = this.#run(
        `${locate}parent\n(umask 077; : >>"$t" && mkdir -p ${directory}) && ln -sf "$t" ${link} || exit 65`,
        undefined,
        LAST_SECONDS,
        true,
      );
      opening = open;
      const opened = await this.#untilAborted(open, signal);
      if (opened.exitCode !== 0) throw this.#failed('written', file.name, opened);
      await this.#chunks(file.name, source, link, tools, options);
      const { hash, size } = source.facts();
      const sum = tools.has('sha256sum')
        ? ` && sum=$(sha256sum <"$1") && [ "\${sum%% *}" = ${hash} ]`
        : '';
      const finished = await this.#run(
        // Sent again, also while the first one is at work, it ends with the same file.
        `${locate}whole() { [ -e "$1" ] && [ "$(wc -c <"$1")" -eq ${size} ]${sum}; }
n=$t
${source.compressed ? 'n=$t.$$\n[ -e "$t" ] && (umask 077; gzip -dc <"$t" >"$n")' : ':'}
whole "$n" && chmod ${file.mode} "$n" && mv -f "$n" "$f"
done=$?
${remove}
rm -f "$t" "$n"
[ $done -eq 0 ] || whole "$f" || { echo not all of it could be written >&2; exit 65; }`,
        signal,
        600,
      );
      if (finished.exitCode !== 0) throw this.#failed('written', file.name, finished);
      options.onProgress?.({ path: file.name, bytes: size, done: true });
    } catch (error) {
      source.close();
      const script = `${remove}\n${locate}rm -f "$t" "$t".*`;
      const cleanUp = () => this.#engine.script(script, { idempotent: true, toItsEnd: true, timeoutSeconds: LAST_SECONDS });
      const cleaning = opening.then(cleanUp, cleanUp);
      this.#engine.behind(cleaning);
      if (options.toItsEnd) await cleaning.catch(ignore);
      throw error;
    }
  }

  /** Sends what `source` gives, several chunks at a time, each to its own place. */
  async #chunks(name, source, link, tools, { signal, onProgress }) {
    const size = tools.chunk;
    let sent = 0;
    const running = new Set();
    /** @type {unknown} */
    let failure;
    let index = 0;
    for await (const chunk of chunksOf(source.bytes, size)) {
      const at = index++;
      const script = `${tools.print(chunk)} | dd of=${link} bs=${size} seek=${at} conv=notrunc`;
      const task = this.#run(script, signal)
        .then(done => {
          // The first line is the failure, others are counts.
          const [stderr] = done.stderr.split('\n', 1);
          if (done.exitCode !== 0) throw this.#failed('written', name, { ...done, stderr });
          sent += chunk.length;
          onProgress?.({ path: name, bytes: sent, done: false });
        })
        .catch(error => {
          failure ??= error;
        })
        .finally(() => running.delete(task));
      running.add(task);
      if (running.size >= PARALLEL) await Promise.race(running);
      // Before the source is asked for more, which may take for ever.
      if (failure) break;
    }
    await Promise.all(running);
    if (failure) throw failure;
  }

  /**
   * A file's bytes.
   *
   * @param {string} path
   * @param {TransferOptions} [options]
   */
  async read(path, options = {}) {
    const pieces = [];
    await this.#receive(path, options, piece => void pieces.push(piece));
    return Buffer.concat(pieces);
  }

  /**
   * A file's bytes into a file here, or a stream.
   *
   * @param {string} path
   * @param {string | import('node:stream').Writable} destination
   * @param {TransferOptions} [options]
   */
  async download(path, destination, options = {}) {
    if (typeof destination !== 'string') {
      // What it fails with is what a write rejects with; unheard, it would end the process.
      destination.on('error', ignore);
      await this.#receive(path, options, piece => written(destination, piece));
      destination.off('error', ignore);
      return;
    }
    // Whole or not at all here, too.
    const part = `${destination}.${randomUUID()}.part`;
    const stream = createWriteStream(part, { flags: 'wx' });
    stream.on('error', ignore);
    try {
      await once(stream, 'open');
      await this.#receive(path, options, piece => written(stream, piece));
      stream.end();
      await once(stream, 'close');
      await rename(part, destination);
    } catch (error) {
      stream.destroy();
      await rm(part, { force: true });
      throw error;
    }
  }

  /**
   * Reads a file; where the answer breaks off, from there on.
   *
   * @param {string} path
   * @param {TransferOptions} options
   * @param {(piece: Buffer) => unknown} sink
   */
  async #receive(path, options, sink) {
    checkAborted(options.signal);
    const { signal, release } = this.#engine.until(options.signal);
    await this.#receiveUntil(signal, path, options, sink).finally(release);
  }

  async #receiveUntil(signal, path, options, sink) {
    const { onProgress } = options;
    const tools = await toolsOf(this.#engine);
    tools.need('reading files', 'cat', 'dd', 'tail', 'wc', tools.encoder.split(' ', 1)[0]);
    const hash = createHash('sha256');
    let received = 0;
    const reader = new Reader(tools, async piece => {
      hash.update(piece);
      received += piece.length;
      await sink(piece);
      onProgress?.({ path, bytes: received, done: false });
    });
    for (let attempt = 1; ; attempt += 1) {
      const before = reader.position;
      try {
        const done = await this.#engine.script(reader.script(place(path)), {
          signal,
          timeoutSeconds: READ_SECONDS,
          maxRetainedBytes: 4_096,
          killable: true,
          onStdout: text => reader.push(text),
        });
        if (done.killed && !done.timedOut) throw new TransferAborted(`reading ${path} was aborted`);
        if (done.exitCode !== 0) throw this.#failed('read', path, done);
        break;
      } catch (error) {
        reader.brokeOff();
        if (isUnzipping(error)) throw this.#changed(path);
        attempt = reader.position > before ? 0 : attempt;
        if (!mayRepeat(error) || attempt >= 5) throw error;
        await pauseBefore(attempt, signal);
      }
    }
    await reader.finish().catch(error => {
      throw isUnzipping(error) ? this.#changed(path) : error;
    });
    const wrong = received !== reader.size || (reader.sum && reader.sum !== hash.digest('hex'));
    if (wrong) throw this.#changed(path);
    onProgress?.({ path, bytes: received, done: true });
  }

  /** Rejects when the signal, stop() or destroy() comes first. */
  async #untilAborted(promise, signal) {
    const settled = await this.#engine.untilAborted(promise, signal);
    if (settled === undefined) throw new TransferAborted('the transfer was aborted');
    return settled;
  }

  #changed(path) {
    return this.#failed('read', path, { stderr: 'it changed while it was read, or was damaged on its way', exitCode: 0 });
  }

  async #run(script, signal, timeoutSeconds = 120, toItsEnd = false) {
    const done = await this.#engine.script(script, { signal, idempotent: true, timeoutSeconds, toItsEnd });
    if (done.killed && !done.timedOut) throw new TransferAborted('the transfer was aborted');
    return done;
  }

  /**
   * @param {string} verb
   * @param {string} name
   * @param {{ stderr: string, exitCode: number, timedOut?: boolean }} done
   */
  #failed(verb, name, { stderr, exitCode, timedOut }) {
    const why = stderr.trim() || (timedOut ? 'the session took too long' : `exit code ${exitCode}`);
    return this.#engine.failure({
      name: 'FileError',
      code: 'FILE_FAILED',
      message: `${name} cannot be ${verb}: ${why} (check the path, its rights and the disk; a file that could not be written whole was not replaced)`,
      retryable: false,
      mayHaveRun: true,
    });
  }
}

/** Makes bytes of the lines that the session prints of a file. */
class Reader {
  /** Bytes seen of what the session encodes. */
  position = 0;
  size = -1;
  sum = '';
  #tools;
  #sink;
  #lines;
  #gunzip;
  #unzipping;
  #pending = Promise.resolve();

  constructor(tools, sink) {
    this.#tools = tools;
    this.#sink = sink;
    this.#lines = new LineSplitter(line => this.#line(line));
  }

  /** @param {string} file a word */
  script(file) {
    const { encoder } = this.#tools;
    // Judged by its beginning, and the same way after a break.
    const zip = this.#tools.has('gzip')
      ? `[ $size -gt ${COMPRESS_FROM} ] && [ "$(dd if="$f" bs=65536 count=1 2>/dev/null | gzip -1 -c | wc -c)" -lt 48000 ] && zip=1`
      : ':';
    const sum = this.#tools.has('sha256sum') ? `sum=$(sha256sum <"$f") || exit 65\necho "sum $sum"` : ':';
    const from = this.position + 1;
    return `f=${file}
[ -d "$f" ] && { echo it is a directory >&2; exit 65; }
[ -r "$f" ] || { cat "$f" >/dev/null; exit 65; }
size=$(wc -c <"$f") || exit 65
zip=
${zip}
echo "size" $size $zip
if [ "$zip" ]; then gzip -1 -c <"$f" | tail -c +${from} | ${encoder}; else tail -c +${from} "$f" | ${encoder}; fi
echo
${sum}`;
  }

  /** @param {string} text */
  push(text) {
    this.#lines.push(text);
    return this.#pending;
  }

  brokeOff() {
    this.#lines.reset();
  }

  #line(line) {
    if (line.startsWith('size ')) {
      const [, size, zip] = line.split(' ');
      this.size = Number(size);
      if (zip) this.#gunzip ??= this.#unzip();
      return;
    }
    if (line.startsWith('sum ')) {
      this.sum = line.split(' ')[1];
      return;
    }
    if (line === '') return;
    const bytes = this.#tools.decode(line);
    this.position += bytes.length;
    this.#pending = this.#pending.then(() =>
      // What ends the unzipping, such as a failing destination, ends this.
      this.#gunzip ? Promise.race([this.#unzipping, written(this.#gunzip, bytes)]) : this.#sink(bytes),
    );
    this.#pending.catch(() => {});
  }

  #unzip() {
    const gunzip = createGunzip();
    gunzip.on('error', ignore);
    this.#unzipping = (async () => {
      for await (const piece of gunzip) await this.#sink(piece);
    })();
    this.#unzipping.catch(() => {});
    return gunzip;
  }

  async finish() {
    await this.#pending;
    this.#gunzip?.end();
    await this.#unzipping;
  }
}

/** Where a file lies, as a word. A relative path lies where commands start. */
function place(path) {
  if (typeof path !== 'string') return temporary(path.temporary);
  return word(path.startsWith('/') ? path : `./${path}`);
}

const nameOf = path => (typeof path === 'string' ? path : path.temporary);

const asBuffer = bytes => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Refused before any request. */
function checkContent(name, content) {
  if (typeof content === 'string' || typeof content?.[Symbol.asyncIterator] === 'function') return;
  if (content instanceof Uint8Array) return;
  throw new TypeError(`the content of ${name} must be text, bytes, or an async iterable of either`);
}

/** @param {AbortSignal | undefined} signal */
function checkAborted(signal) {
  if (signal?.aborted) throw new TransferAborted('the transfer was aborted');
}

function* batches(files, tools) {
  let batch = [];
  let length = 0;
  for (const file of files) {
    const own = Math.ceil(file.content.length * (tools.chunk < SMALL ? 4 : 4 / 3)) + file.name.length + 64;
    if (batch.length > 0 && length + own > BATCH) {
      yield batch;
      batch = [];
      length = 0;
    }
    batch.push(file);
    length += own;
  }
  if (batch.length > 0) yield batch;
}

/**
 * A content as bytes to send: counted and summed, and compressed where that helps and the session
 * can undo it.
 *
 * @param {Uint8Array | AsyncIterable<Uint8Array | string>} content
 * @param {(next: Promise<IteratorResult<Uint8Array | string>>) => Promise<IteratorResult<Uint8Array | string>>} untilAborted
 */
function sourceOf(content, untilAborted) {
  const hash = createHash('sha256');
  let size = 0;
  const iterator = (content instanceof Uint8Array ? sliced(content) : content)[Symbol.asyncIterator]();
  const head = [];
  let ended = false;
  const next = async () => {
    const { value, done } = await untilAborted(Promise.resolve(iterator.next()));
    ended = Boolean(done);
    return done ? undefined : Buffer.from(value);
  };
  async function* counted() {
    for (;;) {
      const piece = head.shift() ?? (ended ? undefined : await next());
      if (!piece) return;
      hash.update(piece);
      size += piece.length;
      yield piece;
    }
  }
  const source = {
    /** @type {AsyncIterable<Buffer>} */
    bytes: counted(),
    compressed: false,
    /** Decides by the first bytes. */
    async look(tools) {
      let length = 0;
      while (length < 65_536) {
        const piece = await next();
        if (!piece) return;
        head.push(piece);
        length += piece.length;
      }
      const sample = Buffer.concat(head).subarray(0, 65_536);
      if (!tools.has('gzip') || gzipSync(sample, { level: 1 }).length >= 0.75 * sample.length) return;
      source.compressed = true;
      source.bytes = pipeline(Readable.from(source.bytes), createGzip({ level: 1 }), () => {});
    },
    facts: () => ({ hash: hash.digest('hex'), size }),
    /** A stream that is not read to its end is told. */
    close() {
      if (!ended) Promise.resolve(iterator.return?.()).catch(() => {});
    },
  };
  return source;
}

/** In pieces, so that hashing a large buffer does not hold up everything else. */
async function* sliced(bytes) {
  for (let at = 0; at < bytes.length; at += 262_144) yield bytes.subarray(at, at + 262_144);
}

/** Joins and cuts to chunks of `size` bytes; nothing at all is one empty file. */
async function* chunksOf(source, size) {
  let held = [];
  let length = 0;
  for await (const piece of source) {
    held.push(piece);
    length += piece.length;
    if (length < size) continue;
    let whole = held.length === 1 ? held[0] : Buffer.concat(held);
    while (whole.length >= size) {
      yield whole.subarray(0, size);
      whole = whole.subarray(size);
    }
    held = [whole];
    length = whole.length;
  }
  if (length > 0) yield Buffer.concat(held);
}

/** Runs `tasks`, at most `limit` at a time; the first failure is the result, after all ended. */
async function parallel(tasks, limit) {
  /** @type {unknown} */
  let failure;
  const queue = tasks.values();
  const work = async () => {
    for (const task of queue) {
      if (failure) return;
      try {
        await task();
      } catch (error) {
        failure ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
  if (failure) throw failure;
}

/**
 * Resolves when the stream has taken it.
 *
 * @param {import('node:stream').Writable} stream
 * @param {Buffer} piece
 * @returns {Promise<void>}
 */
function written(stream, piece) {
  return new Promise((resolve, reject) => {
    const settle = error => {
      stream.off('error', settle);
      stream.off('close', closed);
      if (error) reject(error);
      else resolve();
    };
    const closed = () => settle(new Error('the destination was closed'));
    stream.on('error', settle);
    stream.on('close', closed);
    stream.write(piece, settle);
  });
}

const ignore = () => {};

/** What zlib says of bytes that it cannot read. */
const isUnzipping = error => typeof error?.code === 'string' && error.code.startsWith('Z_');
