import { defineConfig } from 'vitest/config';

/** `npm run test:cloud`: against a real runtime, in AGENTCORE_RUNTIME_ARN. */
export default defineConfig({
  test: {
    include: ['__test__/cloud/*.cloud.js'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    fileParallelism: false,
  },
});
