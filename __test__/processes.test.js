/** Background processes: started, heard, fed, found again and ended, on a local runtime. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { createWorkspaceTools, Workspace } from '@mastra/core/workspace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { localSandbox } from './support/sandboxes.js';

const child = fileURLToPath(new URL('support/found.js', import.meta.url));

/** Lines 1 to n, as seq prints them. */
const numbers = count => Array.from({ length: count }, (_, n) => `${n + 1}\n`).join('');
const sha256 = text => createHash('sha256').update(text).digest('hex');

async function withProcesses(options, runtimeOptions) {
  const { sandbox, runtime } = await localSandbox({ processes: true, ...options }, runtimeOptions);
  onTestFinished(() => sandbox._destroy());
  return { sandbox, runtime, processes: sandbox.processes };
}

/** Processes of this machine whose command line has `text`. */
function running(text) {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .filter(pid => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').join(' ').includes(text);
      } catch {
        return false;
      }
    });
}

describe('a process', () => {
  it('streams its output, both streams apart, and ends with its code', async () => {
    const { processes } = await withProcesses();
    const heard = [];
    const handle = await processes.spawn('echo one; echo two >&2; sleep 0.3; echo three; exit 7', {
      onStdout: text => void heard.push(text),
    });
    const result = await handle.wait();
    expect(result).toMatchObject({ exitCode: 7, success: false, stdout: 'one\nthree\n', stderr: 'two\n', killed: false, timedOut: false });
    expect(heard.join('')).toBe('one\nthree\n');
    expect(heard.length).toBeGreaterThan(1);
    expect(handle.exitCode).toBe(7);
    expect(handle.command).toContain('echo one');
  });

  it('has variables, those of the sandbox too, and a directory', async () => {
    const { sandbox, processes } = await withProcesses({ env: { A: "it's", B: 'sandbox' }, workingDirectory: '/usr' });
    sandbox.setEnv(env => ({ ...env, C: '$HOME `x` "y"' }));
    const handle = await processes.spawn('printf "%s|" "$A" "$B" "$C"; pwd', { env: { B: 'own\nline' }, cwd: 'lib' });
    expect((await handle.wait()).stdout).toBe(`it's|own\nline|$HOME \`x\` "y"|/usr/lib\n`);
  });

  it('does not start where its directory is missing', async () => {
    const { processes } = await withProcesses();
    await expect(processes.spawn('echo lost', { cwd: '/nowhere' })).rejects.toMatchObject({ code: 'PROCESS_FAILED', message: /nowhere/ });
    expect(await processes.list()).toEqual([]);
  });

  it('may be a text that no command could carry', async () => {
    const { processes } = await withProcesses();
    const handle = await processes.spawn(`printf %s "${"it's ".repeat(20_000)}" | wc -c`);
    expect((await handle.wait()).stdout.trim()).toBe('100000');
  });

  it('keeps characters whole and replaces what is none', async () => {
    const { processes } = await withProcesses();
    const handle = await processes.spawn(String.raw`printf 'h\303'; sleep 0.3; printf '\251 \360\237'; sleep 0.3; printf '\230\200 \377!'`);
    expect((await handle.wait()).stdout).toBe('hé 😀 \uFFFD!');
  });

  it('retains the newest output only, and calls with all of it', async () => {
    const { processes } = await withProcesses();
    let heard = '';
    const handle = await processes.spawn('seq 1 5000', { maxRetainedBytes: 10, onStdout: text => void (heard += text) });
    expect(await handle.wait()).toMatchObject({ stdout: '4999\n5000\n', stdoutTruncated: true });
    expect(heard).toBe(numbers(5000));
  });

  it('ends by its own timeout, with all that it started', async () => {
    const { processes } = await withProcesses();
    const handle = await processes.spawn('echo begun; sleep 7001 & sleep 7002', { timeout: 500 });
    expect(await handle.wait()).toMatchObject({ exitCode: 124, timedOut: true, killed: true, stdout: 'begun\n' });
    await expect.poll(() => running('sleep 7001').length + running('sleep 7002').length).toBe(0);
  });

  it('ends with what a listener threw', async () => {
    const { processes } = await withProcesses();
    const oops = new Error('oops');
    const handle = await processes.spawn('echo begun; sleep 7003', {
      onStdout: () => {
        throw oops;
      },
    });
    await expect(handle.wait()).rejects.toBe(oops);
    await expect.poll(() => running('sleep 7003').length, { timeout: 10_000 }).toBe(0);
  });
});

describe('stdin', () => {
  it('arrives in order, byte for byte, up to its end', async () => {
    const { processes } = await withProcesses();
    const handle = await processes.spawn('sha256sum');
    const bytes = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, n) => n)), Buffer.alloc(300_000, 'é\0')]);
    await Promise.all([handle.sendStdin(bytes.subarray(0, 1000)), handle.sendStdin(bytes.subarray(1000))]);
    await handle.closeStdin();
    expect((await handle.wait()).stdout).toBe(`${sha256(bytes)}  -\n`);
  });

  it('is a stream, whose end is the end', async () => {
    const { processes } = await withProcesses();
    const handle = await processes.spawn('cat; echo over');
    handle.writer.write('one ');
    handle.writer.end('two ');
    let text = '';
    for await (const piece of handle.reader) text += piece;
    expect(text).toBe('one two over\n');
  });

  it('arrives once where connections break', async () => {
    const { processes, runtime } = await withProcesses();
    const handle = await processes.spawn('cat');
    runtime.inject({ kind: 'cut', afterEvents: 0, count: 3 });
    for (const text of ['a', 'b', 'c', 'd']) await handle.sendStdin(text);
    await handle.closeStdin();
    expect((await handle.wait()).stdout).toBe('abcd');
  });

  it('is at its end with stdinMode ignore, and refused after an end', async () => {
    const { processes } = await withProcesses();
    const handle = await processes.spawn('cat; echo ended', { stdinMode: 'ignore' });
    await expect(handle.sendStdin('x')).rejects.toThrow(/does not have stdin available/);
    await expect(handle.closeStdin()).rejects.toThrow(/does not have stdin available/);
    expect((await handle.wait()).stdout).toBe('ended\n');
    await expect(handle.sendStdin('x')).rejects.toThrow(/already exited with code 0/);
  });
});

describe('an end from outside', () => {
  it('takes the whole tree, and is told apart from an end that was there', async () => {
    const { processes } = await withProcesses();
    const handle = await processes.spawn('(trap "" TERM; sleep 7004) & sh -c "sleep 7005; :" & echo begun; wait');
    await expect.poll(() => handle.stdout).toBe('begun\n');
    expect(await handle.kill()).toBe(true);
    expect(await handle.wait()).toMatchObject({ exitCode: 137, killed: true });
    expect(running('sleep 7004').length + running('sleep 7005').length).toBe(0);
    expect(await handle.kill()).toBe(false);
  });

  it.each([
    ['the signal of its start', (processes, abortSignal) => processes.spawn('sleep 7006', { abortSignal })],
    ['the signal of a wait', async (processes, abortSignal) => {
      const handle = await processes.spawn('sleep 7006');
      handle.wait({ abortSignal }).catch(() => {});
      return handle;
    }],
  ])('comes by %s', async (_, start) => {
    const { processes } = await withProcesses();
    const controller = new AbortController();
    const handle = await start(processes, controller.signal);
    controller.abort();
    expect(await handle.wait()).toMatchObject({ exitCode: 137, killed: true });
    expect(running('sleep 7006')).toEqual([]);
  });

  it('comes with the session, and is an error', async () => {
    const { sandbox, processes } = await withProcesses();
    const handle = await processes.spawn('echo begun; sleep 7007');
    await expect.poll(() => handle.stdout).toBe('begun\n');
    await sandbox.stopRuntimeSession();
    await expect(handle.wait()).rejects.toMatchObject({ code: 'PROCESS_FAILED' });
  });

  it('of the sandbox ends the hearing, not the process', async () => {
    const { sandbox, processes } = await withProcesses();
    const handle = await processes.spawn('echo begun; sleep 7008');
    await expect.poll(() => handle.stdout).toBe('begun\n');
    await sandbox._destroy();
    await expect(handle.wait()).rejects.toMatchObject({ code: 'PROCESS_FAILED', message: /may still run/ });
    expect(running('sleep 7008').length).toBeGreaterThan(0);
    await expect(processes.spawn('true')).rejects.toThrow();
  });
});

describe('the manager', () => {
  it('lists, finds, kills and forgets', async () => {
    const { sandbox, processes } = await withProcesses();
    const quick = await processes.spawn('exit 3');
    const slow = await processes.spawn('sleep 7009');
    await quick.wait();
    expect(await processes.list()).toEqual(
      expect.arrayContaining([
        { pid: quick.pid, command: 'exit 3', running: false, exitCode: 3 },
        { pid: slow.pid, command: 'sleep 7009', running: true, exitCode: undefined },
      ]),
    );
    expect(await processes.get(slow.pid)).toBe(slow);
    expect(await processes.kill(slow.pid)).toBe(true);
    processes.release(quick.pid);
    expect(await processes.get(quick.pid)).toBeUndefined();
    expect(await processes.get('no-such-process')).toBeUndefined();
    const left = () => sandbox.executeCommand('ls "$TMPDIR/.mastra-agentcore/processes"').then(({ stdout }) => stdout);
    await expect.poll(left, { timeout: 10_000 }).toBe('');
  });

  it('knows what another sandbox on the session started', async () => {
    const { sandbox, runtime, processes } = await withProcesses();
    const handle = await processes.spawn('echo before; read -r line; echo "$line"');
    await expect.poll(() => handle.stdout).toBe('before\n');
    const other = new AgentCoreRuntimeSandbox({ ...runtime.sandboxOptions, runtimeSessionId: sandbox.id, processes: true });
    onTestFinished(() => other._destroy());
    const found = await other.processes.get(handle.pid);
    await found.sendStdin('hello\n');
    expect(await found.wait()).toMatchObject({ stdout: 'before\nhello\n', exitCode: 0 });
    expect((await handle.wait()).stdout).toBe('before\nhello\n');
  });

  it('is not there without the option, which the instructions say', async () => {
    const { sandbox } = await localSandbox();
    expect(sandbox.processes).toBeUndefined();
    expect(sandbox.getInstructions()).toContain('Background process management is not exposed.');
    const { sandbox: other } = await withProcesses();
    expect(other.getInstructions()).not.toContain('Background process management is not exposed.');
  });

  it('serves the background tools of Mastra', async () => {
    const { sandbox } = await withProcesses();
    const tools = await createWorkspaceTools(new Workspace({ sandbox }));
    expect(Object.keys(tools).filter(name => /process/.test(name)).length).toBeGreaterThan(1);
  });
});

/** Runs support/found.js, and gives its lines as they come. */
function node(task, onLine = () => {}) {
  const started = spawn(process.execPath, [child, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void started.kill('SIGKILL'));
  const lines = [];
  let rest = '';
  started.stdout.on('data', text => {
    const whole = (rest + text).split('\n');
    rest = whole.pop();
    for (const line of whole) {
      lines.push(JSON.parse(line));
      onLine(lines.at(-1));
    }
  });
  const ended = new Promise(resolve => {
    started.on('close', () => resolve(lines));
  });
  return { started, ended };
}

it('a server outlives its Node process, is found again and read to its end, no byte lost', async () => {
  const { sandbox, runtime } = await withProcesses();
  const options = { ...runtime.sandboxOptions, runtimeSessionId: sandbox.id };
  const port = 20_000 + (process.pid % 20_000);
  const server = `const s = require("http").createServer((q, r) => { r.end("served"); if (q.url === "/end") s.close(() => process.exit(4)); });
s.listen(${port}, "127.0.0.1"); let n = 0; const t = setInterval(() => { for (let i = 0; i < 50; i++) console.log(++n); if (n >= 4000) clearInterval(t); }, 10);`;
  const first = await new Promise(resolve => {
    const { started } = node({ options, task: 'spawn', command: `node -e '${server}'` }, line => {
      started.kill('SIGKILL');
      resolve(line);
    });
  });
  const get = path => fetch(`http://127.0.0.1:${port}${path}`).then(answer => answer.text());
  await expect.poll(() => get('/').catch(() => ''), { timeout: 10_000 }).toBe('served');
  const whole = node({ options, task: 'get', pid: first.pid });
  const rest = node({ options, task: 'get', pid: first.pid, after: first.position });
  await expect.poll(async () => (await sandbox.executeCommand(`wc -l <"$TMPDIR/.mastra-agentcore/processes/${first.pid}/out"`)).stdout.trim(), { timeout: 15_000 }).toBe('4000');
  await get('/end');
  const [[all], [after]] = await Promise.all([whole.ended, rest.ended]);
  expect(all).toMatchObject({ exitCode: 4, sha256: sha256(numbers(4000)) });
  expect(after).toMatchObject({ exitCode: 4, sha256: sha256(numbers(4000).slice(first.position.stdout)) });
}, 60_000);

it('every line of a hundred thousand comes once and in order, while connections break all the time', async () => {
  const { processes, runtime } = await withProcesses();
  runtime.inject({ kind: 'cut', afterBytes: 50_000, count: 4 });
  runtime.inject({ kind: 'reset', afterBytes: 70_000, count: 4 });
  runtime.inject({ kind: 'end', afterBytes: 60_000, count: 4 });
  let heard = '';
  const handle = await processes.spawn('i=0; while [ $i -lt 100 ]; do seq $((i * 1000 + 1)) $((i * 1000 + 1000)); i=$((i + 1)); sleep 0.03; done', {
    onStdout: text => void (heard += text),
    maxRetainedBytes: 0,
  });
  expect((await handle.wait()).exitCode).toBe(0);
  expect(heard === numbers(100_000)).toBe(true);
  expect(runtime.requests().commands).toBeGreaterThan(12);
}, 60_000);

it('a language server talks through reader and writer', async () => {
  const { processes } = await withProcesses({ workingDirectory: '/tmp' });
  const tsserver = createRequire(import.meta.url).resolve('typescript/lib/tsserver.js');
  const handle = await processes.spawn(`node ${tsserver} --disableAutomaticTypingAcquisition`);
  let seq = 0;
  const send = (command, args) => handle.writer.write(`${JSON.stringify({ seq: ++seq, type: 'request', command, arguments: args })}\n`);
  let text = '';
  const answer = new Promise(resolve => {
    handle.reader.on('data', piece => {
      text += piece;
      const found = text.split(/Content-Length: \d+\r?\n\r?\n/).find(part => part.includes('"command":"quickinfo"'));
      if (found?.trimEnd().endsWith('}')) resolve(JSON.parse(found));
    });
  });
  send('open', { file: '/tmp/größe.ts', fileContent: 'const größe = 42;\n', scriptKindName: 'TS' });
  send('quickinfo', { file: '/tmp/größe.ts', line: 1, offset: 8 });
  expect((await answer).body.displayString).toBe('const größe: 42');
  send('exit', {});
  await handle.kill();
}, 60_000);
