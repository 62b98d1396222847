/**
 * The path of one command through JavaScript: checked request → text → transport →
 * delivery → result or error. Knows neither Mastra nor what errors are called there.
 */
import binding from './addon.js';
import { LABEL } from './connection.js';
import { acquire, isNativeClient, nativeOf } from './client.js';
import { deliver } from './delivery.js';
import { SESSION_REPLACED } from './errors.js';
import { checkEnv } from './options.js';
import { Sentinels } from './sentinels.js';
import { subscribe } from './signals.js';

/** So long a kill that nobody waits for keeps Node alive. */
const KILL_KEEPS_ALIVE_MS = 5_000;
/** A script of ours, unless it says otherwise. */
const SCRIPT_TIMEOUT_SECONDS = 60;
/** What may be sent twice without harm is tried so often, whatever maxAttempts says. */
const IDEMPOTENT_ATTEMPTS = 5;
/** Of a private variable, as of others (`src/command/mod.rs`). */
const NUL_IN_VARIABLE =
  'AgentCore Runtime command must not contain a NUL character (in the value of an environment variable)';
/** So long a kill may take through an injected client. */
const KILL_LIMIT_MS = 20_000;

export class Engine {
  #options;
  #runtimeSessionId;
  #makeError;
  /**
   * Each ends a running command as its own signal would.
   *
   * @type {Set<() => void>}
   */
  #running = new Set();
  /**
   * The deliveries of running commands.
   *
   * @type {Set<Promise<unknown>>}
   */
  #deliveries = new Set();
  /** Counts the calls of abortAll(), for commands that are on their way to running. */
  #aborts = 0;
  #kills = new Set();
  /** @type {import('./private-env.js').PrivateEnv | undefined} */
  #privateEnv;
  /**
   * What goes on behind a result, and destroy() waits for.
   *
   * @type {Set<Promise<unknown>>}
   */
  #behind = new Set();
  /**
   * Set once the session is known: commands run in no other.
   *
   * @type {import('./session-guard.js').SessionGuard | undefined}
   */
  guard;
  /** @type {ReturnType<typeof acquire> | undefined} */
  #share;

  /**
   * @param {ReturnType<typeof import('./options.js').resolveOptions>} options
   * @param {string} runtimeSessionId
   * @param {import('./errors.js').MakeError} makeError
   */
  constructor(options, runtimeSessionId, makeError) {
    this.#options = options;
    this.#runtimeSessionId = runtimeSessionId;
    this.#makeError = makeError;
  }

  /**
   * Makes the texts of a checked command, or throws what makes that impossible.
   *
   * @param {ReturnType<typeof import('./options.js').checkCommand>} checked
   * @param {Record<string, string | undefined>} overlay the sandbox's environment
   * @param {string | undefined} workingDirectory
   */
  prepare(checked, overlay, workingDirectory) {
    const { shell, killOnAbort, privateEnv } = this.#options;
    const marker = shell && killOnAbort ? binding.randomUuid() : undefined;
    const env = /** @type {[string, string][]} */ (
      Object.entries({ ...checkEnv(overlay), ...checked.env }).filter(([, value]) => value !== undefined)
    );
    /** @param {[string, string]} variable */
    const isHidden = ([name]) => privateEnv === true || Boolean(privateEnv?.includes(name));
    const hidden = env.filter(isHidden);
    if (hidden.some(([, value]) => value.includes('\0'))) throw new RangeError(NUL_IN_VARIABLE);
    const spec = {
      command: checked.command,
      args: checked.args ?? undefined,
      cwd: checked.cwd,
      workingDirectory,
      env: env.filter(pair => !isHidden(pair)),
      shell: shell ?? undefined,
      marker,
      session: this.guard?.check(),
      private: hidden.length > 0 ? placeholder(hidden) : undefined,
      stage: `.mastra-agentcore-${binding.randomUuid()}`,
    };
    return {
      ...checked,
      ...buildCommand(spec),
      spec,
      hidden,
      kill: marker ? { shell, marker } : undefined,
    };
  }

  /** What the caller of an aborted command gets, before anything was sent. */
  aborted(prepared) {
    return result(prepared, {
      outcome: {
        kind: 'aborted',
        success: false,
        exitCode: 137,
        executionTimeMs: 0,
        stdoutDroppedBytes: 0,
        stderrDroppedBytes: 0,
      },
      stdout: '',
      stderr: '',
    });
  }

  /** Runs a prepared command. */
  async run(prepared) {
    if (prepared.resumable) return this.#runResumably(prepared);
    const aborts = this.#aborts;
    const isAborted = () =>
      prepared.signal?.aborted || (!prepared.toItsEnd && aborts !== this.#aborts);
    if (prepared.hidden.length === 0) {
      const done = await this.#stagedAndSent(prepared, isAborted);
      if (done) return done;
    } else {
      // A second time where the session was replaced, and with it its key.
      for (let left = 2; left > 0; left -= 1) {
        const sealed = await this.#seal(prepared);
        if (!sealed || isAborted()) return this.aborted(prepared);
        const done = await this.#stagedAndSent(sealed, isAborted);
        if (done) return done;
        this.#privateEnv?.forget();
      }
    }
    throw this.#makeError(SESSION_REPLACED);
  }

  /** As a process of the session, which a broken stream does not end. */
  async #runResumably(prepared) {
    const { runResumably, killResumable } = await import('./resumable.js');
    if (prepared.signal?.aborted) return this.aborted(prepared);
    const pid = binding.randomUuid();
    /** @type {any} */
    let cause;
    const start = wake => {
      const command = binding.BindingCommand.injected(injectedOptions(prepared), wake);
      runResumably(this, prepared, pid, command).catch(error => {
        cause = error;
        command.pushError(asData(error));
      });
      return command;
    };
    const delivered = await this.deliver(start, {
      ...prepared,
      onCutShort: () => {
        if (this.#options.killOnAbort) this.behind(killResumable(this, pid));
      },
    });
    if (delivered.outcome.kind === 'failed') {
      throw Object.assign(cause ?? this.#makeError(/** @type {any} */ (delivered.outcome.error)), {
        stdout: delivered.stdout,
        stderr: delivered.stderr,
      });
    }
    return result(prepared, delivered);
  }

  /** The command with its private variables encrypted; nothing after an abort. */
  async #seal(prepared) {
    const { PrivateEnv } = await import('./private-env.js');
    this.#privateEnv ??= new PrivateEnv(this.#runtimeSessionId);
    const sealed = await this.untilAborted(
      this.#privateEnv.seal(prepared.hidden, this),
      prepared.signal,
    );
    if (!sealed) return undefined;
    // A place of its own: that of a first attempt is being removed.
    const stage = prepared.spec.stage && `.mastra-agentcore-${binding.randomUuid()}`;
    const spec = { ...prepared.spec, private: sealed, stage };
    return { ...prepared, ...buildCommand(spec), spec };
  }

  /** Undefined where the session could not read its private variables: nothing was run. */
  async #stagedAndSent(prepared, isAborted) {
    if (!prepared.staged) return this.#send(prepared, isAborted);
    const { stage, unstage } = await import('./staging.js');
    const staging = stage(this, prepared.spec.stage, prepared.staged);
    try {
      const staged = await this.untilAborted(staging, prepared.signal);
      if (!staged || isAborted()) return this.aborted(prepared);
      return await this.#send(prepared, isAborted);
    } finally {
      // After the last of the files, or one that comes late would stay.
      const remove = () => unstage(this, prepared.spec.stage);
      this.behind(staging.then(remove, remove));
    }
  }

  async #send(prepared, isAborted) {
    const { signal, spec } = prepared;
    const headers = await traceOf(this.#options.trace);
    const { client } = this.#options;
    const injected = client && !isNativeClient(client) ? client : undefined;
    const sdk = injected && (await sdkClient());
    if (isAborted()) return this.aborted(prepared);
    const lines = [spec.session?.missing, spec.private?.failed].filter(line => line !== undefined);
    const sentinels = new Sentinels(lines, prepared.onStderr);
    const onStderr = sentinels.callback;
    const request = this.#request({ ...prepared, onStderr }, headers);
    /** @type {unknown} */
    let cause;
    const start = injected
      ? wake => {
          const command = binding.BindingCommand.injected(
            injectedOptions({ ...prepared, onStderr }),
            wake,
          );
          sdk.sendCommand(injected, request, command, signal).catch(error => {
            cause = error;
          });
          return command;
        }
      : wake => this.#native().execute(request, wake);
    const delivered = await this.deliver(start, {
      ...prepared,
      onStderr,
      onCutShort: command => this.#kill(command, request, injected),
    });
    const met = await sentinels.met();
    if (met !== undefined && delivered.outcome.kind === 'completed') {
      if (met === spec.private?.failed) return undefined;
      throw this.#makeError(SESSION_REPLACED);
    }
    const { kind, error } = delivered.outcome;
    if (kind === 'failed' && error) throw this.#makeError(error, delivered, cause);
    return result(prepared, delivered);
  }

  /**
   * Delivers a command that `start` starts; stop() and destroy() end it.
   *
   * @param {(wake: () => void) => import('./binding.cjs').BindingCommand} start
   */
  deliver(start, { onStdout, onStderr, signal, onCutShort, toItsEnd }) {
    const running = toItsEnd ? undefined : this.#running;
    return this.#tracked(deliver(start, { onStdout, onStderr, signal, running, onCutShort }));
  }

  /**
   * Runs a script of ours in the session: without the user's variables and directory.
   *
   * @param {string} script
   * @param {object} [options]
   * @param {AbortSignal} [options.signal]
   * @param {number} [options.timeoutSeconds]
   * @param {(text: string) => unknown} [options.onStdout]
   * @param {number} [options.maxRetainedBytes]
   * @param {boolean} [options.killable] an abort kills what it started
   * @param {[string, string][]} [options.hidden] private variables
   * @param {boolean} [options.stage] may be longer than the wire takes
   * @param {boolean} [options.toItsEnd] stop() does not end it, and destroy() waits for it
   * @param {boolean} [options.idempotent] may be sent again where it may have run
   */
  async script(script, options = {}) {
    const { shell } = this.#options;
    if (!shell) throw new Error(`${LABEL} this needs a shell in the session: leave shell: false out`);
    const { signal, onStdout, maxRetainedBytes, timeoutSeconds = SCRIPT_TIMEOUT_SECONDS } = options;
    const session = this.guard?.check();
    const marker = options.killable ? binding.randomUuid() : undefined;
    const stage = options.stage ? `.mastra-agentcore-${binding.randomUuid()}` : undefined;
    /** @type {import('./binding.cjs').BindingCommandSpec} */
    const spec = { command: script, env: [], shell, marker, session, stage };
    const hidden = options.hidden ?? [];
    if (hidden.length > 0) spec.private = placeholder(hidden);
    let wire = marker || spec.private ? undefined : binding.scriptCommand(shell, script, session);
    let staged;
    if (wire === undefined || Buffer.byteLength(wire) > binding.maxCommandBytes()) {
      ({ wire, staged } = buildCommand(spec));
    }
    const prepared = {
      command: script,
      displayed: script,
      args: undefined,
      wire,
      staged,
      spec,
      hidden,
      signal,
      onStdout,
      onStderr: undefined,
      timeoutMs: timeoutSeconds * 1000,
      timeoutSeconds,
      maxRetainedBytes,
      toItsEnd: options.toItsEnd,
      kill: marker ? { shell, marker } : undefined,
    };
    if (!options.idempotent) return this.run(prepared);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.run(prepared);
      } catch (error) {
        if (!mayRepeat(error) || attempt >= IDEMPOTENT_ATTEMPTS || signal?.aborted) throw error;
        await pauseBefore(attempt, signal);
      }
    }
  }

  /** The shell in the session; what asks for it is refused with `shell: false`. */
  get shell() {
    return /** @type {string} */ (this.#options.shell);
  }

  /**
   * Waits for `promise`, no longer than until the signal, stop() or destroy(): then undefined.
   *
   * @template T
   * @param {Promise<T>} promise
   * @param {AbortSignal | undefined} signal
   */
  untilAborted(promise, signal) {
    return orAborted(promise, signal, this.#running);
  }

  /**
   * A signal for what takes many commands: its caller's, and that of stop() and destroy(), which
   * may come between two of them.
   *
   * @param {AbortSignal | undefined} given
   */
  until(given) {
    const controller = new AbortController();
    const abort = () => controller.abort();
    if (given?.aborted) abort();
    const unsubscribe = subscribe(given, abort);
    this.#running.add(abort);
    const release = () => {
      unsubscribe();
      this.#running.delete(abort);
    };
    return { signal: controller.signal, release };
  }

  /** Lets `promise` go on behind a result; its failure is nobody's. */
  behind(promise) {
    const settled = Promise.resolve(promise).catch(() => {});
    this.#behind.add(settled);
    settled.then(() => this.#behind.delete(settled));
  }

  /** Kills the processes marked `marker`. */
  async killMarked(marker) {
    const shell = /** @type {string} */ (this.#options.shell);
    const wire = binding.killCommand(shell, marker, true);
    const spec = { command: '', env: [], shell };
    await this.run({
      command: '',
      displayed: '',
      args: undefined,
      wire,
      spec,
      hidden: [],
      toItsEnd: true,
      timeoutMs: KILL_LIMIT_MS,
      timeoutSeconds: KILL_LIMIT_MS / 1000,
      maxRetainedBytes: 0,
    });
  }

  /**
   * @template T
   * @param {Promise<T>} delivery
   */
  async #tracked(delivery) {
    this.#deliveries.add(delivery);
    try {
      return await delivery;
    } finally {
      this.#deliveries.delete(delivery);
    }
  }

  /**
   * A failure that this side found, as the error that the sandbox's users meet.
   *
   * @param {import('./binding.cjs').BindingError} error
   */
  failure(error) {
    return this.#makeError(error);
  }

  #request(prepared, trace) {
    const options = this.#options;
    return {
      agentRuntimeArn: options.agentRuntimeArn,
      runtimeSessionId: this.#runtimeSessionId,
      qualifier: options.qualifier,
      accountId: options.accountId,
      contentType: options.contentType,
      accept: options.accept,
      command: prepared.wire,
      timeoutSeconds: prepared.timeoutSeconds,
      maxRetainedBytes: prepared.maxRetainedBytes ?? undefined,
      streamStdout: Boolean(prepared.onStdout),
      streamStderr: Boolean(prepared.onStderr),
      kill: prepared.kill,
      trace,
      maxAttempts: options.maxAttempts,
    };
  }

  #kill(command, request, injected) {
    if (!request.kill) return;
    const kill = injected ? this.#injectedKill(command, request, injected) : nativeKill(command);
    this.#kills.add(kill);
    kill.brief.then(() => kill.done() && this.#kills.delete(kill));
  }

  #injectedKill(command, request, injected) {
    const text = binding.killCommand(request.kill.shell, request.kill.marker, command.begun);
    let done = false;
    const whole = sdkClient()
      .then(sdk =>
        sdk.sendQuietly(injected, { ...request, command: text, timeoutSeconds: 15 }, KILL_LIMIT_MS),
      )
      .catch(() => {})
      .finally(() => {
        done = true;
      });
    return { brief: whole, whole: () => whole, done: () => done };
  }

  /** Stops the session, whatever its state. */
  async stopSession() {
    const options = this.#options;
    const request = {
      agentRuntimeArn: options.agentRuntimeArn,
      runtimeSessionId: this.#runtimeSessionId,
      qualifier: options.qualifier,
      accountId: options.accountId,
      clientToken: options.stopClientToken ?? binding.randomUuid(),
      maxAttempts: options.maxAttempts,
    };
    if (options.client && !isNativeClient(options.client)) {
      const sdk = await sdkClient();
      try {
        await sdk.sendStop(options.client, request);
      } catch (error) {
        if (isGone(error)) return;
        throw this.#makeError(sdk.failure(error, false), undefined, error);
      }
      return;
    }
    const failed = await this.#native().stopSession(request);
    if (failed) throw this.#makeError(failed);
  }

  #native() {
    const { client, connection } = this.#options;
    if (client) return nativeOf(client, connection.region);
    this.#share ??= acquire(connection);
    return nativeOf(this.#share.client, connection.region);
  }

  /** Ends every running command as if aborted. */
  abortAll() {
    this.#aborts += 1;
    for (const abort of this.#running) abort();
  }

  /**
   * After abortAll(): waits for the kills under way. An abort from inside a callback is met
   * when that returns, and its kill begins only then: deliveries first.
   */
  async settleKills() {
    await Promise.allSettled(this.#deliveries);
    const kills = [...this.#kills];
    await Promise.all(kills.map(kill => kill.whole()));
    // What ends may leave something to clean up.
    while (this.#behind.size > 0) await Promise.all(this.#behind);
    for (const kill of kills) this.#kills.delete(kill);
  }

  /** Gives our share of the client back; a later command takes a new one. */
  release() {
    this.#share?.release();
    this.#share = undefined;
  }
}

/** What may have run, and does no harm when it runs again. */
const LOST = new Set(['CONNECTION_LOST', 'RESPONSE_UNREADABLE', 'STREAM_BROKEN', 'internalServerException']);

/**
 * As long as the real thing, for what is checked before any request.
 *
 * @param {[string, string][]} hidden
 */
function placeholder(hidden) {
  const bytes = hidden.reduce((sum, [name, value]) => sum + name.length + 4 * Buffer.byteLength(value) + 4, 0);
  return {
    names: hidden.map(([name]) => name),
    keyFile: '.mastra-agentcore-key-00000000000000000000000000000000',
    key: 'A'.repeat(344),
    words: 'A'.repeat(Math.ceil(bytes / 3) * 4),
    failed: 'mastra-agentcore-private-unreadable-00000000-0000-0000-0000-000000000000',
  };
}

/** A failure as the native side takes it; it comes back in the outcome. */
function asData(error) {
  return {
    name: error.name ?? 'Error',
    code: error.code ?? 'INTERNAL',
    message: error.message ?? String(error),
    retryable: Boolean(error.retryable),
    mayHaveRun: error.mayHaveRun ?? true,
  };
}

/**
 * Waits for `promise`, no longer than until the signal, stop() or destroy(): then undefined.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal | undefined} signal
 * @param {Set<() => void>} running
 * @returns {Promise<T | undefined>}
 */
async function orAborted(promise, signal, running) {
  if (signal?.aborted) return undefined;
  promise.catch(() => {});
  let forget = () => {};
  const aborted = new Promise(resolve => {
    const abort = () => resolve(undefined);
    const unsubscribe = subscribe(signal, abort);
    running.add(abort);
    forget = () => {
      unsubscribe();
      running.delete(abort);
    };
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    forget();
  }
}

/** Whether what does no harm when it runs twice is worth another try. */
export function mayRepeat(error) {
  return error?.retryable === true || LOST.has(error?.code) || error?.httpStatusCode >= 500;
}

/** A pause before the next attempt, which a signal ends. */
export function pauseBefore(attempt, signal) {
  const ms = Math.min(100 * 2 ** attempt, 2_000);
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer);
      unsubscribe();
      resolve(undefined);
    };
    const timer = setTimeout(done, ms);
    const unsubscribe = subscribe(signal, done);
  });
}

/** Pending promises of the addon keep Node alive: a kill has a brief one, and a whole one only when asked for. */
function nativeKill(command) {
  let done = false;
  const brief = command.finished(KILL_KEEPS_ALIVE_MS).then(finished => {
    done = finished;
  });
  return { brief, whole: () => command.finished(), done: () => done };
}

function injectedOptions(prepared) {
  return {
    timeoutMs: prepared.timeoutSeconds * 1000,
    maxRetainedBytes: prepared.maxRetainedBytes ?? undefined,
    streamStdout: Boolean(prepared.onStdout),
    streamStderr: Boolean(prepared.onStderr),
  };
}

// Loaded on first use: most users need neither.
const sdkClient = () => import('./sdk-client.js');
let trace;
const traceOf = option => {
  if (option === false) return undefined;
  trace ??= import('./trace.js');
  return trace.then(({ traceHeaders }) => traceHeaders(option));
};

/** Nothing to stop is stopped. */
function isGone(error) {
  return error?.name === 'ResourceNotFoundException' || error?.$metadata?.httpStatusCode === 404;
}

/** Expected failures cross the binding as a message; `RangeError: ` says which class. */
function buildCommand(spec) {
  try {
    return binding.buildCommand(spec);
  } catch (error) {
    const message = error.message.replace(/^RangeError: /, '');
    throw message === error.message ? new Error(message) : new RangeError(message);
  }
}

function result(prepared, { outcome, stdout, stderr }) {
  return {
    command: prepared.displayed,
    args: prepared.args,
    success: outcome.success,
    exitCode: outcome.exitCode,
    stdout,
    stderr,
    executionTimeMs: Math.round(outcome.executionTimeMs),
    timedOut: outcome.kind === 'timedOut',
    killed: outcome.kind === 'timedOut' || outcome.kind === 'aborted',
    stdoutTruncated: outcome.stdoutDroppedBytes > 0,
    stderrTruncated: outcome.stderrDroppedBytes > 0,
    stdoutDroppedBytes: outcome.stdoutDroppedBytes,
    stderrDroppedBytes: outcome.stderrDroppedBytes,
  };
}
