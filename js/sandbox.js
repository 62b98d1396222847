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

const NAME = 'AgentCoreRuntimeSandbox';

export class AgentCoreRuntimeSandbox extends MastraSandbox {
  name = NAME;
  provider = 'agentcore';
  status = 'pending';
  #options;
  #instructions;
  #stopSessionOnLifecycle;
  #warmup;
  /** @type {Promise<void> | undefined} */
  #warm;
  #engine;
  #createdAt = new Date();
  /** @type {Date | undefined} */
  #lastUsedAt;
  /** Set when our destroy() begins, and never again: the base class forgets. */
  #closed = false;
  #sessionStopped = false;

  /** @param {import('../index.js').AgentCoreRuntimeSandboxOptions} options */
  constructor(options) {
    const resolved = resolveOptions(options);
    if (options.requireExistingSession) {
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
    this.#warmup = options.warmup ?? false;
    this.id = resolved.runtimeSessionId ?? binding.randomUuid();
    this.#engine = new Engine(
      resolved,
      this.id,
      (failure, output, cause) => new AgentCoreError(failure, output, cause),
    );
  }

  get runtimeSessionId() {
    return this.id;
  }

  get agentRuntimeArn() {
    return this.#options.agentRuntimeArn;
  }

  async start() {}

  async executeCommand(command, args, options) {
    this.#refuseIfClosed();
    const checked = checkCommand(command, args, options, this.#options);
    const { signal } = checked;
    const running = signal?.aborted || !(await this.#running(signal));
    if (running) return this.#engine.aborted(this.#prepare(checked));
    this.#refuseIfClosed();
    const prepared = this.#prepare(checked);
    if (signal?.aborted) return this.#engine.aborted(prepared);
    this.logger.debug(`[${NAME}] Executing command`, {
      runtimeSessionId: this.id,
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

  /** @returns {Promise<boolean>} false when the signal came first */
  async #running(signal) {
    const ready = this.ensureRunning().then(() => this.#warmUp(signal));
    if (!signal) {
      await ready;
      return true;
    }
    let unsubscribe = () => {};
    const aborted = new Promise(resolve => {
      unsubscribe = subscribe(signal, () => resolve(false));
    });
    try {
      return await Promise.race([ready.then(() => true), aborted]);
    } finally {
      unsubscribe();
      // A start that fails after the abort has nobody to tell.
      ready.catch(() => {});
    }
  }

  /** With `warmup`, runs `/bin/true` once, until it is answered. */
  async #warmUp(signal) {
    if (!this.#warmup) return;
    this.#warm ??= this.#untilAnswered(signal).catch(error => {
      this.#warm = undefined;
      throw error;
    });
    await this.#warm;
  }

  async #untilAnswered(signal) {
    const deadline = performance.now() + this.#options.commandTimeout;
    const checked = checkCommand('/bin/true', [], { abortSignal: signal }, this.#options);
    for (let pause = 200; ; pause = Math.min(pause * 2, 5_000)) {
      try {
        await this.#engine.run(this.#engine.prepare(checked, {}, undefined));
        return;
      } catch (error) {
        const starting = [409, 424].includes(error.httpStatusCode) || error.httpStatusCode >= 500;
        if (!starting || signal?.aborted || performance.now() + pause > deadline) throw error;
        await new Promise(resolve => setTimeout(resolve, pause));
      }
    }
  }

  #refuseIfClosed() {
    if (this.#closed) throw new SandboxNotReadyError(this.id);
  }

  /** Stops the runtime session, whatever `stopSessionOnLifecycle` says. */
  async stopRuntimeSession() {
    await this.#engine.stopSession();
  }

  async stop() {
    this.#engine.abortAll();
    this.#warm = undefined;
    if (this.#stopSessionOnLifecycle) await this.#engine.stopSession();
  }

  async destroy() {
    this.#closed = true;
    this.#engine.abortAll();
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

  /**
   * The base class calls our destroy() only from some states, and not when its hook throws;
   * our share in the client goes back all the same.
   */
  async _destroy() {
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
        runtimeSessionId: this.runtimeSessionId,
        qualifier: this.#options.qualifier ?? 'DEFAULT',
        stopSessionOnLifecycle: this.#stopSessionOnLifecycle,
      },
    };
  }

  getInstructions(given) {
    return instructions(this.#instructions, given);
  }
}
