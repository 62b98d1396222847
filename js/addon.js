/**
 * The raw addon. Loaded through a small CommonJS module: the generated loader is large, and
 * `import` would first search it for the names it exports. Not by `createRequire`, which bundlers
 * cannot follow.
 */
import loaded from './load.cjs';

if (loaded.error) throw loaded.error;

/** @type {typeof import('./binding.cjs')} */
export default loaded.binding;
