/** What a user is told whose addon cannot be loaded. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'mastra-agentcore-load-'));
afterAll(() => rmSync(scratch, { recursive: true }));

/** Loads an entry in a process of its own, after `before`, and gives what it failed with. */
function failure(directory, env = {}, before = '') {
  const entry = pathToFileURL(join(directory, 'js/native.js')).href;
  const script = `${before}
    import(${JSON.stringify(entry)}).then(
      () => console.log('{}'),
      ({ message, code, cause }) => console.log(JSON.stringify({ message, code, caused: cause instanceof Error })),
    );`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

/** The JavaScript without an addon beside it. */
function withoutAddon() {
  const directory = join(scratch, 'package');
  cpSync(join(root, 'js'), join(directory, 'js'), { recursive: true, filter: file => !file.endsWith('.node') });
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  return directory;
}

it('names the file that NAPI_RS_NATIVE_LIBRARY_PATH leads to', () => {
  const missing = join(scratch, 'missing.node');
  const { message, code, caused } = failure(root, { NAPI_RS_NATIVE_LIBRARY_PATH: missing });
  expect(code).toBe('ADDON_NOT_LOADED');
  expect(caused).toBe(true);
  expect(message).toContain(`looked for: ${missing} (NAPI_RS_NATIVE_LIBRARY_PATH)`);
  expect(message).toContain('unset it');
});

it('names platform, C library, file and package, and says what to do', () => {
  const directory = withoutAddon();
  const { message, code } = failure(directory);
  expect(code).toBe('ADDON_NOT_LOADED');
  expect(message).toContain(`${process.platform} ${process.arch}`);
  expect(message).toContain(`Node.js ${process.version}`);
  if (process.platform === 'linux') expect(message).toMatch(/glibc \d|musl/);
  const [, platform] = /the package mastra-agentcore-([\w-]+)/.exec(message);
  expect(readdirSync(`${root}npm`)).toContain(platform);
  expect(message).toContain(`mastra-agentcore.${platform}.node in ${join(directory, 'js')}`);
  expect(message).toContain('because:    Cannot find module');
  expect(message).not.toMatch(/wasi/);
  expect(message).toContain('npm install --include=optional');
  expect(message).toContain('npm run build');
});

it('names the supported platforms on one that is not', () => {
  const other = "Object.defineProperty(process, 'arch', { value: 'riscv64' });";
  const { message } = failure(withoutAddon(), {}, other);
  expect(message).toContain(`${process.platform} riscv64`);
  expect(message).not.toContain('Install again');
  const [, supported] = /Supported are (.+)\./.exec(message);
  expect(supported.split(', ').toSorted()).toEqual(readdirSync(`${root}npm`).toSorted());
});

it('says why a file that is there cannot be loaded', () => {
  const broken = join(scratch, 'broken.node');
  writeFileSync(broken, readFileSync(join(root, 'package.json')));
  const { message } = failure(root, { NAPI_RS_NATIVE_LIBRARY_PATH: broken });
  expect(message).toMatch(/because: .*broken\.node/);
});
