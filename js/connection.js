/**
 * How the service is reached: the options that sandboxes and clients have in common, checked,
 * and what a user's functions give, checked likewise; and the checks that all options are made
 * of. An error names the option, never a secret.
 */

export const LABEL = '[AgentCoreRuntimeSandbox]';

/**
 * @param {string} name the option's
 * @param {unknown} value
 * @returns {string}
 */
export function text(name, value) {
  if (typeof value !== 'string') {
    throw new TypeError(`${LABEL} ${name} must be a string, not ${kind(value)}`);
  }
  return value;
}

/**
 * @param {string} name the option's
 * @param {unknown} value
 * @returns {string | undefined}
 */
export function optionalText(name, value) {
  return value === undefined || value === null ? undefined : text(name, value);
}

/** What a value is, for people. @param {unknown} value */
export function kind(value) {
  return value === null ? 'null' : typeof value;
}


/** @typedef {import('../native.js').AgentCoreRuntimeClientOptions} ConnectionOptions */
/** @typedef {import('../native.js').AwsCredentials} AwsCredentials */

/** @param {ConnectionOptions} options */
export function resolveConnection(options) {
  return {
    region: filled('region', options.region),
    endpoint: endpoint(options.endpoint),
    profile: filled('profile', options.profile),
    credentials: credentials(options.credentials),
    bearerToken: bearerToken(options.bearerToken),
  };
}

/**
 * Whether an option's or a function's value is what requests can be signed with.
 *
 * @param {unknown} value
 * @returns {value is AwsCredentials}
 */
export function areCredentials(value) {
  if (typeof value !== 'object' || value === null) return false;
  const { accessKeyId, secretAccessKey, sessionToken } = /** @type {AwsCredentials} */ (value);
  if (!isFilled(accessKeyId) || !isFilled(secretAccessKey)) return false;
  return sessionToken === undefined || sessionToken === null || typeof sessionToken === 'string';
}

/**
 * @param {unknown} value
 * @returns {value is string}
 */
export function isFilled(value) {
  return typeof value === 'string' && value !== '';
}

/** @param {ConnectionOptions['credentials']} value */
function credentials(value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'function' && !areCredentials(value)) {
    throw new TypeError(
      `${LABEL} credentials must be an object with accessKeyId and secretAccessKey, or a function that returns one`,
    );
  }
  return value;
}

/** @param {ConnectionOptions['bearerToken']} value */
function bearerToken(value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'function' && !isFilled(value)) {
    throw new TypeError(`${LABEL} bearerToken must be a string, or a function that returns one`);
  }
  return value;
}

/**
 * Refused here, because what an address that is none does further down is not worth reading.
 * It may hold a password: it is not repeated.
 *
 * @param {unknown} value
 */
function endpoint(value) {
  const given = optionalText('endpoint', value);
  if (given !== undefined && !(/^https?:\/\//i.test(given) && URL.canParse(given))) {
    throw new RangeError(`${LABEL} endpoint must be an address that begins with http:// or https://`);
  }
  return given;
}

/**
 * @param {string} name
 * @param {unknown} value
 */
function filled(name, value) {
  const given = optionalText(name, value);
  if (given === '') throw new RangeError(`${LABEL} ${name} must not be empty`);
  return given;
}
