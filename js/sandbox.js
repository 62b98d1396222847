/**
 * The Mastra class: lifecycle, environment and directory of a Workspace's sandbox, over the
 * engine that runs commands. What a command is and does lives below.
 */
import * as workspace from '@mastra/core/workspace';
import binding from './addon.js';
import { AgentCoreError } from './agentcore-error.js';
import { Engine } from './engine.js';
import { instructions } from './instructions.js';
import { checkCommand, isSessionId, resolveOptions } from './options.js';
import { AgentCoreProcessManager } from './processes.js';
import { runtimeSessionIdFrom } from './session-id.js';
import { subscribe } from './signals.js';
import { Warmup, WarmupCancelled } from './warmup.js';
import { pathIn } from './words.js';

const { MastraSandbox, SandboxNotReadyError } = workspace;

const NAME = 'AgentCoreRuntimeSandbox';

export class AgentCoreRuntimeSandbox extends MastraSandbox {
  /**
   * Set by the constructor: the field shadows what the base class has set.
   *
   * @type {import('../index.js').AgentCoreProcessManager | undefined}
   */
  processes;
  name = NAME;
  provider = 'agentcore';
  /** @type {import('@mastra/core/workspace').ProviderStatus} */
  status = 'pending';
  #runtimeSessionId;
  #options;
  #instructions;
  #stopSessionOnLifecycle;
  #engine;
  /** @type {Warmup | undefined} */
  #warmup;
  /** How many wait for the start. */
  #waiting = 0;
  /** Set while a command asks for the start: it may stop waiting, others never do. */
  #impatient = false;
  /** Counts what ends running commands: those that wait for the start end with it. */
  #ends = 0;
  #createdAt = new Date();
  /** @type {Date | undefined} */
  #lastUsedAt;
  /** Set when our destroy() begins, and never again: the base class forgets. */
  #closed = false;
  #sessionStopped = false;
  #given;
  #requireExistingSession;
  /** @type {AgentCoreProcessManager | undefined} */
  #processes;
  #unlisten = () => {};

  /** @param {import('../index.js').AgentCoreRuntimeSandboxOptions} options */
  constructor(options) {
    const resolved = resolveOptions(options);
    const processes = options.processes ? new AgentCoreProcessManager() : undefined;
    super({
      processes,
      name: NAME,
      onStart: options.onStart,
      onStop: options.onStop,
      onDestroy: options.onDestroy,
      env: options.env,
      workingDirectory: resolved.workingDirectory,
    });
    this.#options = resolved;
    this.#instructions = options.instructions;
    this.#stopSessionOnLifecycle = options.stopSessionOnLifecycle ?? false;
    this.#runtimeSessionId = resolved.runtimeSessionId ?? binding.randomUuid();
    this.id = this.#runtimeSessionId;
    this.#engine = new Engine(
      resolved,
      this.#runtimeSessionId,
      (failure, output, cause) => new AgentCoreError(failure, output, cause),
    );
    if (options.warmup) this.#warmup = new Warmup(this.#engine, resolved);
    this.#given = options;
    this.#requireExistingSession = options.requireExistingSession ?? false;
    this.#processes = processes?.attach({
      id: this.id,
      engine: this.#engine,
      options: resolved,
      workingDirectory: () => this.workingDirectory,
      refuseIfClosed: () => this.#refuseIfClosed(),
    });
    this.processes = /** @type {any} */ (this.#processes);
    if (options.nativeLogs) this.#listenToLog();
  }

  async #listenToLog() {
    const { listen } = await import('./logs.js');
    if (this.#closed) return;
    this.#unlisten = listen(this.#runtimeSessionId, (message, fields) =>
      this.logger.debug(`[${NAME}] ${message}`, { runtimeSessionId: this.#runtimeSessionId, ...fields }),
    );
  }

  get runtimeSessionId() {
    return this.#runtimeSessionId;
  }

  get agentRuntimeArn() {
    return this.#options.agentRuntimeArn;
  }

  /**
   * Makes no request, but with `warmup` and `requireExistingSession`; only the latter tells its
   * outcome.
   */
  async start() {
    this.#refuseIfClosed();
    await this.#warmup?.run();
    if (this.#requireExistingSession) return { outcome: await this.#meetSession() };
    return undefined;
  }

  /**
   * Marks the session, so that commands know it again.
   *
   * @returns {Promise<import('@mastra/core/workspace').SandboxStartOutcome>}
   */
  async #meetSession() {
    const { SessionGuard } = await import('./session-guard.js');
    const guard = new SessionGuard(this.#runtimeSessionId);
    this.#engine.guard = undefined;
    const { stdout, stderr, exitCode } = await this.#engine.script(guard.script, { idempotent: true });
    const outcome = stdout.trim();
    if (exitCode !== 0 || (outcome !== 'created' && outcome !== 'connected')) {
      throw this.#engine.failure({
        name: 'SessionUnmarked',
        code: 'SESSION_UNMARKED',
        message: `requireExistingSession could not leave its file in the session: ${stderr.trim() || `exit code ${exitCode}`}`,
        retryable: false,
        mayHaveRun: false,
      });
    }
    this.#engine.guard = guard;
    return outcome;
  }

  /** @param {any} [options] the base class's own */
  async _start(options) {
    if (this.#impatient) return super._start(options);
    this.#waiting += 1;
    try {
      return await super._start(options);
    } finally {
      this.#leave();
    }
  }

  /**
   * @param {string} command
   * @param {string[]} [args]
   * @param {import('@mastra/core/workspace').ExecuteCommandOptions} [options]
   */
  async executeCommand(command, args, options) {
    this.#refuseIfClosed();
    const checked = checkCommand(command, args, options, this.#options);
    const { signal } = checked;
    // A start may run hooks, which may run commands: what can be refused is refused before.
    if (this.status !== 'running') this.#engine.prepare(checked, {}, this.workingDirectory);
    if (signal?.aborted || !(await this.#running(signal))) {
      return this.#engine.aborted(this.#prepare(checked));
    }
    this.#refuseIfClosed();
    const prepared = this.#prepare(checked);
    if (signal?.aborted) return this.#engine.aborted(prepared);
    this.logger.debug(`[${NAME}] Executing command`, {
      runtimeSessionId: this.#runtimeSessionId,
      command: prepared.logged,
      timeoutSeconds: prepared.timeoutSeconds,
    });
    try {
      return await this.#engine.run(prepared);
    } finally {
      this.#lastUsedAt = new Date();
    }
  }

  #prepare(checked) {
    return this.#engine.prepare(checked, this.getEnv(), this.workingDirectory);
  }

  /**
   * Waits for the start, no longer than until the signal.
   *
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<boolean>} false when the signal, stop() or destroy() came first
   */
  async #running(signal) {
    this.#waiting += 1;
    const started = this.#untilStarted(signal);
    // A start that fails after the abort has nobody to tell.
    started.catch(() => {});
    let unsubscribe = () => {};
    const aborted = new Promise(resolve => {
      unsubscribe = subscribe(signal, () => resolve(false));
    });
    try {
      return await Promise.race([started, aborted]);
    } finally {
      unsubscribe();
      this.#leave();
    }
  }

  /** Without anyone who waits for the start, nobody needs its warm-up. */
  #leave() {
    this.#waiting -= 1;
    if (this.#waiting === 0) this.#warmup?.cancel();
  }

  /** @param {AbortSignal | undefined} signal */
  async #untilStarted(signal) {
    const ends = this.#ends;
    for (;;) {
      try {
        await this.#ensureRunning();
        return ends === this.#ends;
      } catch (error) {
        if (ends !== this.#ends) return false;
        // Cancelled for those who left: whoever came meanwhile starts again.
        if (!(error instanceof WarmupCancelled) || signal?.aborted) throw error;
      }
    }
  }

  #ensureRunning() {
    this.#impatient = true;
    try {
      return this.ensureRunning();
    } finally {
      this.#impatient = false;
    }
  }

  #refuseIfClosed() {
    if (this.#closed) throw new SandboxNotReadyError(this.id);
  }

  /**
   * Writes files into the session, each whole or not at all.
   *
   * @param {import('../index.js').SandboxFileInput[]} files
   * @param {import('../index.js').FileTransferOptions} [options]
   */
  async writeFiles(files, options) {
    for (const { mode } of files) if (mode !== undefined) checkMode(mode);
    await this.#transfer('writeFiles', options, (transfers, given) =>
      transfers.write(files.map(file => ({ ...file, path: this.#pathOf(file.path) })), given),
    );
  }

  /**
   * The bytes of a file of the session, or its text.
   *
   * @param {string} path
   * @param {import('../index.js').FileTransferOptions & { encoding?: BufferEncoding }} [options]
   */
  async readFile(path, options) {
    const bytes = await this.#transfer('readFile', options, (transfers, given) =>
      transfers.read(this.#pathOf(path), given),
    );
    return /** @type {any} */ (options?.encoding ? bytes.toString(options.encoding) : bytes);
  }

  /**
   * Copies a file of the session into a file here, or a stream.
   *
   * @param {string} path
   * @param {string | import('node:stream').Writable} destination
   * @param {import('../index.js').FileTransferOptions} [options]
   */
  async downloadFile(path, destination, options) {
    await this.#transfer('downloadFile', options, (transfers, given) =>
      transfers.download(this.#pathOf(path), destination, given),
    );
  }

  /** @param {string} path */
  #pathOf(path) {
    return pathIn(path, this.workingDirectory);
  }

  /**
   * @template T
   * @param {string} operation
   * @param {import('../index.js').FileTransferOptions | undefined} options
   * @param {(transfers: import('./files.js').Files, options: import('./files.js').TransferOptions) => Promise<T>} run
   */
  async #transfer(operation, { abortSignal: signal, onProgress } = {}, run) {
    this.#refuseIfClosed();
    const { Files } = await import('./files.js');
    try {
      if (signal?.aborted || !(await this.#running(signal))) throw abortError(operation, signal);
      return await run(Files.of(this.#engine), { signal, onProgress });
    } catch (error) {
      throw error?.name === 'AbortError' ? abortError(operation, signal) : error;
    } finally {
      this.#lastUsedAt = new Date();
    }
  }

  /**
   * An independent sibling with this one's configuration, in a session of its own. Makes no
   * request.
   *
   * @param {import('@mastra/core/workspace').SandboxCloneOptions} [options]
   */
  clone({ id, sandboxId, env, workingDirectory } = {}) {
    const { stopClientToken: _, ...given } = this.#given;
    const Class = /** @type {typeof AgentCoreRuntimeSandbox} */ (this.constructor);
    const sibling = new Class({
      ...given,
      runtimeSessionId: sandboxId ?? (id && (isSessionId(id) ? id : runtimeSessionIdFrom(id))),
      env: env ?? this.getEnv(),
      workingDirectory: workingDirectory ?? this.workingDirectory,
      // As they are now: setOnStart may have replaced it.
      onStart: /** @type {any} */ (this)._onStart,
    });
    if (id) sibling.id = id;
    return sibling;
  }

  /** Stops the runtime session, whatever `stopSessionOnLifecycle` says. */
  async stopRuntimeSession() {
    try {
      await this.#engine.stopSession();
    } finally {
      // After destroy() nobody else would give back the share that this took.
      if (this.#closed) this.#engine.release();
    }
  }

  async stop() {
    this.#end();
    if (this.#stopSessionOnLifecycle) await this.#engine.stopSession();
  }

  async destroy() {
    this.#closed = true;
    this.#unlisten();
    this.#end();
    try {
      await this.#engine.settleKills();
      if (this.#stopSessionOnLifecycle && !this.#sessionStopped) {
        await this.#engine.stopSession();
        this.#sessionStopped = true;
      }
    } finally {
      this.#engine.release();
    }
  }

  /** Ends what runs, or waits for the start, as its own signal would. */
  #end() {
    this.#endStart();
    this.#processes?.detach();
    this.#engine.abortAll();
  }

  #endStart() {
    this.#ends += 1;
    this.#warmup?.cancel();
  }

  /** The base class waits for a start that is under way: not for its warm-up. */
  async _stop() {
    this.#endStart();
    await super._stop();
  }

  /**
   * The base class calls our destroy() only from some states, and not when its hook throws;
   * our share in the client goes back all the same.
   */
  async _destroy() {
    this.#endStart();
    try {
      await super._destroy();
    } finally {
      this.#engine.release();
    }
  }

  async getInfo() {
    return {
      id: this.id,
      name: this.name,
      provider: this.provider,
      status: this.status,
      createdAt: this.#createdAt,
      lastUsedAt: this.#lastUsedAt,
      metadata: {
        agentRuntimeArn: this.agentRuntimeArn,
        runtimeSessionId: this.#runtimeSessionId,
        qualifier: this.#options.qualifier ?? 'DEFAULT',
        stopSessionOnLifecycle: this.#stopSessionOnLifecycle,
      },
    };
  }

  /** @param {{ requestContext?: unknown }} [given] */
  getInstructions(given) {
    return instructions(this.#instructions, given);
  }
}

/**
 * Mastra's own error where it has one: names newer than 1.64.
 *
 * @param {string} operation
 * @param {AbortSignal | undefined} signal
 */
function abortError(operation, signal) {
  const Newer = /** @type {any} */ (workspace).SandboxAbortError;
  if (Newer) return new Newer(operation, signal?.reason);
  const error = new workspace.SandboxError(`Sandbox operation aborted: ${operation}`, 'ABORTED', { operation });
  error.name = 'SandboxAbortError';
  return error;
}

/** @param {unknown} mode */
function checkMode(mode) {
  const validate = /** @type {any} */ (workspace).validateSandboxFileMode;
  if (validate) validate(mode);
  else if (!Number.isInteger(mode) || Number(mode) < 0o001 || Number(mode) > 0o777) {
    throw new workspace.SandboxError(
      `Invalid file mode ${mode}: it must be an integer from 0o001 to 0o777`,
      'INVALID_ARGUMENT',
    );
  }
}
