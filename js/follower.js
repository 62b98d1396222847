/**
 * Reads what a process of the session prints, from a byte on until its end, through commands that
 * may break off as they like: the next one goes on at the byte where the last one stopped.
 */
import { toolsOf, LineSplitter } from './tools.js';
import { followScript, GONE } from './process-scripts.js';

/** A follower that nobody hears any more ends by itself, so late at the latest. */
const FOLLOW_SECONDS = 600;
/** A line of output that breaks off is read again: shorter lines, where none gets through. */
const LONGEST_CHUNK = 98_304;
const SHORTEST_CHUNK = 1_536;
/** Without a byte of progress, so long is tried. */
const PATIENCE_MS = 120_000;

/** @type {import('./binding.cjs').BindingError} */
const PROCESS_GONE = {
  name: 'ProcessError',
  code: 'PROCESS_FAILED',
  message:
    'the process is not there any more: its session was replaced (it idled, reached its lifetime or was stopped), or the process was released',
  retryable: false,
  mayHaveRun: true,
};

export class Follower {
  #engine;
  #pid;
  #onBytes;
  #position;
  #stop = new AbortController();

  /**
   * @param {import('./engine.js').Engine} engine
   * @param {string} pid
   * @param {(stream: 'stdout' | 'stderr', bytes: Buffer) => unknown} onBytes what it returns is waited for
   * @param {{ stdout: number, stderr: number }} [position] bytes seen
   */
  constructor(engine, pid, onBytes, position) {
    this.#engine = engine;
    this.#pid = pid;
    this.#onBytes = onBytes;
    this.#position = { stdout: 0, stderr: 0, ...position };
  }

  /** Bytes seen, of each stream. */
  get position() {
    return { ...this.#position };
  }

  /** Ends it: run() then resolves with undefined. */
  stop() {
    this.#stop.abort();
  }

  /**
   * Resolves with the exit code; with undefined after stop(), or when the sandbox ended.
   *
   * @returns {Promise<number | undefined>}
   */
  async run() {
    const tools = await toolsOf(this.#engine);
    tools.need('reading a process', 'dd', 'wc');
    const { signal } = this.#stop;
    let progress = performance.now();
    /** @type {number | undefined} */
    let exitCode;
    let pause = 100;
    let chunk = LONGEST_CHUNK;
    for (;;) {
      if (signal.aborted) return undefined;
      /** @type {Promise<unknown>} */
      let pending = Promise.resolve();
      let heard = false;
      const lines = new LineSplitter(line => {
        const [kind, text] = line.split(' ', 2);
        if (kind === 'x') exitCode = Number(text);
        if (kind !== 'o' && kind !== 'e') return;
        const stream = kind === 'o' ? 'stdout' : 'stderr';
        const bytes = tools.decode(text);
        this.#position[stream] += bytes.length;
        pending = pending.then(() => this.#onBytes(stream, bytes));
        pending.catch(() => {});
        progress = performance.now();
        heard = true;
        pause = 100;
      });
      try {
        const done = await this.#engine.script(followScript(this.#pid, this.#position, tools, chunk), {
          signal,
          timeoutSeconds: FOLLOW_SECONDS,
          killable: true,
          maxRetainedBytes: 4_096,
          onStdout: text => {
            lines.push(text);
            return pending;
          },
        });
        await pending;
        if (exitCode !== undefined) return exitCode;
        if (done.killed && !done.timedOut) return undefined;
        if (done.exitCode === GONE) throw this.#engine.failure(PROCESS_GONE);
        if (!done.timedOut) {
          throw this.#engine.failure({
            ...PROCESS_GONE,
            message: `the process cannot be followed (exit code ${done.exitCode}): ${done.stderr.trim()}`,
          });
        }
      } catch (error) {
        await pending;
        const lost = error?.mayHaveRun !== undefined && error.code !== 'PROCESS_FAILED' && error.code !== 'SESSION_REPLACED';
        if (!lost || performance.now() - progress > PATIENCE_MS || isRefused(error)) throw error;
        chunk = heard ? LONGEST_CHUNK : Math.max(chunk / 4, SHORTEST_CHUNK);
        await new Promise(resolve => setTimeout(resolve, pause));
        pause = Math.min(pause * 2, 5_000);
      }
    }
  }
}

/** What another try does not change. */
function isRefused(error) {
  const status = error.httpStatusCode;
  return status >= 400 && status < 424 && status !== 409;
}
