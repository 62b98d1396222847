/**
 * `mastra-agentcore/local`: a local AgentCore Runtime, for development and tests.
 *
 * IT ISOLATES NOTHING. Commands run as you, on this machine, with your files.
 */

/** Options; the default is a runtime as freshly deployed. */
export interface LocalAgentCoreRuntimeOptions {
  /** Port on 127.0.0.1. Default: a free one. */
  port?: number;
  /** Default: the ARN's, else `us-west-2`. */
  region?: string;
  /** Default: a fresh one. */
  agentRuntimeArn?: string;
  /** The one key pair it accepts. Default: a fresh one. */
  credentials?: { accessKeyId: string; secretAccessKey: string };
  /** Tokens to accept. Not empty: a runtime with a JWT authorizer, which refuses signatures. */
  bearerTokens?: string[];
  /**
   * Verifies bearer tokens as a runtime's JWT authorizer does, and refuses signatures. Signed
   * with RS256, RS384, RS512, ES256 or ES384; `exp` is required, with a minute of leeway.
   */
  jwtAuthorizer?: {
    /** The issuer's public key, in PEM. */
    publicKey: string;
    /** The `iss` that a token must have. Default: any. */
    issuer?: string;
    /** One of these must be in a token's `aud`. Default: any. */
    allowedAudience?: string[];
    /** One of these must be a token's `client_id`. Default: any. */
    allowedClients?: string[];
  };
  /** Qualifiers that exist besides `DEFAULT`. */
  qualifiers?: string[];
  /** A session without a running command ends after so many milliseconds. Default: 900,000. */
  idleTimeoutMs?: number;
  /** A session ends after so many milliseconds, whatever it does. Default: 28,800,000. */
  maxLifetimeMs?: number;
  /** How long a stop takes, in milliseconds. Default: 0. */
  stopDelayMs?: number;
  /** `argv` as on the service: words, no shell. `shell`: `/bin/sh -c`. Default: `argv`. */
  commandSemantics?: 'argv' | 'shell';
  /** Whether `'a'"b"` is one word or two, which is not known of the service. Default: one. */
  joinQuotes?: boolean;
  /** What a timeout kills. Default: the command's process group. */
  timeoutKills?: 'group' | 'leader';
  /**
   * Variables of every command, besides `PATH`, `LANG`, and `HOME` and `TMPDIR`, which end with
   * the session.
   */
  env?: Record<string, string>;
}

/** A fault that the next requests meet. */
export type LocalFault = {
  /** Which requests. Default: `command`. */
  operation?: 'command' | 'stop';
  /** How many. Default: 1. */
  count?: number;
} & (
  | { kind: 'status'; status: number; errorType?: string; message?: string }
  | { kind: 'delay'; ms: number }
  | { kind: 'drop' }
  | {
      kind: 'end' | 'cut' | 'reset' | 'stall' | 'badCrc';
      /** `contentStart` is the first event. */
      afterEvents?: number;
      afterBytes?: number;
    }
  | { kind: 'exception'; exceptionType: string; message?: string; afterEvents?: number }
  | { kind: 'error'; code: string; message?: string; afterEvents?: number }
);

/** What has arrived so far. */
export interface LocalRequests {
  connections: number;
  commands: number;
  stops: number;
  /** The newest 1,000 valid requests, oldest first. */
  records: {
    operation: 'command' | 'stop';
    sessionId: string;
    command?: string;
    timeoutSeconds?: number;
  }[];
}

/** A session that exists. */
export interface LocalSession {
  sessionId: string;
  /** Its home and working directory, which ends with it. */
  directory: string;
  runningCommands: number;
}

/**
 * A server on 127.0.0.1 that speaks the service's protocol, verifies every signature, and runs
 * real processes. Linux and macOS. It does not keep Node alive by itself; with the process it
 * ends, and everything it started.
 */
export class LocalAgentCoreRuntime {
  /** @throws Error for options that cannot work, a port in use, or on Windows */
  static start(options?: LocalAgentCoreRuntimeOptions): Promise<LocalAgentCoreRuntime>;
  private constructor();
  readonly endpoint: string;
  readonly region: string;
  readonly agentRuntimeArn: string;
  readonly credentials: { accessKeyId: string; secretAccessKey: string };
  /** Spread into a sandbox's options. */
  readonly sandboxOptions: {
    agentRuntimeArn: string;
    region: string;
    endpoint: string;
    credentials: { accessKeyId: string; secretAccessKey: string };
  };
  /** Scripts a fault. */
  inject(fault: LocalFault): void;
  requests(): LocalRequests;
  sessions(): LocalSession[];
  /** Ends every session, every process they started, and the server. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
