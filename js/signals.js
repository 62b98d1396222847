/**
 * One listener per AbortSignal, however many commands share it: Node warns of a leak from
 * the eleventh on.
 */

/** @type {WeakMap<AbortSignal, { listeners: Set<() => void>, remove: () => void }>} */
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
  const entry = subscribers.get(signal) ?? listen(signal);
  entry.listeners.add(listener);
  return () => {
    entry.listeners.delete(listener);
    if (entry.listeners.size === 0 && subscribers.get(signal) === entry) {
      subscribers.delete(signal);
      entry.remove();
    }
  };
}

/** @param {AbortSignal} signal */
function listen(signal) {
  /** @type {Set<() => void>} */
  const listeners = new Set();
  const notify = () => {
    subscribers.delete(signal);
    for (const each of listeners) each();
  };
  const entry = { listeners, remove: () => signal.removeEventListener('abort', notify) };
  subscribers.set(signal, entry);
  signal.addEventListener('abort', notify, { once: true });
  return entry;
}
