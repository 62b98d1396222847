/**
 * The option `nativeLogs`: what the core does (attempts, answers, kills, ends), for the logger of
 * the sandbox whose session it is about. Nothing is loaded or subscribed without it.
 */
import binding from './addon.js';

/** @type {Map<string, Set<(message: string, fields: Record<string, string>) => void>>} */
const listeners = new Map();
let listening = false;

/**
 * Calls `log` with what the core does for a session.
 *
 * @param {string} runtimeSessionId
 * @param {(message: string, fields: Record<string, string>) => void} log
 * @returns {() => void} ends it
 */
export function listen(runtimeSessionId, log) {
  if (!listening) {
    listening = true;
    binding.listenToLog(dispatch);
  }
  const those = listeners.get(runtimeSessionId) ?? new Set();
  listeners.set(runtimeSessionId, those.add(log));
  return () => {
    those.delete(log);
    if (those.size === 0) listeners.delete(runtimeSessionId);
  };
}

/** @param {import('./binding.cjs').BindingLogRecord} record */
function dispatch({ message, session, fields }) {
  const named = Object.fromEntries(fields);
  const those = session === undefined ? listeners.values() : [listeners.get(session) ?? []];
  for (const each of those) {
    for (const log of each) log(message, named);
  }
}
