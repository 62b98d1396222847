/**
 * Runs the steps of a task one after another, with their output passed through, and says
 * what runs and how long it took. Node's own modules only: the first step of most tasks is
 * to install the others.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * @param {string} title what a person reads
 * @param {string[]} command program and arguments
 * @param {Record<string, string>} [env] set for this step only
 */
export function step(title, command, env = {}) {
  const started = performance.now();
  console.log(`\n▶ ${title}`);
  const [program, ...args] = command;
  const { status, signal, error } = spawnSync(program, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (error?.code === 'ENOENT') {
    console.error(`✖ ${title}: ${program} is not installed`);
    process.exit(127);
  }
  if (status !== 0) {
    console.error(`✖ ${title} failed after ${seconds} s (${signal ?? `exit code ${status}`})`);
    process.exit(status ?? 1);
  }
  console.log(`✔ ${title} (${seconds} s)`);
}

/** Installs what package-lock.json says, unless that was done already. */
export function install() {
  const lock = `${root}package-lock.json`;
  const done = `${root}node_modules/.package-lock.json`;
  if (existsSync(done) && statSync(done).mtimeMs >= statSync(lock).mtimeMs) return;
  step('Install the JavaScript packages', ['npm', 'ci', '--no-audit', '--no-fund']);
}

/** Builds the addon; cargo itself knows whether anything changed. */
export function build() {
  const cargo = spawnSync('cargo', ['--version'], { encoding: 'utf8' });
  if (cargo.status !== 0) {
    console.error(
      '✖ cargo was not found: install Rust 1.94.1 or newer from https://rustup.rs, then run this again',
    );
    process.exit(127);
  }
  // What is published is what is tested, where that can be built.
  if (process.env.MASTRA_AGENTCORE_PORTABLE) {
    step('Build the native addon as it is published', ['node', 'scripts/portable.js']);
    return;
  }
  step('Build the native addon (about five minutes the first time)', ['npm', 'run', 'build']);
}
