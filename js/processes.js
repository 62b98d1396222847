/**
 * The option `processes`: Mastra's process manager over processes that live in the session. They
 * outlive the command that started them, a broken connection, and this Node process; any sandbox
 * on the session finds them again.
 */
import { ProcessHandle, SandboxProcessManager } from '@mastra/core/workspace';
import binding from './addon.js';
import { checkCommand, DEFAULT_TIMEOUT_MS, timeoutSeconds } from './options.js';
import { Follower } from './follower.js';
import {
  CLOSED,
  closeScript,
  ENDED,
  GONE,
  killedScript,
  listScript,
  releaseScript,
  sentScript,
  writeScript,
} from './process-scripts.js';
import { notStarted, startProcess } from './process-start.js';
import { toolsOf } from './tools.js';

const PID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIMED_OUT = 124;
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * What the manager needs of its sandbox.
 *
 * @typedef {object} Host
 * @property {import('./engine.js').Engine} engine
 * @property {ReturnType<typeof import('./options.js').resolveOptions>} options
 * @property {() => string | undefined} workingDirectory
 * @property {() => void} refuseIfClosed
 * @property {string} id
 */

export class AgentCoreProcessManager extends SandboxProcessManager {
  /** @type {Host} */
  // @ts-expect-error attach() follows at once
  #host;

  /**
   * Before that, the base class has the manager but no sandbox to run it.
   *
   * @param {Host} host
   */
  attach(host) {
    this.#host = host;
    return this;
  }

  /**
   * @param {string} command
   * @param {import('../index.js').SpawnProcessOptions} [options]
   */
  async spawn(command, options = {}) {
    const host = this.#host;
    host.refuseIfClosed();
    const { engine } = host;
    const { timeout, abortSignal: _, ...rest } = options;
    // It may take longer than a command.
    if (timeout !== undefined) timeoutSeconds(timeout, Infinity);
    const checked = checkCommand(command, [], { ...rest, timeout: undefined }, {
      ...host.options,
      commandTimeout: DEFAULT_TIMEOUT_MS,
    });
    const prepared = engine.prepare(checked, {}, host.workingDirectory());
    const pid = binding.randomUuid();
    const stdin = options.stdinMode !== 'ignore';
    const noDirectory = await startProcess(engine, prepared, { pid, displayed: command, stdin });
    if (noDirectory) throw notStarted(engine, noDirectory);
    const handle = new AgentCoreProcess(host, { pid, stdin, sent: 0, startedAt: Date.now() }, options);
    handle.command = command;
    this._tracked.set(pid, handle);
    return handle;
  }

  /** All processes of the session, those of other sandboxes on it included. */
  async list() {
    this.#host.refuseIfClosed();
    const found = await this.#find();
    return found
      .filter(({ pid }) => !this._dismissed.has(pid))
      .map(({ pid, exitCode, command }) => {
        const known = this._tracked.get(pid)?.exitCode ?? exitCode;
        return { pid, command, running: known === undefined, exitCode: known };
      });
  }

  /**
   * A process of the session. One that this sandbox did not start is read from its first byte,
   * or from `after`.
   *
   * @param {string} pid
   * @param {{ after?: { stdout: number, stderr: number } }} [options]
   */
  async get(pid, options) {
    this.#host.refuseIfClosed();
    const tracked = this._tracked.get(pid);
    if (tracked || !PID.test(pid)) return tracked;
    const [found] = await this.#find(pid);
    if (!found) return undefined;
    const handle = new AgentCoreProcess(this.#host, found, {}, options?.after);
    handle.command = found.command;
    this._tracked.set(pid, handle);
    return handle;
  }

  /**
   * Forgets a process that has ended, and what the session keeps of it.
   *
   * @param {string} pid
   */
  release(pid) {
    super.release(pid);
    const { engine } = this.#host;
    if (PID.test(pid)) engine.behind(engine.script(releaseScript(pid), { idempotent: true }));
  }

  /** Ends what reads; the processes themselves stay. */
  detach() {
    for (const handle of this._tracked.values()) {
      if (handle instanceof AgentCoreProcess) handle.detach();
    }
  }

  async #find(pid) {
    const { engine } = this.#host;
    const { stdout, exitCode, stderr } = await engine.script(listScript(pid), { idempotent: true });
    if (exitCode !== 0) throw new Error(`[AgentCoreRuntimeSandbox] the processes cannot be listed: ${stderr.trim()}`);
    return stdout
      .split('\n')
      .filter(Boolean)
      .map(line => {
        const [id, code, started, stdin, command = ''] = line.split(' ');
        return {
          pid: id,
          exitCode: code === '-' ? undefined : Number(code),
          startedAt: Number(started) * 1000,
          stdin: stdin === 'in',
          sent: undefined,
          command: Buffer.from(command, 'base64').toString(),
        };
      });
  }
}

/** A process of the session, and what it prints from now on. */
class AgentCoreProcess extends ProcessHandle {
  pid;
  /** @type {number | undefined} */
  exitCode;
  #host;
  #follower;
  #stdin;
  /** Bytes sent to its stdin; asked for where another process may have sent some. */
  #sent;
  /** Writes go one after the other. */
  #writes = Promise.resolve();
  #closed = false;
  #startedAt;
  #killed = false;
  #timedOut = false;
  #result;
  #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };

  /**
   * @param {Host} host
   * @param {{ pid: string, stdin: boolean, sent: number | undefined, startedAt: number }} found
   * @param {import('../index.js').SpawnProcessOptions} options
   * @param {{ stdout: number, stderr: number }} [after]
   */
  constructor(host, found, options, after) {
    super(options);
    this.pid = found.pid;
    this.#host = host;
    this.#stdin = found.stdin;
    this.#sent = found.sent;
    this.#startedAt = found.startedAt;
    const emit = { stdout: text => this.emitStdout(text), stderr: text => this.emitStderr(text) };
    this.#follower = new Follower(
      host.engine,
      found.pid,
      (stream, bytes) => {
        const text = this.#decoders[stream].decode(bytes, { stream: true });
        if (text) emit[stream](text);
      },
      after,
    );
    this.#result = this.#follow(emit, options.timeout);
    // Nobody need wait for it.
    this.#result.catch(() => {});
  }

  /** Bytes of output seen so far, for `processes.get(pid, { after })`. */
  get position() {
    return this.#follower.position;
  }

  async #follow(emit, timeout) {
    const timer =
      timeout === undefined
        ? undefined
        : setTimeout(() => {
            this.#timedOut = true;
            this.kill().catch(() => {});
          }, Math.min(timeout, MAX_TIMER_MS));
    try {
      const exitCode = await this.#follower.run();
      if (exitCode === undefined) {
        throw this.#host.engine.failure({
          name: 'ProcessError',
          code: 'PROCESS_FAILED',
          message: 'the sandbox was stopped or destroyed; the process may still run, until its session ends',
          retryable: false,
          mayHaveRun: true,
        });
      }
      for (const stream of /** @type {const} */ (['stdout', 'stderr'])) {
        const rest = this.#decoders[stream].decode();
        if (rest) emit[stream](rest);
      }
      this.exitCode = this.#timedOut ? TIMED_OUT : exitCode;
    } catch (error) {
      // What a listener threw ends the process, as it ends a command.
      if (error?.mayHaveRun === undefined) this.kill().catch(() => {});
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async wait() {
    await this.#result;
    const exitCode = /** @type {number} */ (this.exitCode);
    return {
      success: exitCode === 0,
      exitCode,
      stdout: this.stdout,
      stderr: this.stderr,
      executionTimeMs: Date.now() - this.#startedAt,
      timedOut: this.#timedOut,
      killed: this.#killed,
      command: this.command,
    };
  }

  /** Kills the process and all that it started. */
  async kill() {
    if (this.exitCode !== undefined) return false;
    const { engine } = this.#host;
    this.#killed = true;
    await engine.killMarked(this.pid);
    const { exitCode } = await engine.script(killedScript(this.pid), { idempotent: true });
    return exitCode !== GONE;
  }

  /** @param {string | Uint8Array} data */
  async sendStdin(data) {
    this.#refuseWithoutStdin();
    const bytes = Buffer.from(data);
    await this.#inTurn(async () => {
      const { engine } = this.#host;
      const tools = await toolsOf(engine);
      this.#sent ??= await this.#askSent();
      // Less than a command carries: the script has its share, too.
      for (let at = 0; at < bytes.length; at += tools.chunk - 6_000) {
        const chunk = bytes.subarray(at, at + tools.chunk - 6_000);
        this.#explain(await engine.script(writeScript(this.pid, this.#sent, chunk, tools), { idempotent: true }));
        this.#sent += chunk.length;
      }
    });
  }

  async closeStdin() {
    this.#refuseWithoutStdin();
    if (this.#closed) return;
    this.#closed = true;
    await this.#inTurn(async () => {
      this.#explain(await this.#host.engine.script(closeScript(this.pid), { idempotent: true }));
    });
  }

  detach() {
    this.#follower.stop();
  }

  async #askSent() {
    const asked = await this.#host.engine.script(sentScript(this.pid), { idempotent: true });
    this.#explain(asked);
    return Number(asked.stdout);
  }

  #inTurn(task) {
    const turn = this.#writes.then(task);
    this.#writes = turn.catch(() => {});
    return turn;
  }

  #refuseWithoutStdin() {
    if (this.exitCode !== undefined) {
      throw new Error(`Process ${this.pid} has already exited with code ${this.exitCode}`);
    }
    if (!this.#stdin) throw new Error(`Process ${this.pid} does not have stdin available`);
  }

  #explain({ exitCode, stderr }) {
    switch (exitCode) {
      case 0:
        return;
      case GONE:
        throw new Error(`Process ${this.pid} is not in the session any more`);
      case ENDED:
        throw new Error(`Process ${this.pid} has already exited`);
      case CLOSED:
        throw new Error(`Process ${this.pid} does not have stdin available: it was closed`);
      default:
        throw new Error(
          `Process ${this.pid} was not sent all of its input (exit code ${exitCode}); does somebody else write to it? ${stderr.trim()}`.trim(),
        );
    }
  }
}
