/**
 * `mastra-agentcore`: Mastra Workspace commands in AWS Bedrock AgentCore Runtime sessions.
 */
import type { Writable } from 'node:stream';
import type {
  CommandResult as MastraCommandResult,
  ExecuteCommandOptions as MastraExecuteCommandOptions,
  MastraSandboxOptions,
  ProcessHandle,
  ProcessInfo,
  ProviderStatus,
  SandboxCloneOptions,
  SandboxInfo,
  SandboxProcessManager,
  SpawnProcessOptions as MastraSpawnProcessOptions,
} from '@mastra/core/workspace';
import { MastraSandbox, SandboxError } from '@mastra/core/workspace';
import type {
  AgentCoreErrorFacts,
  AgentCoreRuntimeOptions,
  CommandResult,
  FileInput,
  FileTransferOptions,
} from './native.js';

export { AgentCoreRuntimeClient } from './native.js';
export type {
  AgentCoreRuntimeClientOptions,
  AwsCredentials,
  CommandResult,
  FileInput,
  FileTransferOptions,
  SdkClient,
  TraceHeaders,
} from './native.js';
export type { FileInput as SandboxFileInput } from './native.js';

/** Mastra's options of a command, and ours. */
export interface ExecuteCommandOptions extends MastraExecuteCommandOptions {
  /** Survives its connection, and may take up to 28,800,000 ms. Default: the sandbox's. */
  resumable?: boolean;
}

/** Mastra's options of a process. */
export interface SpawnProcessOptions extends MastraSpawnProcessOptions {
  /**
   * `ignore`: its stdin is at its end. Default: `pipe`, what `sendStdin` and `writer` feed.
   */
  stdinMode?: 'pipe' | 'ignore';
}

/** Options of the sandbox: those of the runtime, and Mastra's own but `processes`. */
export interface AgentCoreRuntimeSandboxOptions
  extends AgentCoreRuntimeOptions,
    Omit<MastraSandboxOptions, 'processes'> {
  /** Stop the runtime session on `stop()` and `destroy()`. Default: false. */
  stopSessionOnLifecycle?: boolean;
  /**
   * What `getInstructions()` gives: a text (an empty one counts), or a function of the default
   * text and the request's context.
   */
  instructions?:
    | string
    | ((given: { defaultInstructions: string; requestContext?: unknown }) => string);
  /**
   * As part of every start, before `onStart`, runs `/bin/true` until it is answered, through
   * the 409, 424 and 500 of a cold start, within `commandTimeout`. All who wait share it; it
   * ends when nobody waits any more. Default: false.
   */
  warmup?: boolean;
  /**
   * Leaves a file in the session at `start()`, whose outcome then is `created` or `connected`, and
   * lets no command run in a microVM without it: one that took the place of an idled session is
   * the error `SESSION_REPLACED`, not an empty disk. Costs a command at each start. Not with
   * `shell: false`. Default: false.
   */
  requireExistingSession?: boolean;
  /**
   * Gives the sandbox a process manager, `processes`. Its processes live in the session: they
   * outlive a dropped connection and this Node process, as long as the session does, and any
   * sandbox on it finds them. Not with `shell: false`. Default: false.
   */
  processes?: boolean;
  /**
   * Passes what the core does (tries, answers, kills, ends) to the sandbox's logger, at debug.
   * Default: false.
   */
  nativeLogs?: boolean;
}

/** A process of the session. */
export interface AgentCoreProcessHandle extends ProcessHandle {
  /** Bytes of output seen, for `processes.get(pid, { after })`. */
  readonly position: { stdout: number; stderr: number };
  sendStdin(data: string | Uint8Array): Promise<void>;
}

/** The processes of a session, with `processes: true`. */
export interface AgentCoreProcessManager extends SandboxProcessManager {
  /**
   * Starts a process. A retry of ours never starts it twice.
   *
   * @throws AgentCoreError `PROCESS_FAILED`, `TOOL_MISSING`
   */
  spawn(command: string, options?: SpawnProcessOptions): Promise<AgentCoreProcessHandle>;
  /** All of the session, those that other sandboxes started included. */
  list(): Promise<ProcessInfo[]>;
  /**
   * A process of the session. One that this sandbox did not start is read from its first byte, or
   * from `after`: each byte once.
   */
  get(
    pid: string,
    options?: { after?: { stdout: number; stderr: number } },
  ): Promise<AgentCoreProcessHandle | undefined>;
}

/** A Mastra sandbox whose commands run in an AgentCore Runtime session. */
export class AgentCoreRuntimeSandbox extends MastraSandbox {
  /**
   * @throws Error without `agentRuntimeArn`
   * @throws TypeError or RangeError that names the option that is wrong
   */
  constructor(options: AgentCoreRuntimeSandboxOptions);
  /** The runtime session's id. */
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  status: ProviderStatus;
  readonly runtimeSessionId: string;
  readonly agentRuntimeArn: string;
  /** The session's background processes; only with `processes: true`. */
  readonly processes?: AgentCoreProcessManager;
  /**
   * Runs a command. Without `args`, `command` is shell text; with them, each arrives as it is.
   * A callback may return a promise, which is waited for before the next piece.
   *
   * @throws TypeError or RangeError for bad input, before any request
   * @throws SandboxNotReadyError once `destroy()` began
   * @throws AgentCoreError where the command's end is not known
   */
  executeCommand(
    command: string,
    args?: string[],
    options?: ExecuteCommandOptions,
  ): Promise<CommandResult & MastraCommandResult>;
  /**
   * Writes files into the session: in chunks, checked where the image has `sha256sum`, each whole
   * or not at all.
   *
   * @throws AgentCoreError `FILE_FAILED` that names the file, or `TOOL_MISSING`
   * @throws SandboxAbortError (code `ABORTED`) after an abort
   */
  writeFiles(files: FileInput[], options?: FileTransferOptions): Promise<void>;
  /** A file's bytes. @throws as `writeFiles` */
  readFile(path: string, options?: FileTransferOptions & { encoding?: undefined }): Promise<Buffer>;
  /** A file's text. @throws as `writeFiles` */
  readFile(path: string, options: FileTransferOptions & { encoding: BufferEncoding }): Promise<string>;
  /**
   * Copies a file of the session into a file here (whole or not at all) or a stream, which is not
   * ended.
   *
   * @throws as `writeFiles`
   */
  downloadFile(path: string, destination: string | Writable, options?: FileTransferOptions): Promise<void>;
  /**
   * An independent sibling with this one's options, hooks and environment, in a session of its
   * own: `sandboxId`, else `id` if that can be a session's, else `runtimeSessionIdFrom(id)`, else
   * a new one. `env` and `workingDirectory` replace; what is said of idling and checkpoints counts
   * for nothing. Makes no request; shares the client.
   */
  clone(options?: SandboxCloneOptions): AgentCoreRuntimeSandbox;
  /** Stops the runtime session, whatever `stopSessionOnLifecycle` says. */
  stopRuntimeSession(): Promise<void>;
  getInfo(): Promise<SandboxInfo>;
  getInstructions(given?: { requestContext?: unknown }): string;
}

/** A command, or a session's stop, that failed. Its message alone says what to do. */
export class AgentCoreError extends SandboxError implements AgentCoreErrorFacts {
  readonly name: 'AgentCoreError';
  readonly code: string;
  readonly httpStatusCode?: number;
  readonly requestId?: string;
  readonly retryable: boolean;
  readonly mayHaveRun: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A valid session id, the same for the same seed: for a conversation's id, say.
 *
 * @throws TypeError for an empty seed
 */
export function runtimeSessionIdFrom(seed: string): string;

/** What Mastra's Editor may configure. */
export interface AgentCoreRuntimeProviderConfig {
  region?: string;
  agentRuntimeArn: string;
  runtimeSessionId?: string;
  qualifier?: string;
  commandTimeout?: number;
  stopSessionOnLifecycle?: boolean;
}

/** Describes this sandbox to Mastra's Editor. */
export const agentCoreRuntimeSandboxProvider: {
  id: 'agentcore';
  name: string;
  description: string;
  configSchema: Record<string, unknown>;
  createSandbox(config: AgentCoreRuntimeProviderConfig): AgentCoreRuntimeSandbox;
};
