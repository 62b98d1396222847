/**
 * `npm test`: sets up and runs every check. One command equals CI.
 *
 * `npm test -- --js` runs the JavaScript tests alone.
 */
import { build, install, step } from './steps.js';

const vitest = ['node', 'node_modules/vitest/vitest.mjs', 'run'];

install();
build();
if (!process.argv.includes('--js')) {
  step('Format of the Rust code', ['cargo', 'fmt', '--check']);
  step('Lints of the Rust code', ['cargo', 'clippy', '--all-targets', '--', '-D', 'warnings']);
  step('Rust tests', ['cargo', 'test']);
  step('NOTICE', ['node', 'scripts/notice.js', '--check']);
  step('Lints of the JavaScript code', ['npm', 'run', 'lint']);
  step('Types', ['npm', 'run', 'test:types']);
}
step('JavaScript tests with @mastra/core 1.64.0', vitest, { MASTRA_CORE: '1.64' });
step('JavaScript tests with the newest @mastra/core', vitest);
