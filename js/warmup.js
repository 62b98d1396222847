/**
 * The option `warmup`: a command that does nothing, until the session answers it. Belongs to
 * the sandbox's start, which all share who wait for it, so no single command's signal ends it:
 * whoever stops waiting leaves, and the sandbox cancels it when nobody is left.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { checkCommand } from './options.js';

/** What a session answers that is being started. */
const STARTING = new Set([
  'ConflictException',
  'InternalServerException',
  'RetryableConflictException',
  'RuntimeClientError',
]);
const FIRST_PAUSE_MS = 200;
const LAST_PAUSE_MS = 5_000;

/** What start() rejects with when its warm-up was cancelled. */
export class WarmupCancelled extends Error {
  name = 'WarmupCancelled';
}

export class Warmup {
  #engine;
  #options;
  /** @type {AbortController | undefined} */
  #controller;

  /**
   * @param {import('./engine.js').Engine} engine
   * @param {ReturnType<typeof import('./options.js').resolveOptions>} options
   */
  constructor(engine, options) {
    this.#engine = engine;
    this.#options = options;
  }

  /**
   * Resolves when the session has answered.
   *
   * @throws {WarmupCancelled} after cancel()
   * @throws what the last attempt met, when `commandTimeout` is over or it is no cold start
   */
  async run() {
    const controller = new AbortController();
    this.#controller = controller;
    try {
      await this.#untilAnswered(controller.signal);
    } catch (error) {
      throw controller.signal.aborted ? new WarmupCancelled('the warm-up was cancelled') : error;
    }
  }

  cancel() {
    this.#controller?.abort();
  }

  /** @param {AbortSignal} signal */
  async #untilAnswered(signal) {
    const deadline = performance.now() + this.#options.commandTimeout;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
      try {
        await this.#attempt(signal, deadline - performance.now());
        return;
      } catch (error) {
        const late = performance.now() + pause >= deadline;
        if (signal.aborted || late || !isStarting(error)) throw error;
      }
      await delay(pause, undefined, { signal });
    }
  }

  /**
   * @param {AbortSignal} signal
   * @param {number} timeout
   */
  async #attempt(signal, timeout) {
    const checked = checkCommand('/bin/true', [], { abortSignal: signal, timeout }, this.#options);
    const prepared = this.#engine.prepare(checked, {}, undefined);
    const { timedOut } = await this.#engine.run({ ...prepared, kill: undefined });
    signal.throwIfAborted();
    if (timedOut) throw this.#engine.failure(SILENT);
  }
}

/** @type {import('./binding.cjs').BindingError} */
const SILENT = {
  name: 'WarmupTimedOut',
  code: 'WARMUP_TIMED_OUT',
  message:
    "the session did not answer within commandTimeout: see the runtime's logs, or give it longer",
  retryable: true,
  mayHaveRun: false,
};

/** @param {any} error */
function isStarting(error) {
  return (
    STARTING.has(error?.code) || [409, 424].includes(error?.httpStatusCode) || error?.httpStatusCode >= 500
  );
}
