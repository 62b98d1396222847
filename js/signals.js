/**
 * One listener per AbortSignal, however many commands share it: Node warns of a leak from
 * the eleventh on.
 */

/** @type {WeakMap<AbortSignal, Set<() => void>>} */
const subscribers = new WeakMap();

/**
 * Calls `listener` when `signal` aborts.
 *
 * @param {AbortSignal | undefined} signal
 * @param {() => void} listener
 * @returns {() => void} ends the subscription; the last one removes the signal's listener
 */
export function subscribe(signal, listener) {
  if (!signal) return () => {};
  let listeners = subscribers.get(signal);
  if (!listeners) {
    const created = new Set();
    const notify = () => {
      subscribers.delete(signal);
      for (const each of created) each();
    };
    created.remove = () => signal.removeEventListener('abort', notify);
    subscribers.set(signal, created);
    signal.addEventListener('abort', notify, { once: true });
    listeners = created;
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && subscribers.get(signal) === listeners) {
      subscribers.delete(signal);
      listeners.remove();
    }
  };
}
