/**
 * `mastra-agentcore/local`: a local AgentCore Runtime for development and tests.
 *
 * IT ISOLATES NOTHING. Commands run as you, on this machine, with your files.
 */
import binding from './addon.js';

/** Killed with the process, should it exit without stop(). */
const running = new Set();
let hooked = false;

function killAll() {
  for (const runtime of running) runtime.killAllSync();
}

/** A server on 127.0.0.1 that speaks the service's protocol and runs real processes. */
export class LocalAgentCoreRuntime {
  #runtime;

  /** @param {InstanceType<typeof binding.BindingLocalRuntime>} runtime */
  constructor(runtime) {
    this.#runtime = runtime;
  }

  /** @param {import('../local.js').LocalAgentCoreRuntimeOptions} [options] */
  static async start({ env, ...options } = {}) {
    if (!['linux', 'darwin'].includes(process.platform)) {
      throw new Error(
        `LocalAgentCoreRuntime needs Linux or macOS: it ends commands by process groups, which ${process.platform} does not have`,
      );
    }
    const { port } = options;
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
      throw new RangeError(`LocalAgentCoreRuntime: port must be an integer from 0 to 65535, not ${port}`);
    }
    const runtime = await binding.BindingLocalRuntime.start({
      ...options,
      env: env && Object.entries(env),
    });
    running.add(runtime);
    if (!hooked) {
      hooked = true;
      process.on('exit', killAll);
    }
    return new this(runtime);
  }

  get endpoint() {
    return this.#runtime.endpoint;
  }

  get region() {
    return this.#runtime.region;
  }

  get agentRuntimeArn() {
    return this.#runtime.agentRuntimeArn;
  }

  get credentials() {
    return this.#runtime.credentials;
  }

  /** What a sandbox needs to reach this runtime. */
  get sandboxOptions() {
    const { agentRuntimeArn, region, endpoint, credentials } = this;
    return { agentRuntimeArn, region, endpoint, credentials };
  }

  /** @param {import('../local.js').LocalFault} fault */
  inject(fault) {
    this.#runtime.inject(fault);
  }

  requests() {
    return this.#runtime.requests();
  }

  sessions() {
    return this.#runtime.sessions();
  }

  async stop() {
    running.delete(this.#runtime);
    await this.#runtime.stop();
  }

  async [Symbol.asyncDispose ?? Symbol.for('nodejs.asyncDispose')]() {
    await this.stop();
  }
}
