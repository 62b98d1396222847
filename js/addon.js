/**
 * The raw addon. Required, not imported: the generated loader is large, and `import` would
 * first search it for the names it exports.
 */
import { createRequire } from 'node:module';

/** @type {typeof import('./binding.cjs')} */
export default createRequire(import.meta.url)('./binding.cjs');
