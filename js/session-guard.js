/**
 * The option `requireExistingSession`: a file in the session's filesystem tells the microVM that
 * was started from the fresh one that takes its place when it has ended. Every command looks for
 * it before anything else.
 */
import { createHash } from 'node:crypto';
import binding from './addon.js';

export class SessionGuard {
  #file;

  /** @param {string} runtimeSessionId */
  constructor(runtimeSessionId) {
    // Sessions of the local runtime are told apart even where they share a directory.
    const name = createHash('sha256').update(runtimeSessionId).digest('hex').slice(0, 32);
    this.#file = `.mastra-agentcore-session-${name}`;
  }

  /** The script of a start: leaves the file, and says which of the two it found. */
  get script() {
    const file = `"\${TMPDIR:-/tmp}/${this.#file}"`;
    return `if (set -C; : >${file}) 2>/dev/null; then echo created
elif [ -e ${file} ]; then echo connected
else echo cannot write ${file} >&2; exit 1; fi`;
  }

  /** What one command looks for, and the line that it prints instead. */
  check() {
    return { file: this.#file, missing: `mastra-agentcore-session-replaced-${binding.randomUuid()}` };
  }
}
