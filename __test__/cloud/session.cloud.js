/**
 * One session of a real runtime: `AGENTCORE_RUNTIME_ARN=… npm run test:cloud`, with credentials
 * from where the AWS chain finds them. Skipped without the variable. It starts one microVM and
 * stops it. What is asserted holds under the local runtime too, which is how it is tried out.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../../index.js';

const agentRuntimeArn = process.env.AGENTCORE_RUNTIME_ARN;

describe.skipIf(!agentRuntimeArn)('a real session', () => {
  const sandbox =
    agentRuntimeArn &&
    new AgentCoreRuntimeSandbox({
      agentRuntimeArn,
      qualifier: process.env.AGENTCORE_RUNTIME_QUALIFIER,
      warmup: true,
      stopSessionOnLifecycle: true,
    });

  afterAll(() => sandbox?._destroy());

  it('starts, and tells streams and exit codes apart', async () => {
    const result = await sandbox.executeCommand('echo out; echo err >&2; exit 7');
    expect(result).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 7, success: false });
  });

  it('passes arguments, variables and a directory as they are', async () => {
    const args = ["it's", '$HOME', '', 'a  b', 'é'];
    const { stdout } = await sandbox.executeCommand('printf', ['%s|', ...args]);
    expect(stdout).toBe(args.map(arg => `${arg}|`).join(''));
    const env = { FOO: "it's $HOME" };
    const there = await sandbox.executeCommand('pwd; true && echo "$FOO" | cat', [], { cwd: '/', env });
    expect(there.stdout).toBe("/\nit's $HOME\n");
  });

  it('keeps files between commands', async () => {
    const file = `/tmp/mastra-agentcore-${sandbox.id}`;
    await sandbox.executeCommand(`echo kept > ${file}`);
    expect((await sandbox.executeCommand('cat', [file])).stdout).toBe('kept\n');
    await sandbox.executeCommand('rm', [file]);
  });

  it('closes stdin', async () => {
    expect(await sandbox.executeCommand('cat', [], { timeout: 20_000 })).toMatchObject({ success: true, stdout: '' });
  });

  it('delivers much output whole and in order', async () => {
    let heard = '';
    const { stdout } = await sandbox.executeCommand('seq 1 100000', [], { onStdout: text => void (heard += text) });
    expect(stdout === Array.from({ length: 100_000 }, (_, n) => `${n + 1}\n`).join('')).toBe(true);
    expect(heard === stdout).toBe(true);
  });

  it('times out, and kills', async () => {
    const result = await sandbox.executeCommand('echo begun; sleep 301', [], { timeout: 2_000 });
    expect(result).toMatchObject({ exitCode: 124, timedOut: true, killed: true, stdout: 'begun\n' });
    await expectNone('sleep 301');
  });

  it('aborts, and kills', async () => {
    const controller = new AbortController();
    const result = await sandbox.executeCommand('echo begun; sleep 302', [], {
      abortSignal: controller.signal,
      onStdout: () => controller.abort(),
    });
    expect(result).toMatchObject({ exitCode: 137, killed: true, stdout: 'begun\n' });
    await expectNone('sleep 302');
  });

  /** No process of that command line is left. Read from /proc: images often lack ps. */
  async function expectNone(line) {
    const [name, seconds] = line.split(' ');
    const script = `for f in /proc/[0-9]*/cmdline; do [ "$(tr '\\0' ' ' < $f 2>/dev/null)" = "${name} ${seconds} " ] && echo $f; done; true`;
    await expect.poll(async () => (await sandbox.executeCommand(script)).stdout, { timeout: 30_000, interval: 1_000 }).toBe('');
  }
});
