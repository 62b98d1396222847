/**
 * The native client: one configuration, one load of credentials, one pool of connections,
 * for all sandboxes that have the same.
 */
import binding from './addon.js';
import { areCredentials, isFilled, resolveConnection } from './connection.js';

const { BindingClient } = binding;
const NATIVE = Symbol.for('mastra-agentcore.native-client');

/**
 * @typedef {InstanceType<typeof BindingClient>} NativeClient
 * @typedef {import('../native.js').AgentCoreRuntimeClientOptions} ConnectionOptions
 * @typedef {import('../native.js').AwsCredentials} AwsCredentials
 * @typedef {ReturnType<typeof resolveConnection>} Connection
 */

/** A client that several sandboxes may be given. */
export class AgentCoreRuntimeClient {
  #connection;
  /**
   * By region: without one of its own, a client goes where each sandbox's ARN says.
   *
   * @type {Map<string | undefined, NativeClient>}
   */
  #natives = new Map();
  #closed = false;

  /** @param {ConnectionOptions} [options] */
  constructor(options = {}) {
    this.#connection = resolveConnection(options);
  }

  /** Not for users: the region it was given, and a native client, made on first use. */
  get [NATIVE]() {
    return {
      region: this.#connection.region,
      /** @param {string | undefined} region */
      in: region => this.#in(region),
    };
  }

  /** @param {string | undefined} fallback */
  #in(fallback) {
    if (this.#closed) {
      throw new Error('[AgentCoreRuntimeSandbox] the AgentCoreRuntimeClient is closed');
    }
    const region = this.#connection.region ?? fallback;
    let native = this.#natives.get(region);
    if (!native) {
      native = new BindingClient(bindingConfig({ ...this.#connection, region }));
      this.#natives.set(region, native);
    }
    return native;
  }

  /** Ends the client. Running commands go on; new ones are refused. */
  close() {
    this.#closed = true;
    this.#natives.clear();
  }
}

/**
 * @param {AgentCoreRuntimeClient} client
 * @param {string | undefined} region where the runtime is, for a client that has no region
 * @returns {NativeClient}
 */
export function nativeOf(client, region) {
  return client[NATIVE].in(region);
}

/** @param {AgentCoreRuntimeClient} client */
export function regionOf(client) {
  return client[NATIVE].region;
}

/**
 * @param {unknown} client
 * @returns {client is AgentCoreRuntimeClient}
 */
export function isNativeClient(client) {
  return typeof client === 'object' && client !== null && NATIVE in client;
}

/** @type {Map<string, { client: AgentCoreRuntimeClient, users: number }>} */
const shared = new Map();
/** Functions compare by identity: each gets a number of its own. */
const identities = new WeakMap();
let lastIdentity = 0;

/** @param {unknown} value */
function identity(value) {
  if (typeof value !== 'function') return value ?? null;
  if (!identities.has(value)) identities.set(value, ++lastIdentity);
  // Wrapped, so that no text can be mistaken for it.
  return { function: identities.get(value) };
}

const SETTING = /^(AWS_|NODE_EXTRA_CA_CERTS$|SSL_CERT_|(https?|all|no)_proxy$)/i;

/** A client reads these variables once: with others, it is another one. */
function settings() {
  return Object.entries(process.env)
    .filter(([name]) => SETTING.test(name))
    .toSorted();
}

/**
 * Takes a share in the client of a configuration.
 *
 * @param {Connection} connection
 * @returns {{ client: AgentCoreRuntimeClient, release: () => void }}
 */
export function acquire(connection) {
  const key = JSON.stringify([
    connection.region ?? null,
    connection.endpoint ?? null,
    connection.profile ?? null,
    identity(connection.credentials),
    identity(connection.bearerToken),
    settings(),
  ]);
  let entry = shared.get(key);
  if (!entry) {
    entry = { client: new AgentCoreRuntimeClient(connection), users: 0 };
    shared.set(key, entry);
  }
  entry.users += 1;
  let released = false;
  return {
    client: entry.client,
    release: () => {
      if (released) return;
      released = true;
      entry.users -= 1;
      if (entry.users === 0) {
        shared.delete(key);
        entry.client.close();
      }
    },
  };
}

/** @param {Connection} connection */
function bindingConfig({ region, endpoint, profile, credentials, bearerToken }) {
  return {
    region,
    endpoint,
    profile,
    ...(typeof credentials === 'function'
      ? { credentialsProvider: asData(credentials, givenCredentials) }
      : credentials && { credentials: bindingCredentials(credentials) }),
    ...(typeof bearerToken === 'function'
      ? { bearerTokenProvider: asData(bearerToken, givenToken) }
      : { bearerToken }),
    caFiles: [process.env.AWS_CA_BUNDLE, process.env.NODE_EXTRA_CA_CERTS].filter(isFilled),
  };
}

/** @param {AwsCredentials} credentials */
function bindingCredentials({ accessKeyId, secretAccessKey, sessionToken, expiration }) {
  const at = expiration === undefined || expiration === null ? NaN : Number(new Date(expiration));
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: sessionToken || undefined,
    ...(Number.isFinite(at) && { expiration: at }),
  };
}

/** @param {unknown} given */
function givenCredentials(given) {
  if (!areCredentials(given)) {
    throw new TypeError('the credentials function gave no accessKeyId and secretAccessKey');
  }
  return bindingCredentials(given);
}

/** @param {unknown} given */
function givenToken(given) {
  if (!isFilled(given)) throw new TypeError('the bearerToken function gave no token');
  return given;
}

/**
 * What a user's function throws crosses as data: a throw would end the process.
 *
 * @template T
 * @param {() => unknown} ask
 * @param {(given: unknown) => T} check
 */
function asData(ask, check) {
  return async () => {
    try {
      return { ok: check(await ask()) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };
}
