// Every entry by `import`, with the names that it must export.
import assert from 'node:assert/strict';
import * as main from 'mastra-agentcore';
import * as local from 'mastra-agentcore/local';
import * as native from 'mastra-agentcore/native';
import names from './names.cjs';

for (const [entry, module] of Object.entries({ main, local, native })) {
  assert.deepEqual(Object.keys(module).toSorted(), names[entry], entry);
}
