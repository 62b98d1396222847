/**
 * `npm run notice`: writes NOTICE, which names the crates that are compiled into the addon.
 * With `--check`, fails when NOTICE is not what it would write.
 *
 * The crates are the normal dependencies for Linux with glibc; those of macOS and Windows
 * differ by the crates that bind to the system.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const TARGET = 'x86_64-unknown-linux-gnu';
const root = fileURLToPath(new URL('..', import.meta.url));

/** Every package that the crate reaches by normal dependencies, the crate itself left out. */
function crates() {
  const metadata = JSON.parse(
    execFileSync('cargo', ['metadata', '--locked', '--format-version', '1', '--filter-platform', TARGET], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const nodes = new Map(metadata.resolve.nodes.map(node => [node.id, node]));
  const reached = new Set([metadata.resolve.root]);
  // A set grows while it is walked, and the walk goes on through what was added.
  for (const id of reached) {
    for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) {
      if (kinds.some(({ kind }) => kind === null)) reached.add(pkg);
    }
  }
  reached.delete(metadata.resolve.root);
  return metadata.packages.filter(({ id }) => reached.has(id));
}

function text(packages) {
  const unnamed = packages.filter(({ license }) => !license).map(({ name }) => name);
  if (unnamed.length > 0) throw new Error(`no licence is stated by ${unnamed.join(', ')}: look at their files`);
  const lines = packages
    .map(({ name, version, license, repository }) => [`${name} ${version}`, license, repository ?? ''])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(fields => fields.filter(Boolean).join(' | '));
  return `mastra-agentcore
Licensed under the Apache License, Version 2.0; see LICENSE.

The native addon contains these crates (name and version | licence | repository):

${lines.join('\n')}
`;
}

const file = `${root}NOTICE`;
const wanted = text(crates());
if (process.argv.includes('--check')) {
  let found = '';
  try {
    found = readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  if (found !== wanted) {
    console.error('✖ NOTICE is stale: run `npm run notice`');
    process.exit(1);
  }
  console.log('✔ NOTICE names the crates of Cargo.lock');
} else {
  writeFileSync(file, wanted);
}
