/**
 * `mastra-agentcore/native`: the addon's classes without Mastra. No module of Mastra is
 * loaded by this one.
 */
import binding from './addon.js';
import { AgentCoreRuntimeClient } from './client.js';
import { Engine } from './engine.js';
import { plainError } from './errors.js';
import { checkCommand, checkEnv, resolveOptions } from './options.js';

export { AgentCoreRuntimeClient };

/** Runs commands in one session of one runtime. */
export class AgentCoreRuntimeSandbox {
  #options;
  #engine;
  #env;
  #closed = false;

  /** @param {import('../native.js').AgentCoreRuntimeSandboxOptions} options */
  constructor(options) {
    this.#options = resolveOptions(options);
    this.#env = checkEnv(options.env);
    this.runtimeSessionId = this.#options.runtimeSessionId ?? binding.randomUuid();
    this.#engine = new Engine(this.#options, this.runtimeSessionId, plainError);
  }

  get agentRuntimeArn() {
    return this.#options.agentRuntimeArn;
  }

  get workingDirectory() {
    return this.#options.workingDirectory;
  }

  /**
   * @param {string} command
   * @param {string[]} [args]
   * @param {import('../native.js').ExecuteCommandOptions} [options]
   */
  async executeCommand(command, args, options) {
    if (this.#closed) throw new Error('[AgentCoreRuntimeSandbox] the sandbox is closed');
    const checked = checkCommand(command, args, options, this.#options);
    const prepared = this.#engine.prepare(checked, this.#env, this.#options.workingDirectory);
    if (checked.signal?.aborted) return this.#engine.aborted(prepared);
    return this.#engine.run(prepared);
  }

  /** Stops the session; one that is gone counts as stopped. */
  async stopRuntimeSession() {
    await this.#engine.stopSession();
  }

  /** Ends running commands as if aborted, waits for their kills, and refuses new ones. */
  async close() {
    this.#closed = true;
    this.#engine.abortAll();
    await this.#engine.settleKills();
    this.#engine.release();
  }
}
