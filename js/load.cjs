/**
 * Loads the addon, or says in full why it cannot. Throws nothing: what a CommonJS module throws
 * while an ES module imports it ends Node 20's process, even where the import's failure is handled.
 */
'use strict';

/**
 * The generated loader takes as long to find out what machine this is as the addon takes to load:
 * where nearly all run, the file is tried first. It cannot be loaded on another C library.
 */
function likely() {
  if (process.platform !== 'linux' || process.arch !== 'x64' || process.env.NAPI_RS_NATIVE_LIBRARY_PATH) return undefined;
  try {
    // @ts-ignore built
    return require('./mastra-agentcore.linux-x64-gnu.node');
  } catch {}
  try {
    // @ts-ignore installed
    return require('mastra-agentcore-linux-x64-gnu');
  } catch {}
  return undefined;
}

try {
  module.exports = { binding: likely() ?? require('./binding.cjs') };
} catch (error) {
  module.exports = { error: require('./load-error.cjs')(error) };
}
