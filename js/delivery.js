/**
 * Delivers one native command's output to its callbacks and its end to its promise.
 *
 * The native side wakes this side once and is then read until it has nothing: pieces in
 * order across both streams, every one before the promise settles. A drain gives the event
 * loop its turn after SLICE_MS; what a callback returns is awaited before the next piece,
 * and meanwhile the native side merges what comes and, past its high-water mark, stops
 * reading the network.
 *
 * What lives elsewhere: what is sent (native.js), what an outcome becomes (errors.js).
 */
import { subscribe } from './signals.js';

/** How long one turn of the event loop may be used for, in milliseconds. */
const SLICE_MS = 1;

/**
 * @typedef {import('./binding.cjs').BindingCommand} BindingCommand
 * @typedef {import('./binding.cjs').BindingOutcome} BindingOutcome
 * @typedef {(text: string) => unknown} OutputCallback
 */

/**
 * Starts a command and delivers it.
 *
 * @param {(wake: () => void) => BindingCommand} start
 * @param {object} options
 * @param {OutputCallback} [options.onStdout]
 * @param {OutputCallback} [options.onStderr]
 * @param {AbortSignal} [options.signal] ends the command with a result, not a rejection
 * @param {Set<() => void>} [options.running] holds, while the command runs, the function
 *   that ends it likewise
 * @param {(command: BindingCommand) => void} [options.onCutShort] called when the command
 *   was ended before its own end, so that its kill may be under way
 * @returns {Promise<{ outcome: BindingOutcome, stdout: string, stderr: string }>} rejects
 *   only with what a callback threw, or its promise rejected with
 */
export function deliver(start, options) {
  return new Promise((resolve, reject) => {
    new Delivery(start, options, resolve, reject);
  });
}

class Delivery {
  #command;
  #options;
  #resolve;
  #reject;
  #forget;
  #settled = false;
  #aborted = false;
  /** Inside a callback: an abort from there is met when it returns. */
  #calling = false;
  /** Waiting for what a callback returned. */
  #blocked = false;

  constructor(start, options, resolve, reject) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#command = start(() => this.#drain());
    const abort = () => this.#abort();
    const unsubscribe = subscribe(options.signal, abort);
    options.running?.add(abort);
    this.#forget = () => {
      unsubscribe();
      options.running?.delete(abort);
    };
  }

  #abort() {
    if (this.#settled) return;
    this.#aborted = true;
    this.#command.abort();
    if (this.#blocked) this.#finish();
    else if (!this.#calling) this.#drain();
  }

  #drain() {
    if (this.#settled || this.#blocked || this.#calling) return;
    const until = performance.now() + SLICE_MS;
    let ended = false;
    for (;;) {
      const piece = this.#command.read();
      if (piece === null) {
        if (ended) return this.#finish();
        // Output may have come between the read and the end: one more round.
        ended = this.#command.ended;
        if (!ended) return;
        continue;
      }
      if (!this.#call(piece)) return;
      if (!this.#aborted && performance.now() > until) {
        setImmediate(() => this.#drain());
        return;
      }
    }
  }

  /** @returns {boolean} whether to go on at once */
  #call(piece) {
    let returned;
    this.#calling = true;
    try {
      returned =
        typeof piece === 'string'
          ? this.#options.onStdout?.(piece)
          : this.#options.onStderr?.(piece.stderr);
    } catch (error) {
      this.#fail(error);
      return false;
    } finally {
      this.#calling = false;
    }
    if (returned === undefined || typeof returned?.then !== 'function') return !this.#settled;
    if (this.#aborted) {
      // The result does not wait any more; a rejection must still be somebody's.
      Promise.resolve(returned).catch(() => {});
      return !this.#settled;
    }
    this.#blocked = true;
    Promise.resolve(returned).then(
      () => {
        this.#blocked = false;
        this.#drain();
      },
      error => this.#fail(error),
    );
    return false;
  }

  #fail(error) {
    if (this.#settled) return;
    this.#settle();
    this.#command.abort();
    this.#command.seal();
    this.#options.onCutShort?.(this.#command);
    this.#reject(error);
  }

  #finish() {
    if (this.#settled) return;
    this.#settle();
    const outcome = this.#command.seal();
    if (outcome.kind === 'aborted' || outcome.kind === 'timedOut') {
      this.#options.onCutShort?.(this.#command);
    }
    retained(this.#command).then(
      ([stdout, stderr]) => this.#resolve({ outcome, stdout, stderr }),
      this.#reject,
    );
  }

  #settle() {
    this.#settled = true;
    this.#forget?.();
  }
}

/**
 * Fetches what both streams retained, in slices over as many turns of the event loop as it
 * takes.
 *
 * @param {BindingCommand} command
 */
async function retained(command) {
  const streams = ['', ''];
  let until = performance.now() + SLICE_MS;
  for (const stream of [0, 1]) {
    for (;;) {
      const slice = command.takeRetained(stream === 1);
      if (slice === null) break;
      streams[stream] += slice;
      if (performance.now() > until) {
        await new Promise(resolve => setImmediate(resolve));
        until = performance.now() + SLICE_MS;
      }
    }
  }
  return streams;
}
