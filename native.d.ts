/**
 * `mastra-agentcore/native`: the addon's classes without Mastra.
 */

import type { Writable } from 'node:stream';

/** AWS credentials. */
export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  /** When they end. A function's credentials are asked for again before; without it, after 15 minutes. */
  expiration?: Date | string | number;
}

/** How the service is reached. What is not given comes from the AWS chain. */
export interface AgentCoreRuntimeClientOptions {
  /**
   * AWS region. Default: that of the runtime's ARN, else the AWS chain's (`AWS_REGION`, the
   * profile). A sandbox refuses one that contradicts its ARN, also that of a client it is given.
   */
  region?: string;
  /**
   * An address to use instead of the service's, `http://…` or `https://…`, such as a local
   * runtime's. Default:
   * `AWS_ENDPOINT_URL_BEDROCK_AGENTCORE`, `AWS_ENDPOINT_URL`, else the region's.
   */
  endpoint?: string;
  /** Profile of the shared AWS configuration. Default: `AWS_PROFILE`, else `default`. */
  profile?: string;
  /**
   * Credentials, or an async function that gives them: called once for all sandboxes that
   * share it (of a shared client without a region: once per region), and again when they near
   * their expiration. Default: the AWS chain.
   */
  credentials?: AwsCredentials | (() => AwsCredentials | Promise<AwsCredentials>);
  /**
   * A token, or an async function that gives one, sent as `Authorization: Bearer` instead of
   * an AWS signature: for runtimes with a JWT authorizer. A function is called per request.
   */
  bearerToken?: string | (() => string | Promise<string>);
}

/** One configuration, one load of credentials, one pool of connections, for many sandboxes. */
export class AgentCoreRuntimeClient {
  constructor(options?: AgentCoreRuntimeClientOptions);
  /** Ends the client: running commands go on, new ones are refused. */
  close(): void;
}

/** A client of the AWS SDK for JavaScript, or anything that behaves like one. */
export interface SdkClient {
  // Its commands are classes of the SDK, which need not be installed.
  send(command: any, options?: { abortSignal?: AbortSignal }): Promise<any>;
  destroy(): void;
}

/** The headers of distributed tracing, as AgentCore takes them. */
export interface TraceHeaders {
  /** W3C trace context, at most 1,024 characters. */
  traceparent?: string;
  /** At most 512 characters. */
  tracestate?: string;
  /** At most 8,192 characters. */
  baggage?: string;
  /** `X-Amzn-Trace-Id`. */
  traceId?: string;
}

/** Options about the runtime; those of Mastra are added by the main entry's class. */
export interface AgentCoreRuntimeOptions extends AgentCoreRuntimeClientOptions {
  /**
   * ARN of the runtime or harness, or an agent's bare id together with `accountId`. Required:
   * without it the constructor throws `[AgentCoreRuntimeSandbox] agentRuntimeArn is required`.
   */
  agentRuntimeArn: string;
  /**
   * The session, 33 to 256 characters; two sandboxes with the same one share a microVM.
   * Default: a new UUID, that is, a microVM of its own. `runtimeSessionIdFrom(seed)` makes a
   * valid one of any text.
   */
  runtimeSessionId?: string;
  /** Endpoint of the runtime. Default: the service's, `DEFAULT`. */
  qualifier?: string;
  /** The 12 digits of the account, with a bare agent id. */
  accountId?: string;
  /** Content type of the request. Default: `application/json`. */
  contentType?: string;
  /** Accepted content type. Default: `application/vnd.amazon.eventstream`. */
  accept?: string;
  /** Default timeout of a command, in milliseconds, up to 3,600,000. Default: 300,000. */
  commandTimeout?: number;
  /** Idempotency token of `stopRuntimeSession`. Default: a new UUID each time. */
  stopClientToken?: string;
  /**
   * A client to use instead of our own: an {@link AgentCoreRuntimeClient} that several
   * sandboxes share, or one of the AWS SDK for JavaScript, which brings its own retries and is
   * never destroyed by us. Options about the connection are then the client's business.
   */
  client?: AgentCoreRuntimeClient | SdkClient;
  /**
   * The shell in the container that gives commands their meaning; the service itself runs
   * none. An absolute path of `A-Za-z0-9._/-`. `false` sends the command text as it stands,
   * as `@mastra/agentcore` does. Default: `/bin/sh`.
   */
  shell?: string | false;
  /**
   * After an abort or a timeout, kills what the command started, by a second command. Not
   * with `shell: false`. Default: true.
   */
  killOnAbort?: boolean;
  /**
   * Tries in all of a request of which nothing was started (connection refused, 409, 429).
   * From 1 to 100. Default: 3.
   */
  maxAttempts?: number;
  /**
   * Runs every command as a process of the session that a broken stream does not end: it is read
   * on from the byte where the stream stopped, up to its own timeout, which may then be 28,800,000
   * ms. Not with `shell: false`. Default: false; each command may say otherwise.
   */
  resumable?: boolean;
  /**
   * Variables whose values stand in no command text, which the service may record: all, or those
   * of these names. They are encrypted for the session, which needs `openssl`. Not with
   * `shell: false`. Default: none.
   */
  privateEnv?: boolean | string[];
  /**
   * Headers of distributed tracing: given, computed per command, or `false` for none.
   * Default: those of OpenTelemetry's active span, where `@opentelemetry/api` is installed.
   */
  trace?: false | TraceHeaders | (() => TraceHeaders | undefined);
}

/** Options of the framework-free sandbox. */
export interface AgentCoreRuntimeSandboxOptions extends AgentCoreRuntimeOptions {
  /** Environment variables of every command; those that are `undefined` are left out. */
  env?: Record<string, string | undefined>;
  /** Absolute directory of every command; neither `~` nor variables are expanded. */
  workingDirectory?: string;
}

/** Options of one command. */
export interface ExecuteCommandOptions {
  /** Milliseconds, rounded up to seconds; more than 0, at most 3,600,000. Default: `commandTimeout`. */
  timeout?: number;
  /** Variables of this command, over those of the sandbox; `undefined` takes one away. */
  env?: Record<string, string | undefined>;
  /** Directory of this command; a relative one lies under `workingDirectory`. */
  cwd?: string;
  /**
   * Called with each piece of stdout as it arrives. A promise it returns is waited for before
   * the next piece. What it throws ends the command and is what `executeCommand` rejects with.
   */
  onStdout?: (text: string) => unknown;
  /** The same for stderr. */
  onStderr?: (text: string) => unknown;
  /** Ends the command with a result (`killed: true`, exit code 137), not with a rejection. */
  abortSignal?: AbortSignal;
  /** Newest bytes of UTF-8 retained per stream; `Infinity` (the default) retains all. */
  maxRetainedBytes?: number;
  /** Survives its connection, and may take up to 28,800,000 ms. Default: the sandbox's. */
  resumable?: boolean;
}

/** A file to write. */
export interface FileInput {
  /** Where; a relative one lies under `workingDirectory`. Its directories are made. */
  path: string;
  /** Text (as UTF-8), bytes, or a stream of either, such as `createReadStream(…)`. */
  content: string | Uint8Array | AsyncIterable<Uint8Array | string>;
  /** Permissions, from 0o001 to 0o777. Default: 0o644. */
  mode?: number;
}

/** Options of reading and writing files. */
export interface FileTransferOptions {
  /** Ends the transfer; files that are not whole are not left behind. */
  abortSignal?: AbortSignal;
  /** Called as bytes arrive; with `done` once the file is whole. */
  onProgress?: (progress: { path: string; bytes: number; done: boolean }) => void;
}

/** How a command ended. */
export interface CommandResult {
  /** The command as people read it: `cd DIR && K=V COMMAND ARGS`. */
  command: string;
  /** As given. */
  args: string[] | undefined;
  /** It ran to its end with exit code 0. */
  success: boolean;
  /** The command's own; 124 after a timeout, 137 after an abort. */
  exitCode: number;
  stdout: string;
  stderr: string;
  executionTimeMs: number;
  timedOut: boolean;
  /** It was ended by an abort or a timeout. */
  killed: boolean;
  stdoutTruncated: boolean;
  stderrTruncated: boolean;
  stdoutDroppedBytes: number;
  stderrDroppedBytes: number;
}

/** The facts on every error of a command or a stop. */
export interface AgentCoreErrorFacts {
  readonly name: 'AgentCoreError';
  /** The AWS error's name (`ThrottlingException`), or one of ours (`STREAM_BROKEN`). */
  readonly code: string;
  readonly httpStatusCode?: number;
  readonly requestId?: string;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  /** The command may have been run, in part or to its end. */
  readonly mayHaveRun: boolean;
  /** Output that had arrived. */
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs commands in one session of one runtime. */
export class AgentCoreRuntimeSandbox {
  constructor(options: AgentCoreRuntimeSandboxOptions);
  readonly runtimeSessionId: string;
  readonly agentRuntimeArn: string;
  readonly workingDirectory: string | undefined;
  /**
   * Runs a command. Without `args`, `command` is shell text; with them, each arrives as it is.
   *
   * @throws TypeError or RangeError for bad input, before any request
   * @throws Error with {@link AgentCoreErrorFacts} where the command's end is not known
   */
  executeCommand(
    command: string,
    args?: string[],
    options?: ExecuteCommandOptions,
  ): Promise<CommandResult>;
  /**
   * Writes files into the session: in chunks, checked where the image has `sha256sum`, each whole
   * or not at all.
   *
   * @throws Error `FILE_FAILED` that names the file; `TOOL_MISSING`; an AbortError
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
  /** Stops the session; one that is gone counts as stopped. */
  stopRuntimeSession(): Promise<void>;
  /** Ends running commands as if aborted, waits for their kills, and refuses new ones. */
  close(): Promise<void>;
}
