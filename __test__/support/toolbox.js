/** Images that lack tools: a directory of links to those that they have. */
import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { localSandbox } from './sandboxes.js';

/** What this package's scripts need in every image. */
export const MINIMAL = ['sh', 'cat', 'chmod', 'date', 'dd', 'env', 'ln', 'mkdir', 'mkfifo', 'mv', 'readlink', 'rm', 'sleep', 'tail', 'tr', 'wc'];

/** Where a tool of this machine is. */
export function toolOf(name) {
  const found = process.env.PATH.split(':').map(directory => join(directory, name)).find(existsSync);
  if (!found) throw new Error(`this machine has no ${name}`);
  return found;
}

/** A directory with links to `names`, and with scripts of our own. */
export function toolbox(names, scripts = {}) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'agentcore-tools-')));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const name of names) symlinkSync(toolOf(name), join(directory, name));
  for (const [name, text] of Object.entries(scripts)) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(directory, name), 0o755);
  }
  return directory;
}

/** A sandbox whose session has these tools and no others. */
export async function imageWith(names, options, scripts) {
  const directory = toolbox(names, scripts);
  return localSandbox({ shell: `${directory}/sh`, ...options }, { env: { PATH: directory } });
}
