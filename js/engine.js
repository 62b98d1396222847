/**
 * The path of one command through JavaScript: checked request → text → transport →
 * delivery → result or error. Knows neither Mastra nor what errors are called there.
 */
import binding from './addon.js';
import { acquire, isNativeClient, nativeOf } from './client.js';
import { deliver } from './delivery.js';
import { checkEnv } from './options.js';

/** So long a kill that nobody waits for keeps Node alive. */
const KILL_KEEPS_ALIVE_MS = 5_000;
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
    const { shell, killOnAbort } = this.#options;
    const marker = shell && killOnAbort ? binding.randomUuid() : undefined;
    const env = Object.entries({ ...checkEnv(overlay), ...checked.env });
    const text = buildCommand({
      command: checked.command,
      args: checked.args ?? undefined,
      cwd: checked.cwd,
      workingDirectory,
      env: env.filter(([, value]) => value !== undefined),
      shell: shell ?? undefined,
      marker,
    });
    return { ...checked, ...text, kill: marker ? { shell, marker } : undefined };
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
    const { signal } = prepared;
    const aborts = this.#aborts;
    const headers = await traceOf(this.#options.trace);
    const { client } = this.#options;
    const injected = client && !isNativeClient(client) ? client : undefined;
    const sdk = injected && (await sdkClient());
    if (signal?.aborted || aborts !== this.#aborts) return this.aborted(prepared);
    const request = this.#request(prepared, headers);
    /** @type {unknown} */
    let cause;
    const start = injected
      ? wake => {
          const command = binding.BindingCommand.injected(injectedOptions(prepared), wake);
          sdk.sendCommand(injected, request, command, signal).catch(error => {
            cause = error;
          });
          return command;
        }
      : wake => this.#native().execute(request, wake);
    const delivered = await this.#tracked(
      deliver(start, {
        onStdout: prepared.onStdout,
        onStderr: prepared.onStderr,
        signal,
        running: this.#running,
        onCutShort: command => this.#kill(command, request, injected),
      }),
    );
    const { kind, error } = delivered.outcome;
    if (kind === 'failed' && error) throw this.#makeError(error, delivered, cause);
    return result(prepared, delivered);
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
    for (const kill of kills) this.#kills.delete(kill);
  }

  /** Gives our share of the client back; a later command takes a new one. */
  release() {
    this.#share?.release();
    this.#share = undefined;
  }
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
