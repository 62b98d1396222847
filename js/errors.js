/**
 * Failures → errors, without Mastra. The Mastra class makes its own of the same facts.
 */

/**
 * @typedef {import('./binding.cjs').BindingError} BindingError
 * @typedef {(error: BindingError, output?: { stdout: string, stderr: string }, cause?: unknown) => Error} MakeError
 */

/** @param {BindingError} error */
export function messageOf({ name, message }) {
  return message ? `[AgentCoreRuntimeSandbox] ${name}: ${message}` : `[AgentCoreRuntimeSandbox] ${name}`;
}

/** Puts the facts of a failure on an error. */
export function withFacts(target, error, output, cause) {
  target.name = 'AgentCoreError';
  target.code = error.code;
  target.httpStatusCode = error.httpStatusCode ?? undefined;
  target.requestId = error.requestId ?? undefined;
  target.retryable = error.retryable;
  target.mayHaveRun = error.mayHaveRun;
  target.stdout = output?.stdout ?? '';
  target.stderr = output?.stderr ?? '';
  if (cause !== undefined) {
    Object.defineProperty(target, 'cause', { value: cause, configurable: true, writable: true });
  }
  return target;
}

/** @type {MakeError} */
export function plainError(error, output, cause) {
  return withFacts(new Error(messageOf(error)), error, output, cause);
}

/**
 * With requireExistingSession: another microVM than the one that was started.
 *
 * @type {BindingError}
 */
export const SESSION_REPLACED = {
  name: 'SessionReplaced',
  code: 'SESSION_REPLACED',
  message:
    "the session's microVM is not the one that was started: it idled, reached its lifetime or was stopped, and its files are gone. Nothing of the command was run; make a new sandbox, or stop and start this one, to go on in the fresh microVM",
  retryable: false,
  mayHaveRun: false,
};
