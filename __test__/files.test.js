/** Files to and from a session: whole, or not at all, whatever the wire and the image are like. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentCoreError } from '../index.js';
import { AgentCoreRuntimeSandbox as NativeSandbox } from '../js/native.js';
import { localRuntime, localSandbox } from './support/sandboxes.js';
import { imageWith, MINIMAL } from './support/toolbox.js';

const run = promisify(execFile);

/** More than a command carries, and more than is compressed. */
const large = randomBytes(300_000);
const compressible = Buffer.from('all work and no play makes jack a dull boy\n'.repeat(60_000));

/** A directory here. */
function directoryHere() {
  const directory = mkdtempSync(join(tmpdir(), 'agentcore-files-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** What a transfer may have left in its session: files of ours. */
async function leftIn(sandbox) {
  const { stdout } = await sandbox.executeCommand('find "$HOME" "$TMPDIR" -name "*mastra*" ! -name "*cancelled*"');
  return stdout;
}

const failed = (path, why = '') => ({
  code: 'FILE_FAILED',
  mayHaveRun: true,
  message: expect.stringMatching(new RegExp(`FileError: ${path} cannot be .*${why}`, 's')),
});

async function equal(sandbox, path, content) {
  const read = await sandbox.readFile(path);
  return read.equals(Buffer.from(content));
}

describe('what is written is what is read', () => {
  it.each([
    ['text', 'it\'s "text" with $HOME, `id`, \\n and é\n'],
    ['text without a newline', 'x'],
    ['nothing', ''],
    ['nothing, as bytes', new Uint8Array()],
    ['every byte value', Uint8Array.from({ length: 2048 }, (_, n) => n % 256)],
    ['a view into a larger buffer', new Uint8Array(Buffer.from('abcdef').buffer, Buffer.from('abcdef').byteOffset, 3)],
    ['as much as shares a command', randomBytes(24_000)],
    ['one byte more', randomBytes(24_001)],
    ['exactly one chunk', randomBytes(48_000)],
    ['large', large],
    ['large and compressible', compressible],
    ['compressible at its beginning alone', Buffer.concat([compressible, large])],
  ])('%s', async (_, content) => {
    const { sandbox } = await localSandbox();
    await sandbox.writeFiles([{ path: 'file', content }]);
    expect(await equal(sandbox, 'file', content)).toBe(true);
    const { stdout } = await sandbox.executeCommand('stat -c "%a %s" file');
    expect(stdout).toBe(`644 ${Buffer.byteLength(content)}\n`);
    expect(await leftIn(sandbox)).toBe('');
  });

  it('under any name', async () => {
    const { sandbox } = await localSandbox();
    const names = [
      'a "quoted" name',
      "it's",
      "it's $HOME `id` \\ %s",
      'two\nlines',
      'trailing newline\n',
      'é 😀 ünï',
      '-rf',
      '--help',
      ' ',
      '*',
      '~',
      '#x',
      'a=b',
      'deep/er/and/deep er/still',
      '-d/-e/-f',
    ];
    const files = [...names, ...names.map(name => `large/${name}`)].map(path => ({
      path,
      content: path.startsWith('large/') ? Buffer.concat([large.subarray(0, 30_000), Buffer.from(path)]) : path,
    }));
    await sandbox.writeFiles(files);
    for (const { path, content } of files) {
      expect([path, await equal(sandbox, path, content)]).toEqual([path, true]);
    }
    expect(await leftIn(sandbox)).toBe('');
  });

  it('in an encoding', async () => {
    const { sandbox } = await localSandbox();
    await sandbox.writeFiles([{ path: 'x', content: 'é' }]);
    expect(await sandbox.readFile('x', { encoding: 'utf8' })).toBe('é');
    expect(await sandbox.readFile('x', { encoding: 'hex' })).toBe('c3a9');
  });

  it('with its mode, whatever the umask and the file before', async () => {
    const { sandbox } = await localSandbox();
    const files = [
      { path: 'plain', content: 'x' },
      { path: 'secret', content: 'x', mode: 0o600 },
      { path: 'program', content: '#!/bin/sh\necho ran', mode: 0o755 },
      { path: 'large', content: large, mode: 0o640 },
      { path: 'compressed', content: compressible, mode: 0o600 },
      { path: 'least', content: 'x', mode: 0o001 },
    ];
    await sandbox.executeCommand('touch plain; chmod 777 plain');
    await sandbox.writeFiles(files);
    const { stdout } = await sandbox.executeCommand('stat -c %a plain secret program large compressed least; ./program');
    expect(stdout).toBe('644\n600\n755\n640\n600\n1\nran\n');
  });

  it.each([0, -1, 0o1000, 0o4755, 1.5, Number.NaN, '644', null])('mode %s is refused before any request', async mode => {
    const { sandbox, runtime } = await localSandbox();
    const writing = sandbox.writeFiles([{ path: 'x', content: 'x' }, { path: 'y', content: 'y', mode }]);
    await expect(writing).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(runtime.requests().commands).toBe(0);
  });

  it.each([
    ['no path', { content: 'x' }, TypeError],
    ['an empty path', { path: '', content: 'x' }, TypeError],
    ['a NUL in the path', { path: 'a\0b', content: 'x' }, RangeError],
    ['a lone surrogate in the path', { path: 'a\ud800', content: 'x' }, RangeError],
    ['no content', { path: 'x' }, TypeError],
    ['a number as content', { path: 'x', content: 7 }, TypeError],
  ])('%s is refused before any request', async (_, file, kind) => {
    const { sandbox, runtime } = await localSandbox();
    await expect(sandbox.writeFiles([file])).rejects.toBeInstanceOf(kind);
    expect(runtime.requests().commands).toBe(0);
  });

  it('of no files at all', async () => {
    const { sandbox } = await localSandbox();
    await sandbox.writeFiles([]);
  });

  it('relative to workingDirectory, where there is one', async () => {
    const place = directoryHere();
    const { sandbox } = await localSandbox({ workingDirectory: `${place}/` });
    await sandbox.writeFiles([{ path: 'a/b', content: 'x' }, { path: join(place, 'c'), content: 'y' }]);
    expect(readFileSync(join(place, 'a/b'), 'utf8') + readFileSync(join(place, 'c'), 'utf8')).toBe('xy');
    expect(await sandbox.readFile('a/b', { encoding: 'utf8' })).toBe('x');
    await sandbox.downloadFile('a/b', join(place, 'd'));
    expect(readFileSync(join(place, 'd'), 'utf8')).toBe('x');
  });

  it('without Mastra, too', async () => {
    const runtime = await localRuntime();
    const sandbox = new NativeSandbox({ ...runtime.sandboxOptions, workingDirectory: directoryHere() });
    await sandbox.writeFiles([{ path: 'x', content: large }]);
    expect(await equal(sandbox, 'x', large)).toBe(true);
    await expect(sandbox.readFile('y')).rejects.toMatchObject(failed('.*/y'));
    const aborted = sandbox.readFile('x', { abortSignal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    await sandbox.close();
  });
});

describe('a link', () => {
  it('stays, and its target is written', async () => {
    const { sandbox } = await localSandbox();
    await sandbox.executeCommand('mkdir d; echo old >d/small; echo old >d/large; ln -s d/small a; ln -s "$PWD/d/large" b; ln -s d/new c');
    await sandbox.writeFiles([{ path: 'a', content: 'small' }, { path: 'b', content: large }, { path: 'c', content: 'new' }]);
    const { stdout } = await sandbox.executeCommand('cat d/small d/new; readlink a b c');
    expect(stdout).toMatch(/^smallnewd\/small\n.*\/d\/large\nd\/new\n$/);
    expect(await equal(sandbox, 'd/large', large)).toBe(true);
    expect(await leftIn(sandbox)).toBe('');
  });

  it('is followed by a read', async () => {
    const { sandbox } = await localSandbox();
    await sandbox.executeCommand('echo in >a; ln -s a b');
    expect(await sandbox.readFile('b', { encoding: 'utf8' })).toBe('in\n');
  });
});

describe('a file that cannot be', () => {
  const contents = [['small', 'x'], ['large', large], ['compressed', compressible]];

  it.each(contents)('written (%s) is named, and nothing is changed', async (_, content) => {
    const { sandbox } = await localSandbox();
    await sandbox.executeCommand('mkdir directory; echo old >file; ln -s directory link');
    const before = (await sandbox.executeCommand('find . | sort; cat file')).stdout;
    for (const [path, why] of [
      ['directory', 'it is a directory'],
      ['link', 'it is a directory'],
      ['directory/', 'it is a directory'],
      ['new/', 'it is a directory'],
      ['file/below', 'file'],
      ['/proc/none/x', '/proc/none'],
    ]) {
      const error = await sandbox.writeFiles([{ path, content }]).catch(thrown => thrown);
      expect(error).toBeInstanceOf(AgentCoreError);
      expect(error).toMatchObject(failed(path, why));
    }
    expect((await sandbox.executeCommand('find . | sort; cat file')).stdout).toBe(before);
    await expect.poll(() => leftIn(sandbox), { timeout: 15_000 }).toBe('');
  });

  it('written does not undo those before it', async () => {
    const { sandbox } = await localSandbox();
    await sandbox.executeCommand('mkdir d');
    const heard = [];
    const files = [{ path: 'a', content: '1' }, { path: 'd', content: '2' }, { path: 'c', content: '3' }];
    const writing = sandbox.writeFiles(files, { onProgress: ({ path, done }) => void heard.push([path, done]) });
    await expect(writing).rejects.toMatchObject(failed('d'));
    expect(heard).toEqual([['a', true]]);
    expect((await sandbox.executeCommand('ls; cat a')).stdout).toBe('a\nd\n1');
  });

  it('read is named', async () => {
    const { sandbox } = await localSandbox();
    await sandbox.executeCommand('mkdir directory; echo x >file; ln -s nowhere dangling');
    for (const [path, why] of [
      ['directory', 'it is a directory'],
      ['missing', 'missing'],
      ['dangling', 'dangling'],
      ['file/below', 'file/below'],
    ]) {
      await expect(sandbox.readFile(path)).rejects.toMatchObject(failed(path, why));
    }
  });
});

it('who reads while it is rewritten sees the old or the new, never half', async () => {
  const { sandbox } = await localSandbox();
  const old = Buffer.alloc(20_000, 'a');
  const newer = Buffer.concat([Buffer.alloc(30_000, 'b'), Buffer.from('c'.repeat(170_000))]);
  await sandbox.writeFiles([{ path: 'file', content: old }]);
  const seen = sandbox.executeCommand(`while [ ! -e stop ]; do
    c=$(cat file) || echo gone
    case $c in a*) [ \${#c} = 20000 ] || echo half ;; b*c) [ \${#c} = 200000 ] || echo half ;; *) echo other ;; esac
    n=$((n + 1))
  done
  [ $n -gt 3 ] && echo read`);
  for (let round = 0; round < 6; round += 1) {
    await sandbox.writeFiles([{ path: 'file', content: newer }]);
    await sandbox.writeFiles([{ path: 'file', content: old }]);
  }
  await sandbox.writeFiles([{ path: 'stop', content: '' }]);
  expect((await seen).stdout).toBe('read\n');
});

it('five hundred small files take few requests', async () => {
  const { sandbox, runtime } = await localSandbox();
  const files = Array.from({ length: 500 }, (_, n) => ({ path: `d${n % 7}/file-${n}`, content: `content ${n}\n` }));
  const done = new Set();
  await sandbox.writeFiles(files, { onProgress: progress => progress.done && done.add(progress.path) });
  expect(runtime.requests().commands).toBeLessThanOrEqual(6);
  expect(done.size).toBe(500);
  const { stdout } = await sandbox.executeCommand('cat d*/file-* | sort | uniq | wc -l; find . -type f | wc -l');
  expect(stdout).toBe('500\n500\n');
});

it('names that take much quoting find room in more requests', async () => {
  const { sandbox } = await localSandbox();
  const names = Array.from({ length: 150 }, (_, n) => `${`'"$\\\``.repeat(20)}${n}`);
  await sandbox.writeFiles(names.map(path => ({ path, content: 'x' })));
  expect((await sandbox.executeCommand('ls | wc -l')).stdout).toBe('150\n');
});

describe('progress', () => {
  it('is told while a file goes and comes, and at its end', async () => {
    const { sandbox } = await localSandbox();
    for (const transfer of [
      onProgress => sandbox.writeFiles([{ path: 'x', content: large }], { onProgress }),
      onProgress => sandbox.readFile('x', { onProgress }),
    ]) {
      const heard = [];
      await transfer(progress => void heard.push(progress));
      expect(heard.length).toBeGreaterThan(3);
      expect(heard.every(({ path }) => path === 'x')).toBe(true);
      const bytes = heard.map(progress => progress.bytes);
      expect(bytes).toEqual(bytes.toSorted((a, b) => a - b));
      expect(heard.at(-1)).toEqual({ path: 'x', bytes: large.length, done: true });
      expect(heard.filter(({ done }) => done)).toHaveLength(1);
    }
  });

  it('that throws ends the transfer with that', async () => {
    const { sandbox } = await localSandbox();
    const thrown = new Error('no more');
    const onProgress = () => {
      throw thrown;
    };
    await expect(sandbox.writeFiles([{ path: 'x', content: large }], { onProgress })).rejects.toBe(thrown);
    await sandbox.executeCommand('head -c 300000 /dev/urandom >y');
    await expect(sandbox.readFile('y', { onProgress })).rejects.toBe(thrown);
    await expect.poll(() => leftIn(sandbox), { timeout: 15_000 }).toBe('');
  });
});

describe('abort', () => {
  const aborted = { name: 'SandboxAbortError', code: 'ABORTED' };

  it('before anything sends nothing', async () => {
    const { sandbox, runtime } = await localSandbox();
    const options = { abortSignal: AbortSignal.abort() };
    await expect(sandbox.writeFiles([{ path: 'x', content: 'x' }], options)).rejects.toMatchObject(aborted);
    await expect(sandbox.readFile('x', options)).rejects.toMatchObject(aborted);
    await expect(sandbox.downloadFile('x', '/nowhere/x', options)).rejects.toMatchObject(aborted);
    expect(runtime.requests().commands).toBe(0);
  });

  it.each([
    ['large', randomBytes(2_000_000)],
    ['compressed', Buffer.concat([compressible.subarray(0, 100_000), randomBytes(2_000_000)])],
  ])('during a write (%s) leaves the old file, and nothing else', async (_, content) => {
    const { sandbox } = await localSandbox();
    await sandbox.writeFiles([{ path: 'x', content: 'old' }]);
    for (const after of [1, 500_000]) {
      const controller = new AbortController();
      const onProgress = ({ bytes }) => bytes >= after && controller.abort();
      const writing = sandbox.writeFiles([{ path: 'x', content }], { abortSignal: controller.signal, onProgress });
      await expect(writing).rejects.toMatchObject(aborted);
    }
    await expect.poll(() => leftIn(sandbox), { timeout: 15_000 }).toBe('');
    expect(await sandbox.readFile('x', { encoding: 'utf8' })).toBe('old');
  });

  it('at any moment leaves nothing', async () => {
    const { sandbox } = await localSandbox();
    await sandbox.writeFiles([{ path: 'x', content: 'old' }]);
    for (let ms = 0; ms < 120; ms += 6) {
      const content = Buffer.alloc(130_000, ms);
      await sandbox.writeFiles([{ path: 'x', content }], { abortSignal: AbortSignal.timeout(ms) }).catch(() => {});
    }
    await expect.poll(() => leftIn(sandbox), { timeout: 15_000 }).toBe('');
    expect([3, 130_000]).toContain((await sandbox.readFile('x')).length);
  });

  it('while the content has nothing to give', async () => {
    const { sandbox } = await localSandbox();
    let closed = 0;
    const stalled = first => ({
      [Symbol.asyncIterator]: () => {
        const pieces = [...first];
        return {
          next: () => (pieces.length > 0 ? { value: pieces.shift(), done: false } : new Promise(() => {})),
          return: async () => {
            closed += 1;
            return { value: undefined, done: true };
          },
        };
      },
    });
    for (const first of [[], [large], [compressible]]) {
      const writing = sandbox.writeFiles([{ path: 'x', content: stalled(first) }], { abortSignal: AbortSignal.timeout(300) });
      await expect(writing).rejects.toMatchObject(aborted);
    }
    expect(closed).toBe(3);
    await expect.poll(() => leftIn(sandbox), { timeout: 15_000 }).toBe('');
  });

  it('during a read leaves no file here, and no process there', async () => {
    const { sandbox, runtime } = await localSandbox();
    await sandbox.executeCommand('head -c 20000000 /dev/urandom >x');
    const directory = directoryHere();
    const controller = new AbortController();
    const options = { abortSignal: controller.signal, onProgress: () => controller.abort() };
    await expect(sandbox.downloadFile('x', join(directory, 'x'), options)).rejects.toMatchObject(aborted);
    expect(readdirSync(directory)).toEqual([]);
    await expect(sandbox.readFile('x', { abortSignal: AbortSignal.timeout(5) })).rejects.toMatchObject(aborted);
    await expect.poll(() => runtime.sessions()[0].runningCommands, { timeout: 10_000 }).toBe(0);
  });

  it('by destroy() waits until all is cleaned up', async () => {
    const { sandbox, runtime } = await localSandbox();
    await sandbox.executeCommand('true');
    const { directory } = runtime.sessions()[0];
    let begun = () => {};
    const writing = sandbox.writeFiles([{ path: 'x', content: randomBytes(30_000_000) }], { onProgress: () => begun() });
    await new Promise(resolve => {
      begun = resolve;
    });
    const rejected = expect(writing).rejects.toMatchObject(aborted);
    await sandbox._destroy();
    await rejected;
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe('the wire', () => {
  const faults = {
    'connections that break': [
      { kind: 'cut', afterEvents: 1, count: 2 },
      { kind: 'drop', count: 2 },
      { kind: 'reset', afterEvents: 0, count: 2 },
      { kind: 'end', afterEvents: 1 },
      { kind: 'badCrc', afterEvents: 1 },
    ],
    'refusals': [
      { kind: 'status', status: 429, errorType: 'ThrottlingException', count: 2 },
      { kind: 'status', status: 500, errorType: 'InternalServerException', count: 2 },
      { kind: 'status', status: 409, errorType: 'RetryableConflictException', count: 2 },
      { kind: 'status', status: 503, errorType: 'ServiceUnavailable' },
      { kind: 'exception', exceptionType: 'throttlingException', afterEvents: 1 },
    ],
  };
  describe.each(Object.entries(faults))('%s', (_, list) => {
    it('a large file arrives there', async () => {
      const { sandbox, runtime } = await localSandbox();
      const content = randomBytes(1_200_000);
      let begun = false;
      const onProgress = () => {
        // Met by the many commands of its middle: one alone has five attempts.
        if (!begun) for (const fault of list) runtime.inject(fault);
        begun = true;
      };
      await sandbox.writeFiles([{ path: 'x', content }], { onProgress });
      expect(await equal(sandbox, 'x', content)).toBe(true);
      await expect.poll(() => leftIn(sandbox), { timeout: 15_000 }).toBe('');
    });

    it.each([['compressed', compressible], ['small', 'small']])('a file (%s) arrives there', async (__, content) => {
      const { sandbox, runtime } = await localSandbox();
      await sandbox.writeFiles([{ path: 'x', content: 'old' }]);
      for (const fault of list.slice(0, 2)) runtime.inject({ ...fault, count: 1 });
      await sandbox.writeFiles([{ path: 'x', content }]);
      expect(await equal(sandbox, 'x', content)).toBe(true);
      await expect.poll(() => leftIn(sandbox), { timeout: 15_000 }).toBe('');
    });
  });

  it.each([['large', randomBytes(1_500_000)], ['compressed', Buffer.from(randomBytes(1_000_000).toString('hex'))]])(
    'a file (%s) is read on where its answer broke off',
    async (_, content) => {
      const { sandbox, runtime } = await localSandbox();
      await sandbox.writeFiles([{ path: 'x', content }]);
      for (const fault of [
        { kind: 'cut', afterBytes: 200_000, count: 2 },
        { kind: 'drop' },
        { kind: 'reset', afterBytes: 250_001 },
        { kind: 'status', status: 500, errorType: 'InternalServerException' },
        { kind: 'end', afterEvents: 2 },
        { kind: 'badCrc', afterEvents: 3 },
        { kind: 'exception', exceptionType: 'internalServerException', afterEvents: 3 },
      ]) {
        runtime.inject(fault);
      }
      const before = runtime.requests().commands;
      const sizes = [];
      const read = await sandbox.readFile('x', { onProgress: ({ bytes }) => void sizes.push(bytes) });
      expect(read.equals(content)).toBe(true);
      expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
      expect(runtime.requests().commands - before).toBe(9);
    },
  );

  it('that stays broken is an error, not a file', async () => {
    const { sandbox, runtime } = await localSandbox();
    await sandbox.writeFiles([{ path: 'x', content: large }]);
    runtime.inject({ kind: 'cut', afterEvents: 0, count: 10 });
    await Promise.all([
      expect(sandbox.readFile('x')).rejects.toMatchObject({ code: 'STREAM_BROKEN' }),
      expect(sandbox.writeFiles([{ path: 'y', content: 'new' }])).rejects.toMatchObject({ code: 'STREAM_BROKEN' }),
    ]);
  });
});

it.each([['more', randomBytes(200_000)], ['nothing', Buffer.alloc(0)]])(
  'a session that is replaced when %s is left to write makes the write fail',
  async (_, rest) => {
    const { sandbox } = await localSandbox();
    let sent = 0;
    const onProgress = ({ bytes }) => void (sent = bytes);
    async function* content() {
      yield large.subarray(0, 96_000);
      await expect.poll(() => sent).toBe(96_000);
      await sandbox.stopRuntimeSession();
      yield rest;
    }
    const writing = sandbox.writeFiles([{ path: 'x', content: content() }], { onProgress });
    await expect(writing).rejects.toMatchObject(failed('x'));
    await expect.poll(() => leftIn(sandbox), { timeout: 15_000 }).toBe('');
    await expect(sandbox.readFile('x')).rejects.toMatchObject(failed('x'));
  },
);

describe('a file that changes while it is read', () => {
  it.each([
    ['grows', 'echo more >>x'],
    ['has other bytes', 'printf x | dd of=x bs=1 seek=0 conv=notrunc 2>/dev/null'],
    ['shrinks', ': >x'],
  ])('%s', async (_, change) => {
    const { sandbox } = await localSandbox();
    await sandbox.executeCommand('head -c 16000000 /dev/urandom >x');
    let changed;
    const destination = new Writable({
      async write(_piece, _encoding, done) {
        changed ??= sandbox.executeCommand(change);
        await changed;
        done();
      },
    });
    await expect(sandbox.downloadFile('x', destination)).rejects.toMatchObject(failed('x', 'it changed while it was read'));
  });
});

describe('a content that comes piece by piece', () => {
  it('as text, bytes, and nothing', async () => {
    const { sandbox } = await localSandbox();
    async function* pieces() {
      yield 'é';
      yield Buffer.from('b');
      yield new Uint8Array();
      yield '';
      yield Uint8Array.of(0, 255);
    }
    // eslint-disable-next-line no-empty-function
    async function* none() {}
    await sandbox.writeFiles([{ path: 'x', content: pieces() }, { path: 'y', content: none() }]);
    expect(await sandbox.readFile('x', { encoding: 'hex' })).toBe('c3a96200ff');
    expect(await sandbox.readFile('y')).toHaveLength(0);
  });

  it('as a file here, of odd pieces', async () => {
    const { sandbox } = await localSandbox();
    const here = join(directoryHere(), 'x');
    for (const content of [large, compressible]) {
      writeFileSync(here, content);
      await sandbox.writeFiles([{ path: 'x', content: createReadStream(here, { highWaterMark: 7_777 }) }]);
      expect(await equal(sandbox, 'x', content)).toBe(true);
    }
  });

  it.each([['large', large], ['compressed', compressible]])('and fails (%s): the write fails with that', async (_, first) => {
    const { sandbox } = await localSandbox();
    const thrown = new Error('the source is dry');
    async function* failing() {
      yield first;
      yield first;
      throw thrown;
    }
    await sandbox.writeFiles([{ path: 'x', content: 'old' }]);
    await expect(sandbox.writeFiles([{ path: 'x', content: failing() }])).rejects.toBe(thrown);
    await expect.poll(() => leftIn(sandbox), { timeout: 15_000 }).toBe('');
    expect(await sandbox.readFile('x', { encoding: 'utf8' })).toBe('old');
    const missing = createReadStream('/no/such/file');
    await expect(sandbox.writeFiles([{ path: 'x', content: missing }])).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is told when the rest is not wanted', async () => {
    const { sandbox } = await localSandbox();
    await sandbox.executeCommand('mkdir d');
    const here = join(directoryHere(), 'x');
    for (const content of [large, compressible]) {
      writeFileSync(here, content);
      const stream = createReadStream(here);
      await expect(sandbox.writeFiles([{ path: 'd', content: stream }])).rejects.toMatchObject(failed('d'));
      await expect.poll(() => stream.destroyed).toBe(true);
    }
  });
});

describe('a download', () => {
  it('replaces the file here when it is whole', async () => {
    const { sandbox } = await localSandbox();
    const directory = directoryHere();
    const here = join(directory, 'x');
    writeFileSync(here, 'old');
    for (const content of [large, compressible, Buffer.alloc(0)]) {
      await sandbox.writeFiles([{ path: 'x', content }]);
      await sandbox.downloadFile('x', here);
      expect(readFileSync(here).equals(content)).toBe(true);
    }
    expect(readdirSync(directory)).toEqual(['x']);
  });

  it('that fails leaves the file here', async () => {
    const { sandbox, runtime } = await localSandbox();
    const directory = directoryHere();
    const here = join(directory, 'x');
    writeFileSync(here, 'old');
    await expect(sandbox.downloadFile('missing', here)).rejects.toMatchObject(failed('missing'));
    await sandbox.writeFiles([{ path: 'x', content: large }]);
    runtime.inject({ kind: 'status', status: 403, errorType: 'AccessDeniedException' });
    await expect(sandbox.downloadFile('x', here)).rejects.toMatchObject({ httpStatusCode: 403 });
    await expect(sandbox.downloadFile('x', join(directory, 'no/such/x'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(readdirSync(directory)).toEqual(['x']);
    expect(readFileSync(here, 'utf8')).toBe('old');
  });

  it('waits for a slow stream, and does not end it', async () => {
    const { sandbox } = await localSandbox();
    for (const content of [randomBytes(3_000_000), compressible]) {
      await sandbox.writeFiles([{ path: 'x', content }]);
      const stream = new PassThrough({ highWaterMark: 1000 });
      let told = 0;
      const downloading = sandbox.downloadFile('x', stream, { onProgress: ({ bytes }) => void (told = bytes) });
      await once(stream, 'readable');
      await new Promise(resolve => setTimeout(resolve, 300));
      // Nobody has read: it holds one piece, and was offered no more than another.
      expect(told).toBeLessThan(200_000);
      const pieces = [];
      stream.on('data', piece => void pieces.push(piece));
      await downloading;
      expect(stream.writableEnded).toBe(false);
      expect(stream.listenerCount('error') + stream.listenerCount('close')).toBe(0);
      expect(Buffer.concat(pieces).equals(content)).toBe(true);
    }
  });

  it.each([['large', large], ['compressed', compressible]])('ends with what its stream fails with (%s)', async (_, content) => {
    const { sandbox } = await localSandbox();
    await sandbox.writeFiles([{ path: 'x', content }]);
    const full = new Error('the disk is full');
    for (const highWaterMark of [1, 2 ** 24]) {
      const stream = new Writable({ highWaterMark, write: (_piece, _encoding, done) => setTimeout(done, 5, full) });
      await expect(sandbox.downloadFile('x', stream)).rejects.toBe(full);
    }
    const closed = new Writable({ write: () => closed.destroy() });
    await expect(sandbox.downloadFile('x', closed)).rejects.toThrow();
    await expect(sandbox.downloadFile('x', closed)).rejects.toThrow();
  });
});

describe('compression', () => {
  it('saves commands where it helps, and is left out where not', async () => {
    const { sandbox, runtime } = await localSandbox();
    await sandbox.writeFiles([{ path: 'warm', content: 'x' }]);
    const commandsOf = async transfer => {
      const before = runtime.requests().commands;
      await transfer();
      return runtime.requests().commands - before;
    };
    const noise = randomBytes(480_000);
    const write = content => commandsOf(() => sandbox.writeFiles([{ path: 'x', content }]));
    expect(await write(noise)).toBe(12);
    expect(await write(compressible)).toBe(3);
    // An answer that is longer than this is cut and asked for again.
    const read = async content => {
      runtime.inject({ kind: 'cut', afterBytes: 300_000 });
      return commandsOf(async () => expect(await equal(sandbox, 'x', content)).toBe(true));
    };
    expect(await read(compressible)).toBe(1);
    await write(noise);
    expect(await read(noise)).toBe(2);
  });

  it('shows nobody the bytes of a private file', async () => {
    const { sandbox } = await imageWith([...MINIMAL, 'base64', 'ls', 'stat'], {}, {
      gzip: 'case $* in *d*) umask >>"$HOME/umasks" ;; esac\nexec /usr/bin/gzip "$@"',
    });
    await sandbox.writeFiles([{ path: 'x', content: compressible, mode: 0o600 }]);
    const { stdout } = await sandbox.executeCommand('cat umasks; stat -c %a x');
    expect(stdout).toBe('0077\n600\n');
  });
});

describe('an image', () => {
  const contents = [
    ['empty', Buffer.alloc(0)],
    ['small', Buffer.from(Uint8Array.from({ length: 512 }, (_, n) => n % 256))],
    // In octal, longer than a command.
    ['middle', randomBytes(23_000)],
    ['large', randomBytes(100_000)],
    ['compressible', compressible.subarray(0, 300_000)],
  ];
  it.each([
    ['openssl for base64', ['openssl']],
    ['neither base64 nor openssl', ['od']],
    ['no gzip', ['base64', 'sha256sum']],
    ['no sha256sum', ['base64', 'gzip']],
    ['everything', ['base64', 'gzip', 'sha256sum', 'openssl', 'od']],
  ])('with %s', async (_, names) => {
    const { sandbox, runtime } = await imageWith([...MINIMAL, ...names, 'find', 'ls']);
    for (const [name, content] of contents) {
      // What quotes are in a command makes it longer.
      const path = name === 'middle' ? "it's" : name;
      await sandbox.writeFiles([{ path, content }]);
      expect([path, await equal(sandbox, path, content)]).toEqual([path, true]);
    }
    runtime.inject({ kind: 'cut', afterBytes: 30_000, count: 2 });
    expect(await equal(sandbox, 'large', contents[3][1])).toBe(true);
    await expect.poll(() => leftIn(sandbox), { timeout: 15_000 }).toBe('');
  });

  it.each(['dd', 'wc', 'mkdir'])('without %s is told to have it', async missing => {
    const { sandbox } = await imageWith([...MINIMAL, 'base64'].filter(name => name !== missing));
    const expected = { code: 'TOOL_MISSING', mayHaveRun: false, message: expect.stringContaining(`needs ${missing} in the session's image`) };
    await expect(sandbox.writeFiles([{ path: 'x', content: 'x' }])).rejects.toMatchObject(expected);
    if (missing === 'mkdir') return;
    await expect(sandbox.readFile('x')).rejects.toMatchObject(expected);
  });

  it('without anything that prints bytes is told to have it', async () => {
    const { sandbox } = await imageWith(MINIMAL);
    await sandbox.writeFiles([{ path: 'x', content: 'x' }]);
    await expect(sandbox.readFile('x')).rejects.toMatchObject({ code: 'TOOL_MISSING', message: expect.stringContaining('needs od ') });
  });

  it('is not asked again', async () => {
    const { sandbox, runtime } = await localSandbox();
    for (let round = 0; round < 3; round += 1) await sandbox.writeFiles([{ path: 'x', content: 'x' }]);
    expect(runtime.requests().commands).toBe(4);
  });
});

it('with shell: false is refused, and says why', async () => {
  const { sandbox, runtime } = await localSandbox({ shell: false });
  await expect(sandbox.writeFiles([{ path: 'x', content: 'x' }])).rejects.toThrow('needs a shell');
  await expect(sandbox.readFile('x')).rejects.toThrow('needs a shell');
  expect(runtime.requests().commands).toBe(0);
});

it('after destroy() nothing is transferred', async () => {
  const { sandbox } = await localSandbox();
  await sandbox._destroy();
  await expect(sandbox.writeFiles([{ path: 'x', content: 'x' }])).rejects.toMatchObject({ name: 'SandboxNotReadyError' });
});

it('a hundred megabytes go and come in little memory', { timeout: 120_000 }, async () => {
  const runtime = await localRuntime();
  const script = fileURLToPath(new URL('support/transfer.js', import.meta.url));
  expect(existsSync(script)).toBe(true);
  // Node 20's and 22's own: Node 24 lets V8's young generation grow by more than is asked here.
  const young = '--max-semi-space-size=16';
  const { stdout } = await run(process.execPath, ['--no-warnings', young, script, JSON.stringify(runtime.sandboxOptions), '100'], { timeout: 110_000 });
  const told = JSON.parse(stdout);
  console.log(
    `100 MB: ${told.writtenPerSecond.toFixed(1)} MB/s there, ${told.readPerSecond.toFixed(1)} MB/s back, RSS grew by ${told.growth.toFixed(1)} MiB`,
  );
  expect(told.equal).toBe(true);
  expect(told.growth).toBeLessThanOrEqual(64);
});
