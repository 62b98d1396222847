/**
 * Commands that are too long for the wire: their script and text are written to files of the
 * session first, run from there, and removed.
 */
import { Files } from './files.js';
import { temporary } from './words.js';

/**
 * Resolves with true when the files are there.
 *
 * @param {import('./engine.js').Engine} engine
 * @param {string} directory a plain name, where temporary files lie
 * @param {{ script: string, text: string }} staged
 */
export async function stage(engine, directory, { script, text }) {
  await Files.of(engine).write(
    [
      { path: { temporary: `${directory}/script` }, content: script, mode: 0o600 },
      { path: { temporary: `${directory}/text` }, content: text, mode: 0o600 },
    ],
    // One that came after the removal would stay.
    { toItsEnd: true },
  );
  return true;
}

/**
 * @param {import('./engine.js').Engine} engine
 * @param {string} directory
 */
export async function unstage(engine, directory) {
  // No longer than a kill: destroy() waits for it.
  const options = { idempotent: true, toItsEnd: true, timeoutSeconds: 15 };
  await engine.script(`rm -rf ${temporary(directory)}`, options);
}
