/**
 * What README.md and docs/ say: code runs, data parses, commands and links lead somewhere.
 *
 * A comment above a block says more about it: `<!-- continues -->`, it goes on where the block
 * before ended; `<!-- not run: REASON -->`; and of a `text` block `<!-- prints -->`, it is what
 * the program above it prints. A function that a program exports is called with a model.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SandboxNotReadyError } from '@mastra/core/workspace';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LocalAgentCoreRuntime } from '../js/local.js';
import { parse } from './support/markdown.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = path => readFileSync(join(root, path), 'utf8');
// Within the package, so that its own name leads to it.
const cache = join(root, '.cache/docs', String(process.pid));
const API = 'docs/api.md';
const NOT_RUN_AT_MOST = 4;

const paths = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs'), { recursive: true })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`),
];
const pages = new Map(paths.map(path => [path, parse(read(path))]));
const blocks = [...pages].flatMap(([path, page]) => page.blocks.map(block => ({ path, ...block })));
const inLanguages = (...languages) => blocks.filter(({ language }) => languages.includes(language));
const where = ({ path, line }) => `${path}:${line}`;

/** Blocks that belong together, as programs. */
const programs = [];
for (const block of blocks) {
  if (['js', 'mjs', 'ts'].includes(block.language)) {
    const { path, line, language, code, note } = block;
    if (note === 'continues') programs.at(-1).code += `\n${code}`;
    else programs.push({ path, line, language, code, notRun: /^not run: .+/.test(note ?? '') });
  } else if (block.note === 'prints') {
    programs.at(-1).prints = block.code;
  }
}
for (const [number, program] of programs.entries()) {
  const test = /from 'vitest'/.test(program.code) ? '.test' : '';
  program.file = join(cache, `${number}`, `snippet${test}.${program.language === 'ts' ? 'mts' : 'mjs'}`);
}
const running = programs.filter(({ notRun }) => !notRun);

beforeAll(() => {
  for (const { file, code } of programs) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${code}\n`);
  }
});
afterAll(() => rmSync(cache, { recursive: true, force: true }));

/** Runs a program as a user would who has set the environment's variables. */
function run(args, runtime, cwd) {
  const { PATH, HOME, TMPDIR = '/tmp' } = process.env;
  const env = {
    PATH,
    HOME,
    TMPDIR,
    // What a newer Node warns of is not the program's.
    NODE_NO_WARNINGS: '1',
    AGENTCORE_RUNTIME_ARN: runtime.agentRuntimeArn,
    AWS_REGION: runtime.region,
    AWS_ENDPOINT_URL_BEDROCK_AGENTCORE: runtime.endpoint,
    AWS_ACCESS_KEY_ID: runtime.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: runtime.credentials.secretAccessKey,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  return new Promise(resolve => {
    execFile(process.execPath, args, { cwd, env, timeout: 60_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
    );
  });
}

const LAST_WORD = 'Nothing to do: all 4 tests pass.';
const exportsFunctions = ({ code }) => /^export (async )?function/m.test(code);

/** The program that calls what another one exports. */
const caller = file => `
import { scriptedModel } from '${join(root, '__test__/support/scripted-model.js')}';
const exported = await import('${file}');
for (const each of Object.values(exported)) {
  if (typeof each !== 'function') continue;
  await each(scriptedModel([
    { call: { command: 'echo "all 4 tests pass"' } },
    { text: '${LAST_WORD}' },
  ]));
}`;

/** A program's file without types. */
function plain({ file, code, language }) {
  if (language !== 'ts') return file;
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  const stripped = join(dirname(file), 'stripped.mjs');
  writeFileSync(stripped, ts.transpileModule(code, { compilerOptions }).outputText);
  return stripped;
}

/** What Node runs of a program. */
function entry(program) {
  const { file } = program;
  const directory = dirname(file);
  if (file.includes('.test.')) {
    const config = join(directory, 'vitest.config.mjs');
    writeFileSync(config, `export default { test: { include: ['*.test.mjs'] } };`);
    return [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', directory, '--config', config];
  }
  const main = join(directory, 'main.mjs');
  writeFileSync(main, caller(plain(program)));
  return [main];
}

describe('a program runs', () => {
  it.each(running.map(program => [where(program), program]))('%s', { timeout: 90_000 }, async (_, program) => {
    const runtime = await LocalAgentCoreRuntime.start();
    try {
      const { code, stdout, stderr } = await run(entry(program), runtime, dirname(program.file));
      expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
      if (exportsFunctions(program)) {
        expect(stdout).toContain(LAST_WORD);
        expect(runtime.requests().commands).toBeGreaterThan(0);
      }
      if (program.prints !== undefined) expect(stdout.trimEnd()).toBe(program.prints.trimEnd());
    } finally {
      await runtime.stop();
    }
  });
});

it('few programs are not run, and all of them are programs', () => {
  const idle = programs.filter(({ notRun }) => notRun);
  expect(idle.length, idle.map(where).join()).toBeLessThanOrEqual(NOT_RUN_AT_MOST);
  for (const program of idle) {
    const { status, stderr } = spawnSync(process.execPath, ['--check', plain(program)], { encoding: 'utf8' });
    expect(status, `${where(program)}: ${stderr}`).toBe(0);
  }
});

/** What the compiler says about programs, with the lines of their pages. */
function complaints(checked, options) {
  const program = ts.createProgram(checked.map(({ file }) => file), {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    noEmit: true,
    skipLibCheck: true,
    ...options,
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const page = checked.find(each => each.file === file?.fileName);
    const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    const text = ts.flattenDiagnosticMessageText(messageText, '\n');
    return page ? `${where(page)}, its line ${line}: ${text}` : text;
  });
}

describe('the public types allow', { timeout: 90_000 }, () => {
  it('programs in TypeScript', () => {
    const checked = programs.filter(({ language }) => language === 'ts');
    expect(checked.length).toBeGreaterThan(0);
    expect(complaints(checked, { strict: true })).toEqual([]);
  });

  it('programs in JavaScript', () => {
    const checked = programs.filter(({ language }) => language !== 'ts');
    expect(complaints(checked, { strict: false, allowJs: true, checkJs: true })).toEqual([]);
  });
});

it('knows every block for what it is', () => {
  const known = ['js', 'mjs', 'ts', 'json', 'sh', 'diff', 'text', 'dockerfile'];
  for (const block of blocks) {
    const expected = block.path === API ? ['typescript'] : known;
    expect(expected, where(block)).toContain(block.language);
    expect(block.note ?? 'continues', where(block)).toMatch(/^(continues|prints|not run: .+|Written by .+)$/);
  }
});

it('data parses', () => {
  for (const block of inLanguages('json')) {
    expect(() => JSON.parse(block.code), where(block)).not.toThrow();
  }
});

it('commands exist, and so do their options', () => {
  const { scripts } = JSON.parse(read('package.json'));
  const options = text => text.match(/--\w[\w-]*/g) ?? [];
  const usage = spawnSync(process.execPath, [join(root, 'js/cli.js'), '--help'], { encoding: 'utf8' }).stdout;
  for (const block of inLanguages('sh')) {
    for (const [, script] of block.code.matchAll(/npm run ([\w:-]+)/g)) {
      expect(Object.keys(scripts), where(block)).toContain(script);
    }
    for (const [, task, rest] of block.code.matchAll(/npx mastra-agentcore (\S+)(.*)/g)) {
      expect(usage, where(block)).toMatch(new RegExp(`^ +mastra-agentcore ${task} `, 'm'));
      expect(options(usage), where(block)).toEqual(expect.arrayContaining(options(rest.split(' -- ')[0])));
    }
  }
});

it('links lead to pages and headings that exist', () => {
  for (const [path, { links }] of pages) {
    for (const link of links.filter(target => !/^[a-z]+:/.test(target))) {
      const [target, anchor] = link.split('#');
      const file = target === '' ? path : relative(root, join(root, dirname(path), target));
      expect(existsSync(join(root, file)), `${path} → ${link}`).toBe(true);
      if (!anchor) continue;
      const page = pages.get(file) ?? parse(read(file));
      expect([...page.anchors], `${path} → ${link}`).toContain(anchor);
    }
  }
});

it('every page can be found from the index', () => {
  const { links } = pages.get('docs/README.md');
  for (const path of paths.filter(each => each.startsWith('docs/') && each !== 'docs/README.md')) {
    expect(links.map(link => link.split('#')[0])).toContain(path.slice('docs/'.length));
  }
});

it('api.md is what the declarations say', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/api-docs.js', '--check'], { cwd: root, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

it.each([
  ['docs/options.md', 'native.d.ts', 'AgentCoreRuntimeClientOptions'],
  ['docs/options.md', 'native.d.ts', 'AgentCoreRuntimeOptions'],
  ['docs/options.md', 'native.d.ts', 'AgentCoreRuntimeSandboxOptions'],
  ['docs/options.md', 'index.d.ts', 'AgentCoreRuntimeSandboxOptions'],
  ['docs/options.md', 'native.d.ts', 'ExecuteCommandOptions'],
  ['docs/options.md', 'native.d.ts', 'CommandResult'],
  ['docs/options.md', 'native.d.ts', 'AgentCoreErrorFacts'],
  ['docs/local-runtime.md', 'local.d.ts', 'LocalAgentCoreRuntimeOptions'],
])('%s documents every member of %s %s', (path, types, name) => {
  const body = new RegExp(`interface ${name}[^{]*\\{([^]*?)\\n\\}`).exec(read(types))[1];
  for (const [, member] of body.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)) {
    expect(read(path), member).toContain(`\`${member}\``);
  }
});

it('troubleshooting quotes codes and messages as the sources have them', () => {
  const sources = ['js', 'src']
    .flatMap(folder => readdirSync(join(root, folder), { recursive: true }).map(name => `${folder}/${name}`))
    .filter(name => /\.(c?js|rs)$/.test(name))
    .map(read)
    .join('\n')
    // A string of Rust goes on where the next line's text begins.
    .replaceAll(/\\\n\s*/g, '')
    .replaceAll('{MAX_COMMAND_BYTES}', '65536')
    .concat(new SandboxNotReadyError('of Mastra').message)
    .toLowerCase();
  const quotes = read('docs/troubleshooting.md').split('\n\n').flatMap(table => {
    const quoting = { '| the message says |': 1, '| code | message |': 2 };
    const columns = Object.entries(quoting).find(([head]) => table.startsWith(head))?.[1] ?? 0;
    const cells = table.split('\n').flatMap(row => row.split(' | ').slice(0, columns));
    return cells.flatMap(cell => cell.match(/`[^`]+`/g) ?? []).map(quote => quote.slice(1, -1));
  });
  expect(quotes.length).toBeGreaterThan(40);
  for (const quote of quotes) {
    for (const piece of quote.split('…').map(each => each.trim()).filter(Boolean)) {
      expect(sources.includes(piece.toLowerCase()), piece).toBe(true);
    }
  }
});
