/** Commands that are longer than the wire takes: they mean what short ones mean, and leave nothing. */
import { BedrockAgentCoreClient } from '@aws-sdk/client-bedrock-agentcore';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { localRuntime, localSandbox } from './support/sandboxes.js';

/** Makes a command longer than any request. */
const long = text => `: ${'long '.repeat(16_000)}\n${text}`;

/** What is left where temporary files lie. */
async function leftIn(sandbox) {
  const { stdout } = await sandbox.executeCommand('ls -A "$TMPDIR"');
  return stdout;
}

const scripts = [
  'echo a; echo b | wc -l',
  'echo "$0 $#" "$@"',
  'pwd; echo "$FOO"',
  'cat; echo $?',
  "cat <<EOF\nhere $FOO it's\nEOF",
  "cat <<'EOF'\nhere $FOO \\ ` it's\nEOF",
  'cat <<EOF\nnot ended',
  'echo visible # comment',
  'f() { echo "f $1"; return 4; }; f x',
  'echo $FOO >&2; exit 3',
  'for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done',
  'kill -9 $$',
  '\n\necho "last"\n\n',
  'printf "%s\\n" "\\a" \'\\a\' "\\$x" 100%',
  'set -- x y; echo $# $2; exec sh -c "exit 9"',
];

describe.each(['/bin/sh', '/bin/bash'])('under %s', shell => {
  describe.each([true, false])('with killOnAbort %s', killOnAbort => {
    it('a long command is what a short one is', async () => {
      const { sandbox } = await localSandbox({ shell, killOnAbort, workingDirectory: '/usr' });
      const options = { env: { FOO: "it's\n$x" }, cwd: 'bin' };
      for (const script of scripts) {
        const [short, longer] = await Promise.all(
          [script, long(script)].map(text => sandbox.executeCommand(text, [], options)),
        );
        const { exitCode, stdout, stderr, success, timedOut, killed } = longer;
        const expected = { exitCode: short.exitCode, stdout: short.stdout, success: short.success, timedOut: false, killed: false };
        expect([script, { exitCode, stdout, success, timedOut, killed }]).toEqual([script, expected]);
        // Shells name the line of what they complain about.
        if (!script.includes('not ended')) expect(stderr).toBe(short.stderr);
      }
      await expect.poll(() => leftIn(sandbox)).toBe('');
    });
  });

  it('arguments of 200 KB arrive as they are', async () => {
    const { sandbox } = await localSandbox({ shell });
    const special = `it's "q" $HOME \`id\` \\n \\ %s * ~ # ! é 😀\n\t{a,b} && | ; < > ( ) [ ] = ${String.fromCharCode(1, 127)}`;
    const args = Array.from({ length: 40 }, (_, n) => `${n}:`.padEnd(5_000, special));
    const { stdout, exitCode } = await sandbox.executeCommand('printf', ['%s|', ...args, '']);
    expect(exitCode).toBe(0);
    expect(stdout === args.map(arg => `${arg}|`).join('') + '|').toBe(true);
  });

  it('a variable of 100 KB reaches the process', async () => {
    const { sandbox } = await localSandbox({ shell });
    const value = "it's $x\n".repeat(12_500);
    const { stdout } = await sandbox.executeCommand('printf %s "$BIG"', [], { env: { BIG: value } });
    expect(stdout === value).toBe(true);
    await expect.poll(() => leftIn(sandbox)).toBe('');
  });
});

it('the result shows the command as it was given', async () => {
  const { sandbox } = await localSandbox();
  const command = long('true');
  expect(await sandbox.executeCommand(command, [])).toMatchObject({ command, success: true });
});

it('as shell text, where the service has a shell', async () => {
  const { sandbox } = await localSandbox({}, { commandSemantics: 'shell' });
  expect((await sandbox.executeCommand(long('echo "it\'s $0"'))).stdout).toBe("it's /bin/sh\n");
});

it('callbacks hear it, and what one throws ends it', async () => {
  const { sandbox } = await localSandbox();
  const thrown = new Error('no more');
  const onStdout = () => {
    throw thrown;
  };
  await expect(sandbox.executeCommand(long('echo a; sleep 66'), [], { onStdout })).rejects.toBe(thrown);
  await expect.poll(() => leftIn(sandbox)).toBe('');
});

describe('nothing is left', () => {
  it('after success and failure', async () => {
    const { sandbox } = await localSandbox();
    await sandbox.executeCommand(long('true'));
    await sandbox.executeCommand(long('exit 7'));
    await sandbox.executeCommand(long('true'), [], { cwd: '/no/such' });
    await expect.poll(() => leftIn(sandbox)).toBe('');
  });

  it('after an error of the wire', async () => {
    const { sandbox, runtime } = await localSandbox();
    await sandbox.executeCommand(long('true'));
    await expect.poll(() => leftIn(sandbox)).toBe('');
    runtime.inject({ kind: 'status', status: 403, errorType: 'AccessDeniedException' });
    await expect(sandbox.executeCommand(long('true'))).rejects.toMatchObject({ httpStatusCode: 403 });
    await expect.poll(() => leftIn(sandbox)).toBe('');
  });

  it('when destroy() comes while it is removed', async () => {
    const { sandbox, runtime } = await localSandbox();
    const { runtimeSessionId } = sandbox;
    const other = new AgentCoreRuntimeSandbox({ ...runtime.sandboxOptions, runtimeSessionId });
    const run = sandbox.executeCommand(long('echo begun; sleep 1'), [], {
      onStdout: () => runtime.inject({ kind: 'delay', ms: 300 }),
    });
    await run;
    await sandbox._destroy();
    expect(await leftIn(other)).toBe('');
  });

  it('after an abort and a timeout', async () => {
    const { sandbox } = await localSandbox();
    const controller = new AbortController();
    const aborted = await sandbox.executeCommand(long('echo begun; sleep 67'), [], {
      abortSignal: controller.signal,
      onStdout: () => controller.abort(),
    });
    expect(aborted).toMatchObject({ killed: true, exitCode: 137, stdout: 'begun\n' });
    const late = await sandbox.executeCommand(long('echo begun; sleep 68'), [], { timeout: 1000 });
    expect(late).toMatchObject({ timedOut: true, exitCode: 124, stdout: 'begun\n' });
    await expect.poll(() => leftIn(sandbox), { timeout: 10_000 }).toBe('');
  });

  it('by connections that break while it is brought there', async () => {
    const { sandbox, runtime } = await localSandbox();
    await sandbox.executeCommand(long('true'));
    runtime.inject({ kind: 'cut', afterEvents: 1 });
    runtime.inject({ kind: 'drop' });
    expect((await sandbox.executeCommand(long('echo ran'))).stdout).toBe('ran\n');
    await expect.poll(() => leftIn(sandbox)).toBe('');
  });
});

describe('abort while it is brought there', () => {
  it('is a killed result; the command never runs', async () => {
    const { sandbox, runtime } = await localSandbox();
    await sandbox.executeCommand(long('true'));
    await expect.poll(() => leftIn(sandbox)).toBe('');
    // Each request waits, that of the file and that of the command: the abort comes between.
    runtime.inject({ kind: 'delay', ms: 300, count: 1_000 });
    for (let ms = 0; ms < 300; ms += 30) {
      const result = await sandbox.executeCommand(long('touch "$HOME/ran"'), [], { abortSignal: AbortSignal.timeout(ms) });
      expect(result).toMatchObject({ killed: true, exitCode: 137, success: false, stdout: '' });
    }
    await expect.poll(() => leftIn(sandbox)).toBe('');
    expect((await sandbox.executeCommand('ls -A')).stdout).toBe('');
  });

  it('by destroy(), which waits until it is removed', async () => {
    const { sandbox, runtime } = await localSandbox();
    await sandbox.executeCommand(long('true'));
    await expect.poll(() => leftIn(sandbox)).toBe('');
    const other = new AgentCoreRuntimeSandbox({ ...runtime.sandboxOptions, runtimeSessionId: sandbox.runtimeSessionId });
    runtime.inject({ kind: 'delay', ms: 300 });
    const running = sandbox.executeCommand(long('touch "$HOME/ran"'));
    await new Promise(resolve => setTimeout(resolve, 50));
    await sandbox._destroy();
    expect(await leftIn(other)).toBe('');
    expect(await running).toMatchObject({ killed: true, exitCode: 137 });
    expect((await other.executeCommand('ls -A')).stdout).toBe('');
  });
});

it('many at once do not meet', async () => {
  const { sandbox } = await localSandbox();
  const results = await Promise.all(
    Array.from({ length: 8 }, (_, n) => sandbox.executeCommand(long(`echo ${n}`))),
  );
  expect(results.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 8 }, (_, n) => `${n}\n`));
  await expect.poll(() => leftIn(sandbox)).toBe('');
});

it('with shell: false it is refused, and the error names the limit', async () => {
  const { sandbox, runtime } = await localSandbox({ shell: false });
  const error = await sandbox.executeCommand(long('true')).catch(thrown => thrown);
  expect(error).toBeInstanceOf(RangeError);
  expect(error.message).toContain('65536');
  expect(runtime.requests().commands).toBe(0);
});

it('one that just fits goes as it is', async () => {
  const { sandbox, runtime } = await localSandbox();
  const command = `echo ${'x'.repeat(64_000)}`;
  expect((await sandbox.executeCommand(command)).stdout).toHaveLength(64_001);
  expect(runtime.requests().commands).toBe(1);
});

it('through a client of the AWS SDK, too', async () => {
  const runtime = await localRuntime();
  const { endpoint, region, credentials, agentRuntimeArn } = runtime;
  const client = new BedrockAgentCoreClient({ endpoint, region, credentials });
  onTestFinished(() => client.destroy());
  const sandbox = new AgentCoreRuntimeSandbox({ agentRuntimeArn, client });
  const options = { env: { FOO: "it's" } };
  const result = await sandbox.executeCommand(long('echo "$FOO $0 $#"; exit 3'), [], options);
  expect(result).toMatchObject({ exitCode: 3, stdout: "it's /bin/sh 0\n" });
  const controller = new AbortController();
  const aborted = await sandbox.executeCommand(long('echo begun; sleep 69'), [], {
    abortSignal: controller.signal,
    onStdout: () => controller.abort(),
  });
  expect(aborted).toMatchObject({ killed: true, stdout: 'begun\n' });
  await expect.poll(() => leftIn(sandbox)).toBe('');
});

it('as a command that survives its connection, too', async () => {
  const { sandbox } = await localSandbox({ resumable: true });
  const result = await sandbox.executeCommand(long('echo "$FOO"; exit 3'), [], { env: { FOO: "it's" } });
  expect(result).toMatchObject({ exitCode: 3, stdout: "it's\n" });
});
