/** What is published, and that its parts agree. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = path => readFileSync(`${root}${path}`, 'utf8');
const manifest = JSON.parse(read('package.json'));

it('has one version', () => {
  expect(/^version = "(.+)"$/m.exec(read('Cargo.toml'))[1]).toBe(manifest.version);
  for (const platform of readdirSync(`${root}npm`)) {
    expect(JSON.parse(read(`npm/${platform}/package.json`)).version, platform).toBe(manifest.version);
  }
  expect(read('CHANGELOG.md')).toContain(`## ${manifest.version}`);
});

it('installs nothing else and runs nothing at install', () => {
  expect(manifest.dependencies).toBeUndefined();
  for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) {
    expect(manifest.scripts[script]).toBeUndefined();
  }
});

it('exports files that exist', () => {
  const files = JSON.stringify(manifest.exports).match(/\.\/[\w./-]+/g);
  expect(files.length).toBeGreaterThan(10);
  for (const file of files.filter(name => /\.\w+$/.test(name))) {
    expect(existsSync(`${root}${file}`), file).toBe(true);
  }
});

it('packs the JavaScript and its types, and no addon, test or source', () => {
  const [{ files, size }] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['index.js', 'index.d.ts', 'js/cli.js', 'js/binding.cjs', 'README.md', 'LICENSE']));
  expect(paths.filter(path => /\.(node|rs|test\.js)$|CHANGELOG|^(src|target|bench)/.test(path))).toEqual([]);
  expect(size).toBeLessThan(100_000);
});

it('documents every option', () => {
  const readme = read('README.md');
  const types = `${read('native.d.ts')}\n${read('index.d.ts')}`;
  const interfaces = ['AgentCoreRuntimeClientOptions', 'AgentCoreRuntimeOptions', 'AgentCoreRuntimeSandboxOptions'];
  for (const name of interfaces) {
    const body = new RegExp(`interface ${name}[^{]*\\{([^]*?)\\n\\}`).exec(types)[1];
    for (const [, option] of body.matchAll(/^ {2}(\w+)\??:/gm)) {
      expect(readme, option).toContain(`\`${option}\``);
    }
  }
});
