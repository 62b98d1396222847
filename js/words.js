/** Words and names for the scripts that this package runs in a session. */

import binding from './addon.js';

/** One shell word. */
export const word = binding.scriptWord;

/**
 * A file among the session's temporary ones, as a word.
 *
 * @param {string} name plain characters only
 */
export const temporary = name => `"\${TMPDIR:-/tmp}/${name}"`;

/**
 * Where a file of the session lies: a relative path under the sandbox's directory.
 *
 * @param {string} path
 * @param {string | undefined} workingDirectory
 */
export function pathIn(path, workingDirectory) {
  if (typeof path !== 'string' || path === '') throw new TypeError('a file needs a path');
  if (path.includes('\0') || !path.isWellFormed()) {
    throw new RangeError('a path must not contain a NUL character or a lone surrogate');
  }
  if (path.startsWith('/') || !workingDirectory) return path;
  return `${workingDirectory.replace(/\/+$/, '')}/${path}`;
}
