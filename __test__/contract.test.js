/**
 * What Mastra expects of a sandbox, in our own words: commands, lifecycle, processes, finding the
 * session again, configuration. On the readings of a command line that the service may have, and in
 * an image that has hardly more than a shell.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { LocalAgentCoreRuntime } from '../js/local.js';

/** All that the small image has, but the shell: neither bash nor base64, gzip, openssl, grep -z. */
const APPLETS = ['sh', '[', 'cat', 'chmod', 'date', 'dd', 'env', 'head', 'ln', 'ls', 'mkdir', 'mkfifo', 'mv', 'od', 'pwd', 'readlink', 'rm', 'seq', 'sleep', 'tail', 'tr', 'true', 'wc'];

const busybox = ['/bin/busybox', '/usr/bin/busybox'].find(path => {
  try {
    execFileSync(path, ['true']);
    return true;
  } catch {
    return false;
  }
});

const image = mkdtempSync(join(tmpdir(), 'mastra-agentcore-image-'));
afterAll(() => rmSync(image, { recursive: true }));
if (busybox) {
  mkdirSync(join(image, 'bin'));
  for (const name of APPLETS) symlinkSync(busybox, join(image, 'bin', name));
}

const KINDS = [
  ['words, as on the service', {}, {}],
  ['a shell, as the documentation says', { commandSemantics: 'shell' }, {}],
  ['words, in a minimal image', { env: { PATH: join(image, 'bin') } }, { shell: join(image, 'bin/sh') }],
];

if (!busybox && process.env.CI) throw new Error('these tests need busybox');

describe.each(KINDS)('%s', (kind, runtimeOptions, options) => {
  const isMinimal = kind.includes('minimal');
  const skip = isMinimal && !busybox;
  /** @type {LocalAgentCoreRuntime} */
  let runtime;
  const made = [];
  const sandboxOf = more => {
    const sandbox = new AgentCoreRuntimeSandbox({ ...runtime.sandboxOptions, ...options, processes: true, ...more });
    made.push(sandbox);
    return sandbox;
  };
  beforeAll(async () => {
    runtime = await LocalAgentCoreRuntime.start(runtimeOptions);
  });
  afterEach(() => Promise.all(made.splice(0).map(each => each._destroy())));
  afterAll(() => runtime.stop());

  describe.skipIf(skip)('commands', () => {
    it('succeed and fail by their exit code, streams apart', async () => {
      const sandbox = sandboxOf();
      expect(await sandbox.executeCommand('echo', ['hello'])).toMatchObject({ success: true, exitCode: 0, stdout: 'hello\n', stderr: '' });
      expect(await sandbox.executeCommand('echo no >&2; exit 3')).toMatchObject({ success: false, exitCode: 3, stdout: '', stderr: 'no\n' });
      expect((await sandbox.executeCommand('no-such-program')).exitCode).toBe(127);
    });

    it('take arguments as they are', async () => {
      const args = ['a b', "it's", '"q"', '$HOME', '`x`', '', '*', 'é', '\n'];
      const { stdout } = await sandboxOf().executeCommand('printf', ['%s|', ...args]);
      expect(stdout).toBe(args.map(arg => `${arg}|`).join(''));
    });

    it('have variables and a directory', async () => {
      const sandbox = sandboxOf({ env: { A: 'a', B: 'b' }, workingDirectory: '/' });
      const { stdout } = await sandbox.executeCommand('echo "$A$B"; pwd', [], { env: { B: "it's" }, cwd: '/tmp' });
      expect(stdout).toBe("ait's\n/tmp\n");
      expect((await sandbox.executeCommand('pwd')).stdout).toBe('/\n');
    });

    it('are shell text, of many lines if need be', async () => {
      const { stdout } = await sandboxOf().executeCommand('cat <<END | tr a-z A-Z # loud\none\nEND\nfor i in 1 2; do echo $i; done && (exit 1) || echo or');
      expect(stdout).toBe('ONE\n1\n2\nor\n');
    });

    it('stream while they run, and all of it', async () => {
      const heard = [];
      const { stdout } = await sandboxOf().executeCommand('echo one; sleep 1; seq 1 20000', [], { onStdout: text => void heard.push(text) });
      expect(heard[0]).toBe('one\n');
      expect(heard.join('')).toBe(stdout);
      expect(stdout.split('\n')).toHaveLength(20_002);
    });

    it('end by a timeout and by a signal, with a result', async () => {
      const sandbox = sandboxOf();
      expect(await sandbox.executeCommand('echo begun; sleep 50', [], { timeout: 1_000 })).toMatchObject({ success: false, timedOut: true, exitCode: 124, stdout: 'begun\n' });
      const controller = new AbortController();
      const aborted = await sandbox.executeCommand('echo begun; sleep 50', [], { abortSignal: controller.signal, onStdout: () => controller.abort() });
      expect(aborted).toMatchObject({ success: false, killed: true, stdout: 'begun\n' });
    });

    it('do not wait for input', async () => {
      expect((await sandboxOf().executeCommand('cat; echo over')).stdout).toBe('over\n');
    });

    it('may be resumable, and of any length', async () => {
      const sandbox = sandboxOf();
      expect(await sandbox.executeCommand('echo out; echo err >&2; exit 5', [], { resumable: true })).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 5 });
      const { stdout } = await sandbox.executeCommand(`printf %s '${'x'.repeat(100_000)}' | wc -c`);
      expect(stdout.trim()).toBe('100000');
    });
  });

  describe.skipIf(skip)('lifecycle', () => {
    it('goes from pending over running and stopped to destroyed', async () => {
      const sandbox = sandboxOf();
      expect(sandbox.status).toBe('pending');
      await sandbox._start();
      await sandbox._start();
      expect(sandbox.status).toBe('running');
      expect(await sandbox.getInfo()).toMatchObject({ id: sandbox.id, provider: 'agentcore', status: 'running' });
      await sandbox._stop();
      expect(sandbox.status).toBe('stopped');
      expect((await sandbox.executeCommand('echo again')).stdout).toBe('again\n');
      await sandbox._destroy();
      await sandbox._destroy();
      expect(sandbox.status).toBe('destroyed');
      await expect(sandbox.executeCommand('true')).rejects.toThrow();
    });

    it('starts by itself, once, and calls its hooks', async () => {
      const calls = [];
      const sandbox = sandboxOf({ onStart: () => void calls.push('start'), onStop: () => void calls.push('stop'), onDestroy: () => void calls.push('destroy') });
      await Promise.all([sandbox.executeCommand('true'), sandbox.executeCommand('true'), sandbox.processes.list()]);
      await sandbox._stop();
      await sandbox._start();
      await sandbox._destroy();
      expect(calls).toEqual(['start', 'stop', 'start', 'destroy']);
    });
  });

  describe.skipIf(skip)('processes', () => {
    it('are spawned, fed, listed, waited for and killed', async () => {
      const { processes } = sandboxOf();
      const handle = await processes.spawn('echo ready; while read -r line; do echo "got $line"; done; exit 4');
      await expect.poll(() => handle.stdout, { timeout: 10_000 }).toBe('ready\n');
      await handle.sendStdin('ä\n');
      await expect.poll(() => handle.stdout, { timeout: 10_000 }).toBe('ready\ngot ä\n');
      expect(await processes.list()).toEqual([expect.objectContaining({ pid: handle.pid, running: true })]);
      await handle.closeStdin();
      expect(await handle.wait()).toMatchObject({ exitCode: 4, stdout: 'ready\ngot ä\n' });
      const endless = await processes.spawn('sleep 600');
      expect(await processes.kill(endless.pid)).toBe(true);
      expect((await endless.wait()).exitCode).not.toBe(0);
      expect(await processes.kill('nobody')).toBe(false);
    }, 40_000);
  });

  describe.skipIf(skip)('finding the session again', () => {
    it('finds its files and its processes', async () => {
      const first = sandboxOf();
      await first.writeFiles([{ path: 'kept', content: Buffer.from([0, 255, 10, 13, 39]), mode: 0o600 }]);
      const { pid } = await first.processes.spawn('echo here; sleep 600');
      const second = sandboxOf({ runtimeSessionId: first.runtimeSessionId });
      expect([...(await second.readFile('kept'))]).toEqual([0, 255, 10, 13, 39]);
      const found = await second.processes.get(pid);
      await expect.poll(() => found.stdout, { timeout: 10_000 }).toBe('here\n');
      expect(await found.kill()).toBe(true);
    }, 40_000);
  });

  describe.skipIf(skip)('configuration', () => {
    it('gives each its own session, and clones theirs', async () => {
      const sandbox = sandboxOf({ env: { A: 'a' } });
      const sibling = sandbox.clone({ id: 'project' });
      made.push(sibling);
      expect(new Set([sandbox.id, sibling.id, sandboxOf().id]).size).toBe(3);
      await sandbox.executeCommand('echo mine >file');
      expect((await sibling.executeCommand('echo "$A"; ls')).stdout).toBe('a\n');
    });
  });
});
