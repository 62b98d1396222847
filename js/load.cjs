/**
 * Loads the addon, or says in full why it cannot. Throws nothing: what a CommonJS module throws
 * while an ES module imports it ends Node 20's process, even where the import's failure is handled.
 */
'use strict';

try {
  module.exports = { binding: require('./binding.cjs') };
} catch (error) {
  module.exports = { error: require('./load-error.cjs')(error) };
}
