/** The error that users of the Mastra class meet. */
import { SandboxError } from '@mastra/core/workspace';
import { messageOf, withFacts } from './errors.js';

/** A command, or a session's stop, that failed; its message alone must help. */
export class AgentCoreError extends SandboxError {
  /**
   * @param {import('./errors.js').BindingError} failure
   * @param {{ stdout: string, stderr: string }} [output] what had been seen
   * @param {unknown} [cause]
   */
  constructor(failure, output, cause) {
    super(messageOf(failure), failure.code);
    withFacts(this, failure, output, cause);
  }
}
