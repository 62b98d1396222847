/**
 * What the user said → what is meant: defaults and validation. No I/O.
 *
 * Everything wrong is refused here, before any request, with an error that names the option; a
 * `commandTimeout` only by the commands that have none of their own.
 */

import { isNativeClient, regionOf } from './client.js';
import { LABEL, kind, optionalText, resolveConnection, text } from './connection.js';

const MAX_TIMEOUT_SECONDS = 3600;
/** A resumable command may last as long as its session. */
const MAX_RESUMABLE_SECONDS = 28_800;
const NEED_A_SHELL = ['requireExistingSession', 'privateEnv', 'processes', 'resumable'];
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const SHELL = /^\/[A-Za-z0-9._/-]+$/;

/** Milliseconds, per command. */
export const DEFAULT_TIMEOUT_MS = 300_000;

/**
 * Resolves the options of a sandbox that are about the runtime, not about Mastra.
 *
 * @param {import('../native.js').AgentCoreRuntimeSandboxOptions} options
 */
export function resolveOptions(options) {
  if (!options?.agentRuntimeArn) throw new Error(`${LABEL} agentRuntimeArn is required`);
  const resolved = {
    agentRuntimeArn: text('agentRuntimeArn', options.agentRuntimeArn),
    runtimeSessionId: optionalText('runtimeSessionId', options.runtimeSessionId),
    qualifier: optionalText('qualifier', options.qualifier),
    accountId: optionalText('accountId', options.accountId),
    contentType: optionalText('contentType', options.contentType) ?? 'application/json',
    accept: optionalText('accept', options.accept) ?? 'application/vnd.amazon.eventstream',
    commandTimeout: options.commandTimeout ?? DEFAULT_TIMEOUT_MS,
    stopClientToken: optionalText('stopClientToken', options.stopClientToken),
    shell: shell(options.shell),
    killOnAbort: options.killOnAbort ?? true,
    maxAttempts: attempts(options.maxAttempts),
    workingDirectory: workingDirectory(options.workingDirectory),
    client: client(options.client),
    trace: options.trace,
    resumable: flag('resumable', options.resumable),
    privateEnv: privateNames(options.privateEnv),
    connection: resolveConnection(options),
  };
  for (const name of NEED_A_SHELL) {
    if (resolved.shell === null && options[name]) {
      throw new RangeError(`${LABEL} ${name} needs a shell in the session: it cannot go with shell: false`);
    }
  }
  if (!resolved.client || isNativeClient(resolved.client)) checkOwnClient(resolved);
  return resolved;
}

/** What the service would refuse is refused at once; an injected client may know better. */
function checkOwnClient({ agentRuntimeArn, runtimeSessionId, accountId, client: shared, connection }) {
  const arn = /^arn:[^:]+:[^:]+:([^:]*):/.exec(agentRuntimeArn);
  if (agentRuntimeArn.startsWith('arn:') && !arn) {
    throw new RangeError(`${LABEL} agentRuntimeArn is not an ARN: ${agentRuntimeArn}`);
  }
  if (!arn && accountId === undefined) {
    throw new RangeError(
      `${LABEL} agentRuntimeArn must be a full ARN, or an agent's id together with the option accountId; got ${agentRuntimeArn}`,
    );
  }
  if (accountId !== undefined && !/^\d{12}$/.test(accountId)) {
    throw new RangeError(`${LABEL} accountId must be the 12 digits of an AWS account`);
  }
  const arnRegion = arn?.[1] || undefined;
  for (const region of [connection.region, shared && regionOf(shared)]) {
    if (!region || !arnRegion || region === arnRegion) continue;
    throw new RangeError(
      `${LABEL} region ${region} contradicts agentRuntimeArn, which is in ${arnRegion}`,
    );
  }
  connection.region ??= arnRegion;
  if (runtimeSessionId !== undefined && !isSessionId(runtimeSessionId)) {
    throw new RangeError(
      `${LABEL} runtimeSessionId must be 33 to 256 characters long, not ${runtimeSessionId.length}; runtimeSessionIdFrom(seed) makes a valid one of any text`,
    );
  }
}

/**
 * Whether the service takes `id` as a session's.
 *
 * @param {string} id
 */
export const isSessionId = id => id.length >= 33 && id.length <= 256;

/**
 * Checks one command, but for what depends on the sandbox's environment.
 *
 * @param {string} command
 * @param {string[] | undefined} args
 * @param {import('../index.js').ExecuteCommandOptions | undefined} options
 * @param {ReturnType<typeof resolveOptions>} sandbox
 */
export function checkCommand(command, args, options, sandbox) {
  if (typeof command !== 'string') {
    throw new TypeError(`AgentCore Runtime command must be a string, not ${kind(command)}`);
  }
  if (command.trim() === '') {
    throw new RangeError('AgentCore Runtime command must not be empty');
  }
  if (args !== undefined && args !== null && !Array.isArray(args)) {
    throw new TypeError(`AgentCore Runtime command args must be an array, not ${kind(args)}`);
  }
  wellFormed('the command', command);
  for (const [index, arg] of (args ?? []).entries()) {
    if (typeof arg !== 'string') {
      throw new TypeError(
        `AgentCore Runtime command args must be strings; args[${index}] is ${kind(arg)}`,
      );
    }
    wellFormed(`args[${index}]`, arg);
  }
  const cwd = options?.cwd || undefined;
  if (cwd !== undefined) wellFormed('cwd', text('cwd', cwd));
  const timeoutMs = options?.timeout ?? sandbox.commandTimeout;
  const resumable = flag('resumable', options?.resumable ?? sandbox.resumable);
  if (resumable && !sandbox.shell) {
    throw new RangeError(`${LABEL} resumable needs a shell in the session: it cannot go with shell: false`);
  }
  return {
    command,
    args,
    cwd,
    env: checkEnv(options?.env),
    timeoutMs,
    timeoutSeconds: timeoutSeconds(timeoutMs, resumable ? MAX_RESUMABLE_SECONDS : MAX_TIMEOUT_SECONDS),
    resumable,
    maxRetainedBytes: maxRetainedBytes(options?.maxRetainedBytes),
    onStdout: callback('onStdout', options?.onStdout),
    onStderr: callback('onStderr', options?.onStderr),
    signal: options?.abortSignal ?? undefined,
  };
}

/**
 * Checks variables. Those that are `undefined` stay: laid over others, they take them away.
 *
 * @param {Record<string, string | undefined> | undefined} env
 * @returns {Record<string, string | undefined>}
 */
export function checkEnv(env) {
  // Without a prototype, or `__proto__` would be no name of a variable.
  /** @type {Record<string, string | undefined>} */
  const checked = Object.create(null);
  for (const [name, value] of Object.entries(env ?? {})) {
    if (value === undefined) {
      checked[name] = undefined;
      continue;
    }
    if (!ENV_NAME.test(name)) {
      throw new Error(`Invalid environment variable name for AgentCore Runtime command: ${name}`);
    }
    if (typeof value !== 'string') {
      throw new TypeError(
        `Environment variable ${name} of an AgentCore Runtime command must be a string, not ${kind(value)}`,
      );
    }
    wellFormed(`environment variable ${name}`, value);
    checked[name] = value;
  }
  return checked;
}

/**
 * @param {number} ms
 * @param {number} limit in seconds
 * @returns {number} whole seconds, rounded up
 */
export function timeoutSeconds(ms, limit) {
  if (typeof ms !== 'number' || !Number.isFinite(ms) || ms <= 0) {
    throw new RangeError(
      'AgentCore Runtime command timeout must be a positive number of milliseconds',
    );
  }
  const seconds = Math.ceil(ms / 1000);
  if (seconds > limit) {
    throw new RangeError(`AgentCore Runtime command timeout must be at most ${limit} seconds`);
  }
  return seconds;
}

/**
 * @param {number | undefined} bytes
 * @returns {number | null} `null` retains all
 */
function maxRetainedBytes(bytes) {
  if (bytes === undefined || bytes === Infinity) return null;
  if (!Number.isInteger(bytes) || bytes < 0) {
    throw new RangeError('maxRetainedBytes must be a non-negative integer or Infinity');
  }
  return bytes;
}

function callback(name, value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'function') {
    throw new TypeError(`${name} must be a function, not ${kind(value)}`);
  }
  return value;
}

/** @param {string | false} [value] */
function shell(value = '/bin/sh') {
  if (value === false) return null;
  if (typeof value !== 'string' || !SHELL.test(value)) {
    throw new RangeError(
      `${LABEL} shell must be false, or an absolute path of letters, digits and "._/-"`,
    );
  }
  return value;
}

/** @param {string} name @param {unknown} value */
function flag(name, value) {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'boolean') throw new TypeError(`${LABEL} ${name} must be a boolean, not ${kind(value)}`);
  return value;
}

/** @param {unknown} value */
function privateNames(value) {
  if (value === undefined || value === null || value === false) return undefined;
  const isList = Array.isArray(value) && value.every(name => typeof name === 'string' && ENV_NAME.test(name));
  if (value !== true && !isList) {
    throw new TypeError(`${LABEL} privateEnv must be true, or a list of names of variables`);
  }
  return /** @type {true | string[]} */ (value);
}

function attempts(value = 3) {
  if (!Number.isInteger(value) || value < 1 || value > 100) {
    throw new RangeError(`${LABEL} maxAttempts must be an integer from 1 to 100`);
  }
  return value;
}

function workingDirectory(value) {
  if (!value) return undefined;
  wellFormed('workingDirectory', text('workingDirectory', value));
  if (!value.startsWith('/')) {
    throw new RangeError(
      `${LABEL} workingDirectory must be an absolute path; "~" and variables are not expanded; got ${value}`,
    );
  }
  return value;
}

function client(value) {
  if (value === undefined || value === null) return undefined;
  if (!isNativeClient(value) && typeof value.send !== 'function') {
    throw new TypeError(
      `${LABEL} client must be an AgentCoreRuntimeClient or an AWS SDK client with send and destroy`,
    );
  }
  return value;
}

/** A lone surrogate has no UTF-8: what arrived would not be what was meant. */
function wellFormed(what, value) {
  if (!value.isWellFormed()) {
    throw new RangeError(
      `AgentCore Runtime command must not contain a lone surrogate (in ${what})`,
    );
  }
}
