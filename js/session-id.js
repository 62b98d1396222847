/** Session ids that are the same for the same conversation. */
import { createHash } from 'node:crypto';

/**
 * A valid session id, always the same for the same seed and told apart from every other
 * seed's: `session-` and 64 hexadecimal digits of its SHA-256.
 *
 * @param {string} seed a conversation's id, say
 */
export function runtimeSessionIdFrom(seed) {
  if (typeof seed !== 'string' || seed === '') {
    throw new TypeError('runtimeSessionIdFrom needs a string that is not empty');
  }
  return `session-${createHash('sha256').update(seed).digest('hex')}`;
}
