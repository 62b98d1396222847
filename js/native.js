/**
 * `mastra-agentcore/native`: the addon's classes without Mastra. No module of Mastra is
 * loaded by this one.
 */
import binding from './addon.js';
import { AgentCoreRuntimeClient } from './client.js';
import { Engine } from './engine.js';
import { plainError } from './errors.js';
import { checkCommand, checkEnv, resolveOptions } from './options.js';
import { pathIn } from './words.js';

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

  /**
   * @param {import('../native.js').FileInput[]} files
   * @param {import('../native.js').FileTransferOptions} [options]
   */
  async writeFiles(files, options) {
    const transfers = await this.#files();
    await transfers.write(files.map(file => ({ ...file, path: this.#pathOf(file.path) })), given(options));
  }

  /**
   * @param {string} path
   * @param {import('../native.js').FileTransferOptions & { encoding?: BufferEncoding }} [options]
   */
  async readFile(path, options) {
    const bytes = await (await this.#files()).read(this.#pathOf(path), given(options));
    return /** @type {any} */ (options?.encoding ? bytes.toString(options.encoding) : bytes);
  }

  /**
   * @param {string} path
   * @param {string | import('node:stream').Writable} destination
   * @param {import('../native.js').FileTransferOptions} [options]
   */
  async downloadFile(path, destination, options) {
    await (await this.#files()).download(this.#pathOf(path), destination, given(options));
  }

  async #files() {
    if (this.#closed) throw new Error('[AgentCoreRuntimeSandbox] the sandbox is closed');
    const { Files } = await import('./files.js');
    return Files.of(this.#engine);
  }

  /** @param {string} path */
  #pathOf(path) {
    return pathIn(path, this.workingDirectory);
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

/** @param {import('../native.js').FileTransferOptions} [options] */
const given = ({ abortSignal, onProgress } = {}) => ({ signal: abortSignal, onProgress });
