import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// MASTRA_CORE=1.64 tests against the oldest @mastra/core that is supported.
const oldest = fileURLToPath(new URL('node_modules/@mastra/core-1-64/dist/', import.meta.url));
const alias =
  process.env.MASTRA_CORE === '1.64'
    ? [{ find: /^@mastra\/core\/(.+)$/, replacement: `${oldest}$1/index.js` }]
    : [];

/** Ends a run with one plain line, which any CI can read. */
const plainSummary = {
  onTestRunEnd(modules) {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  },
};

export default defineConfig({
  resolve: { alias },
  test: {
    include: ['__test__/**/*.test.js'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // The addon's runtime is one per process, and tests count its connections.
    pool: 'forks',
    // Most of a test's time is waiting.
    maxWorkers: 3,
    reporters: ['default', plainSummary],
  },
});
