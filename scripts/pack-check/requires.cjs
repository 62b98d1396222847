// Every entry by `require`: the very classes that `import` gives.
'use strict';
const assert = require('node:assert/strict');
const names = require('./names.cjs');

const specifiers = { main: 'mastra-agentcore', local: 'mastra-agentcore/local', native: 'mastra-agentcore/native' };

(async () => {
  for (const [entry, specifier] of Object.entries(specifiers)) {
    const required = require(specifier);
    const imported = await import(specifier);
    for (const name of names[entry]) {
      assert.equal(typeof required[name], name === 'agentCoreRuntimeSandboxProvider' ? 'object' : 'function', name);
      assert.equal(required[name], imported[name], name);
    }
  }
})();
