/**
 * `npm run pack:check`: the packages as users get them. Packs what would be published, installs
 * it into empty projects beside the oldest and the newest @mastra/core, and uses it there. Needs
 * a built addon, the npm registry, and Linux or macOS. Node's own modules only.
 *
 *   --node PATH   uses the packages with this Node too; may be repeated
 *   --keep        leaves the projects for a look
 *
 * What runs in the projects is in pack-check/.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { publishable } from './publishable.js';
import { root } from './steps.js';

const MAIN_LIMIT = 100_000;
const PLATFORM_LIMIT = 6_000_000;
const RUN_LIMIT_MS = 120_000;
const INSTALL_LIMIT_MS = 300_000;
const ESBUILD = '^0.28.0';

/** The names that napi-rs gives its targets. */
const PLATFORMS = {
  'x86_64-unknown-linux-gnu': 'linux-x64-gnu',
  'aarch64-unknown-linux-gnu': 'linux-arm64-gnu',
  'x86_64-unknown-linux-musl': 'linux-x64-musl',
  'aarch64-unknown-linux-musl': 'linux-arm64-musl',
  'x86_64-apple-darwin': 'darwin-x64',
  'aarch64-apple-darwin': 'darwin-arm64',
  'x86_64-pc-windows-msvc': 'win32-x64-msvc',
};

const { values: options } = parseArgs({
  options: { node: { type: 'string', multiple: true, default: [] }, keep: { type: 'boolean' } },
});
const nodes = [process.execPath, ...options.node];
const scratch = mkdtempSync(join(tmpdir(), 'mastra-agentcore-pack-'));
const readJson = path => JSON.parse(readFileSync(path, 'utf8'));
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
const source = readJson(join(root, 'package.json'));

let passed = 0;

/** Prints that something holds, or what does not, and ends. */
function check(title, problem) {
  if (problem) {
    console.error(`✖ ${title}\n${String(problem).trimEnd().replace(/^/gm, '  ')}`);
    if (options.keep) console.error(`  in ${scratch}`);
    else rmSync(scratch, { recursive: true, force: true });
    process.exit(1);
  }
  passed += 1;
  console.log(`✔ ${title}`);
}

/** Runs a program to its end; gives why it failed, if it did, and what it printed. */
function run(program, args, { cwd, env, timeout = RUN_LIMIT_MS }) {
  const { status, signal, error, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout,
    killSignal: 'SIGKILL',
    maxBuffer: 2 ** 26,
  });
  const ended = error?.code === 'ETIMEDOUT' ? `did not end within ${timeout / 1000} s` : `ended with ${signal ?? status ?? error}`;
  const problem = status === 0 ? undefined : `${basename(program)} ${args.join(' ')} ${ended}\n${stdout ?? ''}${stderr ?? ''}`;
  return { problem, stdout };
}

/** A PATH on which there is Node and npm, and nothing that compiles. */
function bareBin() {
  const bin = join(scratch, 'bin');
  mkdirSync(bin);
  symlinkSync(process.execPath, join(bin, 'node'));
  const npm = process.env.PATH.split(delimiter)
    .map(directory => join(directory, 'npm'))
    .find(file => existsSync(file));
  symlinkSync(npm, join(bin, 'npm'));
  return bin;
}

/** Packs a directory; gives the tarball, what is in it, and its manifest. */
function pack(directory) {
  const { problem, stdout } = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', scratch], {
    cwd: directory,
  });
  if (problem) check(`${basename(directory)} can be packed`, problem);
  const [{ filename, files, size }] = JSON.parse(stdout);
  return {
    tarball: join(scratch, filename),
    paths: files.map(({ path }) => path),
    size,
    manifest: readJson(join(directory, 'package.json')),
  };
}

function hostPlatform() {
  const { platform, arch } = process;
  if (platform !== 'linux') return `${platform}-${arch}`;
  return `linux-${arch}-${process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl'}`;
}

const kilobytes = size => `${(size / 1000).toFixed(0)} kB`;
const lacking = (paths, wanted) => wanted.filter(path => !paths.includes(path)).map(path => `${path} is not packed`);
const text = problems => problems.filter(Boolean).join('\n');

/** What an installation would run: scripts, and node-gyp where npm finds its file. */
const installScripts = ({ manifest: { scripts = {} }, paths }) =>
  text([
    ...['preinstall', 'install', 'postinstall', 'prepare'].map(name => scripts[name] && `${name}: ${scripts[name]}`),
    paths.includes('binding.gyp') && 'binding.gyp is packed',
  ]);

function checkMain(main) {
  const { manifest, paths, size } = main;
  check(`${manifest.name} ${manifest.version}: ${kilobytes(size)}`, size > MAIN_LIMIT && `more than ${MAIN_LIMIT} bytes`);
  const referenced = JSON.stringify([manifest.exports, manifest.main, manifest.module, manifest.types, manifest.bin])
    .match(/\.\/[\w./-]+/g)
    .filter(path => /\.\w+$/.test(path))
    .map(path => path.slice(2));
  const present = [...new Set(referenced), 'LICENSE', 'NOTICE', 'README.md', 'js/binding.cjs', 'js/binding.d.cts'];
  check('every file that its manifest names is packed, LICENSE and NOTICE too', text(lacking(paths, present)));
  const stray = paths.filter(path => /CHANGELOG|\.node$|\.rs$|\.test\.|^(src|target|bench|scripts|__test__)\//.test(path));
  check('no changelog, addon, source or test is packed', text(stray));
  check('nothing runs at its installation', installScripts(main));
  check('it has no dependencies', manifest.dependencies && JSON.stringify(manifest.dependencies));
  const wanted = source.napi.targets.map(target => `${source.name}-${PLATFORMS[target]} ${source.version}`).toSorted();
  const found = Object.entries(manifest.optionalDependencies ?? {}).map(pair => pair.join(' '));
  check(
    `its optional dependencies are the ${wanted.length} platforms' packages at its version`,
    found.toSorted().join() !== wanted.join() && `${found.join('\n')}\ninstead of\n${wanted.join('\n')}`,
  );
}

function checkPlatform(platform) {
  const { manifest, paths, size } = platform;
  check(`${manifest.name}: ${kilobytes(size)}`, size > PLATFORM_LIMIT && `more than ${PLATFORM_LIMIT} bytes`);
  const wanted = ['LICENSE', 'NOTICE', 'README.md', 'package.json', manifest.main];
  const stray = paths.filter(path => !wanted.includes(path)).map(path => `${path} is packed`);
  check('it holds the addon, LICENSE and NOTICE, and nothing else', text([...lacking(paths, wanted), ...stray]));
  check('nothing runs at its installation', installScripts(platform) || JSON.stringify(manifest.dependencies));
}

/** An empty project outside the repository, with the packages and a core installed. */
function install(core, main, platforms, host, bin) {
  const project = join(scratch, `core-${core.name}`);
  mkdirSync(project);
  const file = ({ tarball }) => `file:${tarball}`;
  writeJson(join(project, 'package.json'), {
    private: true,
    type: 'module',
    dependencies: {
      [main.manifest.name]: file(main),
      '@mastra/core': core.range,
      '@mastra/editor': 'latest',
      '@types/node': source.devDependencies['@types/node'],
      esbuild: ESBUILD,
      typescript: source.devDependencies.typescript,
      zod: source.devDependencies.zod,
    },
    // Where the platforms' packages come from as long as the registry does not have them.
    overrides: Object.fromEntries(platforms.map(each => [each.manifest.name, file(each)])),
  });
  const { problem } = run('npm', ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: project,
    env: { PATH: bin },
    timeout: INSTALL_LIMIT_MS,
  });
  const version = problem ? core.range : readJson(join(project, 'node_modules/@mastra/core/package.json')).version;
  check(`installs beside @mastra/core ${version}, with no compiler at hand`, problem);

  const installed = readdirSync(join(project, 'node_modules')).filter(name => name.startsWith(`${source.name}-`));
  check(
    `@mastra/core ${version}: of the platforms' packages, ${host.manifest.name} is installed`,
    installed.join() !== host.manifest.name && `installed: ${installed.join(', ') || 'none'}`,
  );
  cpSync(join(root, 'scripts/pack-check'), project, { recursive: true });
  for (const name of ['types', 'types-mastra']) copyFileSync(join(project, `${name}.ts`), join(project, `${name}.cts`));
  return { directory: project, label: `@mastra/core ${version}` };
}

/** `tsc` for every way to resolve modules, of ES modules and of CommonJS ones. */
function checkTypes({ directory, label }) {
  const compile = (name, setting) => {
    const config = join(directory, `tsconfig.${name}.json`);
    const files = ['types.ts', 'types.cts', 'types-mastra.ts', 'types-mastra.cts'];
    writeJson(config, {
      compilerOptions: { target: 'es2022', lib: ['es2023', 'esnext.disposable'], types: ['node'], strict: true, noEmit: true, ...setting },
      // Core's types are those of an ES module, which CommonJS cannot import under node16.
      files: name === 'node16' ? files.filter(file => file !== 'types-mastra.cts') : files,
    });
    const args = ['node_modules/typescript/bin/tsc', '--pretty', 'false', '-p', config];
    return run(process.execPath, args, { cwd: directory });
  };
  const settings = {
    node16: { module: 'node16' },
    node20: { module: 'node20' },
    nodenext: { module: 'nodenext' },
    bundler: { module: 'esnext', moduleResolution: 'bundler' },
  };
  for (const [name, setting] of Object.entries(settings)) {
    const { problem } = compile(name, { ...setting, skipLibCheck: true });
    check(`${label}: types, strict, ${name}, in .ts and .cts`, problem);
  }
  // Core's declarations have errors of their own; ours must have none.
  const { stdout } = compile('libraries', { module: 'nodenext', skipLibCheck: false });
  const ours = stdout.split('\n').filter(line => line.startsWith(`node_modules/${source.name}/`));
  check(`${label}: types, without skipLibCheck, no error in ours`, text(ours));
}

/** Bundles of the Workspace's program; gives their files. */
function bundle({ directory, label }) {
  const variants = {
    'with mastra-agentcore outside': ['--external:mastra-agentcore'],
    'with only the addon outside': ['--external:mastra-agentcore-*', '--external:*.node'],
  };
  // Bundled CommonJS asks for `require`, which an ES module has not.
  const banner = 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);';
  return Object.entries(variants).map(([name, externals], index) => {
    const outfile = `bundle-${index}.mjs`;
    const { problem } = run(
      join(directory, 'node_modules/.bin/esbuild'),
      ['workspace.mjs', '--bundle', '--format=esm', '--platform=node', ...externals, `--banner:js=${banner}`, `--outfile=${outfile}`, '--log-level=warning'],
      { cwd: directory },
    );
    check(`${label}: esbuild bundles ${name}`, problem);
    return [`the bundle ${name} runs`, outfile];
  });
}

function checkUse({ directory, label }, bundles, node, version) {
  const programs = [
    ['every entry by import', 'imports.mjs'],
    ['every entry by require', 'requires.cjs'],
    ["a Workspace's execute-command tool", 'workspace.mjs'],
    ['an agent whose model calls the tool', 'agent.mjs'],
    ["the Editor's provider", 'editor.mjs'],
    ['worker threads, one terminated amid a command', 'threads.mjs'],
    ...bundles,
  ];
  for (const [title, file] of programs) {
    const { problem } = run(node, [file], { cwd: directory });
    check(`${label}, Node ${version}: ${title}`, problem);
  }
  const cli = run(node, [`node_modules/${source.name}/js/cli.js`, '--version'], { cwd: directory });
  check(
    `${label}, Node ${version}: the command line`,
    cli.problem ?? (cli.stdout.trim() !== source.version && `--version printed ${cli.stdout}`),
  );
}

if (!['linux', 'darwin'].includes(process.platform)) {
  console.error('pack:check needs Linux or macOS: it runs commands in the local runtime');
  process.exit(1);
}

const host = `${source.name}-${hostPlatform()}`;
const directories = publishable(join(scratch, 'publish'), { partial: true });
const packages = directories.map(directory => pack(directory));
const main = packages.pop();
const platform = packages.find(({ manifest }) => manifest.name === host);
if (!platform || !existsSync(join(root, 'js', platform.manifest.main))) {
  check(`the addon of ${hostPlatform()} is built`, 'run `npm run build` first');
}
checkMain(main);
checkPlatform(platform);

const bin = bareBin();
const cores = [
  { name: 'oldest', range: '1.64.0' },
  { name: 'newest', range: source.peerDependencies['@mastra/core'] },
];
for (const core of cores) {
  const project = install(core, main, packages, platform, bin);
  checkTypes(project);
  const bundles = bundle(project);
  for (const node of nodes) {
    const { problem, stdout } = run(node, ['--version'], { cwd: scratch });
    if (problem) check(`${node} is a Node`, problem);
    checkUse(project, bundles, node, stdout.trim());
  }
}
if (options.keep) console.log(`The projects are in ${scratch}`);
else rmSync(scratch, { recursive: true });
console.log(`pack:check: ${passed} checks passed`);
