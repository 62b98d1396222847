/**
 * `mastra-agentcore`: Mastra Workspace commands in AWS Bedrock AgentCore Runtime sessions.
 */
import type {
  CommandResult as MastraCommandResult,
  ExecuteCommandOptions,
  MastraSandboxOptions,
  ProviderStatus,
  SandboxInfo,
} from '@mastra/core/workspace';
import { MastraSandbox, SandboxError } from '@mastra/core/workspace';
import type { AgentCoreErrorFacts, AgentCoreRuntimeOptions, CommandResult } from './native.js';

export { AgentCoreRuntimeClient } from './native.js';
export type {
  AgentCoreRuntimeClientOptions,
  AwsCredentials,
  CommandResult,
  SdkClient,
  TraceHeaders,
} from './native.js';
export type { ExecuteCommandOptions };

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
