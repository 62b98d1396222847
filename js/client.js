/**
 * The native client: one configuration, one load of credentials, one pool of connections,
 * for all sandboxes that have the same.
 */
import binding from './addon.js';
import { bearerToken, credentials, optionalText } from './options.js';

const { BindingClient } = binding;
const CLOSED = Symbol('closed');
const NATIVE = Symbol.for('mastra-agentcore.native-client');

/** A client that several sandboxes may be given. */
export class AgentCoreRuntimeClient {
  /** @type {InstanceType<typeof BindingClient> | typeof CLOSED | undefined} */
  #native;
  #connection;

  /** @param {import('../index.js').AgentCoreRuntimeClientOptions} [options] */
  constructor(options = {}) {
    this.#connection = {
      region: optionalText('region', options.region),
      endpoint: optionalText('endpoint', options.endpoint),
      profile: optionalText('profile', options.profile),
      credentials: credentials(options.credentials),
      bearerToken: bearerToken(options.bearerToken),
    };
  }

  /** Made on first use. Not for users. */
  get [NATIVE]() {
    if (this.#native === CLOSED) {
      throw new Error('[AgentCoreRuntimeSandbox] the AgentCoreRuntimeClient is closed');
    }
    this.#native ??= new BindingClient(bindingConfig(this.#connection));
    return this.#native;
  }

  /** Ends the client. Running commands go on; new ones are refused. */
  close() {
    this.#native = CLOSED;
  }
}

/** @returns {InstanceType<typeof BindingClient>} */
export function nativeOf(client) {
  return client[NATIVE];
}

export function isNativeClient(client) {
  return client !== undefined && NATIVE in client;
}

/** @type {Map<string, { client: AgentCoreRuntimeClient, users: number }>} */
const shared = new Map();
/** Functions compare by identity: each gets a number of its own. */
const identities = new WeakMap();
let lastIdentity = 0;

function identity(value) {
  if (typeof value !== 'function') return value ?? null;
  if (!identities.has(value)) identities.set(value, ++lastIdentity);
  return `function ${identities.get(value)}`;
}

/**
 * Takes a share in the client of a configuration.
 *
 * @returns {{ client: AgentCoreRuntimeClient, release: () => void }}
 */
export function acquire(connection) {
  const key = JSON.stringify([
    connection.region ?? null,
    connection.endpoint ?? null,
    connection.profile ?? null,
    identity(connection.credentials),
    identity(connection.bearerToken),
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

function bindingConfig({ region, endpoint, profile, credentials: given, bearerToken: token }) {
  return {
    region,
    endpoint,
    profile,
    ...(typeof given === 'function'
      ? { credentialsProvider: asData(given, bindingCredentials) }
      : given && { credentials: bindingCredentials(given) }),
    ...(typeof token === 'function'
      ? { bearerTokenProvider: asData(token, String) }
      : { bearerToken: token }),
    caFiles: [process.env.AWS_CA_BUNDLE, process.env.NODE_EXTRA_CA_CERTS].filter(Boolean),
  };
}

function bindingCredentials({ accessKeyId, secretAccessKey, sessionToken, expiration }) {
  const at = expiration === undefined || expiration === null ? NaN : Number(new Date(expiration));
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken,
    ...(Number.isFinite(at) && { expiration: at }),
  };
}

/** What a user's function throws crosses as data: a throw would end the process. */
function asData(ask, convert) {
  return async () => {
    try {
      return { ok: convert(await ask()) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };
}
