/**
 * `node scripts/publishable.js DIRECTORY [--partial]`: lays out what is published, each package
 * ready for `npm publish`:
 *
 *   DIRECTORY/mastra-agentcore                  the main package
 *   DIRECTORY/mastra-agentcore-linux-x64-gnu …  one per platform, with its addon
 *
 * The addons come from js/. All must be there; with `--partial`, a package without its addon
 * gets an empty file in its place, for checks on one machine.
 *
 * Here, and not in package.json, the main package gets the platform packages as optional
 * dependencies: `npm ci` in a clone cannot install what is not published yet. All packages get
 * the repository's address, which provenance needs, from CI's environment.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const readJson = path => JSON.parse(readFileSync(path, 'utf8'));
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);

/** The manifests of the platform packages, by the name of their folder in npm/. */
export function platforms() {
  return new Map(
    readdirSync(join(root, 'npm')).map(name => [name, readJson(join(root, 'npm', name, 'package.json'))]),
  );
}

function repository() {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
  if (!GITHUB_REPOSITORY) return {};
  return { repository: { type: 'git', url: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git` } };
}

/**
 * @param {string} directory
 * @param {{ partial?: boolean }} [options]
 * @returns {string[]} the packages' directories, in the order in which they are published: the
 *   main package last, so that whoever installs it finds the others
 */
export function publishable(directory, { partial = false } = {}) {
  const main = readJson(join(root, 'package.json'));
  const made = [];
  const optionalDependencies = {};

  for (const [name, manifest] of platforms()) {
    if (manifest.version !== main.version) {
      throw new Error(`npm/${name} has version ${manifest.version}, package.json has ${main.version}`);
    }
    optionalDependencies[manifest.name] = main.version;
    const target = join(directory, manifest.name);
    mkdirSync(target, { recursive: true });
    writeJson(join(target, 'package.json'), {
      ...manifest,
      ...repository(),
      files: [...manifest.files, 'NOTICE'],
    });
    copyFileSync(join(root, 'npm', name, 'README.md'), join(target, 'README.md'));
    for (const file of ['LICENSE', 'NOTICE']) copyFileSync(join(root, file), join(target, file));
    const addon = join(root, 'js', manifest.main);
    if (existsSync(addon)) copyFileSync(addon, join(target, manifest.main));
    else if (partial) writeFileSync(join(target, manifest.main), '');
    else throw new Error(`js/${manifest.main} is missing: build it, or download CI's`);
    made.push(target);
  }

  const target = join(directory, main.name);
  const [{ files }] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      shell: process.platform === 'win32',
    }),
  );
  for (const { path } of files) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    copyFileSync(join(root, path), join(target, path));
  }
  writeJson(join(target, 'package.json'), { ...main, ...repository(), optionalDependencies });
  return [...made, target];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { partial: { type: 'boolean' } },
  });
  if (positionals.length !== 1) {
    console.error('Usage: node scripts/publishable.js DIRECTORY [--partial]');
    process.exit(64);
  }
  for (const made of publishable(resolve(positionals[0]), values)) console.log(made);
}
