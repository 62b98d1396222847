/**
 * The Mastra class: lifecycle, environment and directory of a Workspace's sandbox, over the
 * engine that runs commands. What a command is and does lives below.
 */
import { MastraSandbox, SandboxNotReadyError } from '@mastra/core/workspace';
import binding from './addon.js';
import { AgentCoreError } from './agentcore-error.js';
import { Engine } from './engine.js';
import { instructions } from './instructions.js';
import { checkCommand, resolveOptions } from './options.js';
import { subscribe } from './signals.js';
import { Warmup, WarmupCancelled } from './warmup.js';

const NAME = 'AgentCoreRuntimeSandbox';

export class AgentCoreRuntimeSandbox extends MastraSandbox {
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

  /** @param {import('../index.js').AgentCoreRuntimeSandboxOptions} options */
  constructor(options) {
    const resolved = resolveOptions(options);
    if ('requireExistingSession' in options && options.requireExistingSession) {
      throw new Error(`[${NAME}] requireExistingSession is not available in this version`);
    }
    super({
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
  }

  get runtimeSessionId() {
    return this.#runtimeSessionId;
  }

  get agentRuntimeArn() {
    return this.#options.agentRuntimeArn;
  }

  /** Makes no request, but with `warmup`. Its outcome is unknown. */
  async start() {
    this.#refuseIfClosed();
    await this.#warmup?.run();
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
