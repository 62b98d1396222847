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
  await Files.of(engine).write([
    { path: { temporary: `${directory}/script` }, content: script, mode: 0o600 },
    { path: { temporary: `${directory}/text` }, content: text, mode: 0o600 },
  ]);
  return true;
}

/**
 * @param {import('./engine.js').Engine} engine
 * @param {string} directory
 */
export async function unstage(engine, directory) {
  await engine.script(`rm -rf ${temporary(directory)}`, { idempotent: true });
}
