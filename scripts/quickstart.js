/** `npm run quickstart`: sets up and runs examples/quickstart.mjs. */
import { build, install, step } from './steps.js';

install();
build();
step('Quickstart', ['node', 'examples/quickstart.mjs']);
