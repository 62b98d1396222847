/**
 * `mastra-agentcore/native`: the addon's classes without Mastra. No module of Mastra is
 * loaded by this one.
 */
import binding from './addon.js';
import { AgentCoreRuntimeClient } from './client.js';
import { checkCommand, checkEnv, resolveOptions } from './options.js';

export { AgentCoreRuntimeClient };

/** Runs commands in one session of one runtime. */
export class AgentCoreRuntimeSandbox {
  #options;
  /** @type {Promise<import('./engine.js').Engine> | undefined} */
  #engine;
  #env;
  #closed = false;

  /** @param {import('../native.js').AgentCoreRuntimeSandboxOptions} options */
  constructor(options) {
    this.#options = resolveOptions(options);
    this.#env = checkEnv(options.env);
    this.runtimeSessionId = this.#options.runtimeSessionId ?? binding.randomUuid();
  }

  /** Loaded with the first thing to do. */
  #started() {
    this.#engine ??= Promise.all([import('./engine.js'), import('./errors.js')]).then(
      ([{ Engine }, { plainError }]) => new Engine(this.#options, this.runtimeSessionId, plainError),
    );
    return this.#engine;
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
    const engine = await this.#started();
    const prepared = engine.prepare(checked, this.#env, this.#options.workingDirectory);
    if (checked.signal?.aborted || this.#closed) return engine.aborted(prepared);
    return engine.run(prepared);
  }

  /**
   * @param {import('../native.js').FileInput[]} files
   * @param {import('../native.js').FileTransferOptions} [options]
   */
  async writeFiles(files, options) {
    const { transfers, pathOf } = await this.#files();
    await transfers.write(files.map(file => ({ ...file, path: pathOf(file.path) })), given(options));
  }

  /**
   * @param {string} path
   * @param {import('../native.js').FileTransferOptions & { encoding?: BufferEncoding }} [options]
   */
  async readFile(path, options) {
    const { transfers, pathOf } = await this.#files();
    const bytes = await transfers.read(pathOf(path), given(options));
    return /** @type {any} */ (options?.encoding ? bytes.toString(options.encoding) : bytes);
  }

  /**
   * @param {string} path
   * @param {string | import('node:stream').Writable} destination
   * @param {import('../native.js').FileTransferOptions} [options]
   */
  async downloadFile(path, destination, options) {
    const { transfers, pathOf } = await this.#files();
    await transfers.download(pathOf(path), destination, given(options));
  }

  async #files() {
    if (this.#closed) throw new Error('[AgentCoreRuntimeSandbox] the sandbox is closed');
    const [engine, { Files }, { pathIn }] = await Promise.all([
      this.#started(),
      import('./files.js'),
      import('./words.js'),
    ]);
    /** @param {string} path */
    const pathOf = path => pathIn(path, this.workingDirectory);
    return { transfers: Files.of(engine), pathOf };
  }

  /** Stops the session; one that is gone counts as stopped. */
  async stopRuntimeSession() {
    const engine = await this.#started();
    await engine.stopSession();
  }

  /** Ends running commands as if aborted, waits for their kills, and refuses new ones. */
  async close() {
    this.#closed = true;
    const engine = await this.#engine;
    engine?.abortAll();
    await engine?.settleKills();
    engine?.release();
  }
}

/** @param {import('../native.js').FileTransferOptions} [options] */
const given = ({ abortSignal, onProgress } = {}) => ({ signal: abortSignal, onProgress });
