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
