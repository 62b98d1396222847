/** Checks that every option's own are made of. An error names the option, never a secret. */

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
