/**
 * `npm run build:portable`: the addon for linux-x64-gnu as it is published, linked by Zig against
 * glibc 2.17, which every Linux of the last ten years has; a plain build needs the one it was built
 * on. Zig comes from PyPI and stays in .cache/.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { root, step } from './steps.js';

const GLIBC = '2.17';
const zig = `${root}.cache/ziglang`;
const linker = `${root}.cache/zig-cc`;
const addon = `${root}js/mastra-agentcore.linux-x64-gnu.node`;

if (!existsSync(`${zig}/ziglang`)) {
  mkdirSync(zig, { recursive: true });
  step('Install Zig', ['python3', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--root-user-action=ignore', '--target', zig, 'ziglang==0.17.1']);
}
writeFileSync(linker, `#!/bin/sh\nexec "${zig}/ziglang/zig" cc -target x86_64-linux-gnu.${GLIBC} "$@"\n`);
chmodSync(linker, 0o755);

step(`Build the native addon for glibc ${GLIBC} (some minutes the first time)`, ['npm', 'run', 'build'], {
  CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER: linker,
});

const needed = neededGlibc();
if (compare(needed, GLIBC) > 0) {
  console.error(`✖ the addon needs glibc ${needed}, not ${GLIBC}`);
  process.exit(1);
}
console.log(`✔ the addon needs glibc ${needed}`);

/** The newest version of glibc's symbols that the addon refers to. */
function neededGlibc() {
  const { error } = spawnSync('readelf', ['--version']);
  if (error) {
    console.error('✖ readelf was not found: install binutils');
    process.exit(127);
  }
  const symbols = execFileSync('readelf', ['--version-info', '--wide', addon], { encoding: 'utf8', maxBuffer: 2 ** 26 });
  const versions = [...symbols.matchAll(/GLIBC_([\d.]+)/g)].map(([, version]) => version);
  return versions.toSorted(compare).at(-1) ?? '0';
}

function compare(a, b) {
  const [x, y] = [a, b].map(version => version.split('.').map(Number));
  return x[0] - y[0] || (x[1] ?? 0) - (y[1] ?? 0);
}
