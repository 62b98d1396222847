/** The option `privateEnv`: values reach the process, and stand in nothing that anyone may record. */
import { describe, expect, it } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { AgentCoreRuntimeSandbox as NativeSandbox } from '../js/native.js';
import { localRuntime, localSandbox } from './support/sandboxes.js';
import { imageWith, MINIMAL } from './support/toolbox.js';

const SECRET = 'a-secret-that-nobody-may-read';

/** A value as it is, in hexadecimal, and in Base64 wherever it begins in a longer text. */
function formsOf(value) {
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].map(shift =>
    Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64').replace(/=+$/, '').slice(4, -4),
  );
  const hex = bytes.toString('hex');
  return [value, JSON.stringify(value).slice(1, -1), hex, hex.toUpperCase(), ...base64].filter(form => form.length > 7);
}

/** Where a value stands of what the service and others are shown. */
function shown(value, ...places) {
  const text = places.map(place => (typeof place === 'string' ? place : JSON.stringify(place))).join('\n');
  return formsOf(value).filter(form => text.includes(form));
}

/** A sandbox, and what its logger is told. */
async function logged(options, runtimeOptions) {
  const made = await localSandbox({ nativeLogs: true, ...options }, runtimeOptions);
  const logs = [];
  const log = (...given) => void logs.push(JSON.stringify(given));
  made.sandbox.__setLogger({ debug: log, info: log, warn: log, error: log });
  return { ...made, logs };
}

const ran = runtime => runtime.requests().records;

it('what these tests look for, they would find', () => {
  const around = Buffer.from(`x${SECRET}y`);
  for (const text of [`x${SECRET}y`, around.toString('base64'), around.toString('hex')]) {
    expect(shown(SECRET, text)).not.toEqual([]);
  }
  expect(shown(SECRET, 'A=*** printf')).toEqual([]);
});

describe.each([true, ['VALUE']])('with privateEnv %j', privateEnv => {
  it.each([
    ['plain', SECRET],
    ['with quotes', `it's "q" $HOME \`id\` \\ \\n %s ${SECRET}`],
    ['with newlines', `\n${SECRET}\n\n${SECRET}\n`],
    ['in unicode', `é😀\u2028 ${SECRET} ü`],
    ['that is empty', ''],
    ['of 20 KB', `${SECRET}'\n`.repeat(650)],
    ['of 100 KB', `${SECRET}'\n`.repeat(3_200)],
    ['that looks like an option', `-i ${SECRET}`],
  ])('a value %s reaches the process, and nobody else', async (_, value) => {
    const { sandbox, runtime, logs } = await logged({ privateEnv });
    const result = await sandbox.executeCommand('printf %s "${VALUE-unset}"', [], { env: { VALUE: value } });
    expect(result.success).toBe(true);
    expect(result.stdout === value).toBe(true);
    expect(result.command).toBe('VALUE=*** printf %s "${VALUE-unset}"');
    expect(shown(value, ran(runtime), { ...result, stdout: '' }, logs)).toEqual([]);
  });
});

it('several at once, with arguments, in a directory, among plain ones', async () => {
  const { sandbox, runtime } = await localSandbox({
    privateEnv: ['A', 'B', 'UNUSED'],
    env: { A: `${SECRET}-a`, PLAIN: 'plain-value' },
    workingDirectory: '/usr',
  });
  const result = await sandbox.executeCommand('printf', ["%s|$A|it's"], { env: { B: `${SECRET}-b` }, cwd: 'bin' });
  expect(result).toMatchObject({ stdout: "|$A|it's", command: `cd bin && PLAIN=plain-value A=*** B=*** printf '%s|$A|it'\\''s'` });
  const { stdout } = await sandbox.executeCommand('echo "$A $B $PLAIN $0 $#"; pwd; cat; exit 4', [], { env: { B: `${SECRET}-b` } });
  expect(stdout).toBe(`${SECRET}-a ${SECRET}-b plain-value /bin/sh 0\n/usr\n`);
  expect(shown(SECRET, ran(runtime))).toEqual([]);
  expect(shown('plain-value', ran(runtime))).not.toEqual([]);
});

it('a name that is not listed stays plain, and asks for no key', async () => {
  const { sandbox, runtime } = await localSandbox({ privateEnv: ['OTHER'] });
  const { stdout, command } = await sandbox.executeCommand('echo $VALUE', [], { env: { VALUE: SECRET } });
  expect(stdout).toBe(`${SECRET}\n`);
  expect(command).toBe(`VALUE=${SECRET} echo $VALUE`);
  expect(runtime.requests().commands).toBe(1);
  expect(shown(SECRET, ran(runtime))).not.toEqual([]);
});

it('one key serves all commands, also those at once', async () => {
  const { sandbox, runtime } = await localSandbox({ privateEnv: true, env: { VALUE: SECRET } });
  const results = await Promise.all(Array.from({ length: 5 }, () => sandbox.executeCommand('echo $VALUE')));
  expect(results.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 5 }, () => `${SECRET}\n`));
  expect(runtime.requests().commands).toBe(6);
  const texts = ran(runtime).map(({ command }) => command);
  expect(new Set(texts).size).toBe(6);
});

it('two sandboxes share the key of their session', async () => {
  const { sandbox, runtime } = await localSandbox({ privateEnv: true, env: { VALUE: SECRET } });
  const { runtimeSessionId } = sandbox;
  const other = new AgentCoreRuntimeSandbox({ ...runtime.sandboxOptions, runtimeSessionId, privateEnv: true, env: { VALUE: SECRET } });
  for (const each of await Promise.all([sandbox, other].map(one => one.executeCommand('echo $VALUE')))) {
    expect(each.stdout).toBe(`${SECRET}\n`);
  }
});

it('the key is nobody else’s in the session', async () => {
  const { sandbox } = await localSandbox({ privateEnv: true, env: { VALUE: SECRET } });
  const { stdout } = await sandbox.executeCommand('stat -c "%a %n" "$TMPDIR"/.mastra-agentcore-key-*');
  expect(stdout).toMatch(/^600 \S+\.mastra-agentcore-key-[0-9a-f]{32}\n$/);
});

it('no error and no log has a value', async () => {
  const { sandbox, runtime, logs } = await logged({ privateEnv: true, env: { VALUE: SECRET }, maxAttempts: 1 });
  await sandbox.executeCommand('true');
  for (const fault of [
    { kind: 'status', status: 403, errorType: 'AccessDeniedException' },
    { kind: 'drop' },
    { kind: 'cut', afterEvents: 1 },
    { kind: 'badCrc', afterEvents: 1 },
  ]) {
    runtime.inject(fault);
    const error = await sandbox.executeCommand('true').catch(thrown => thrown);
    expect(error.name).toBe('AgentCoreError');
    expect(shown(SECRET, { ...error }, error.message, error.stack, String(error.cause))).toEqual([]);
  }
  const refused = await sandbox.executeCommand('x', [], { env: { VALUE: `${SECRET}\0` } }).catch(thrown => thrown);
  expect(refused).toBeInstanceOf(RangeError);
  expect(shown(SECRET, refused.message, refused.stack)).toEqual([]);
  const aborted = await sandbox.executeCommand('echo begun; sleep 73', [], { abortSignal: AbortSignal.timeout(300) });
  expect(aborted.killed).toBe(true);
  await sandbox._destroy();
  expect(shown(SECRET, logs, ran(runtime), aborted)).toEqual([]);
  expect(logs.length).toBeGreaterThan(3);
});

it('a long command has them, too, and leaves none in a file', async () => {
  const { sandbox, runtime } = await localSandbox({ privateEnv: true, env: { VALUE: SECRET } });
  const result = await sandbox.executeCommand(`: ${'x'.repeat(70_000)}\necho "$VALUE"; grep -r "$VALUE" "$TMPDIR" "$HOME" || echo none`);
  expect(result.stdout).toBe(`${SECRET}\nnone\n`);
  expect(shown(SECRET, ran(runtime), result.command)).toEqual([]);
});

it('a command that survives its connection has them', async () => {
  const { sandbox, runtime, logs } = await logged({ privateEnv: true, env: { VALUE: `${SECRET}'\n` }, resumable: true });
  const result = await sandbox.executeCommand('printf %s "$VALUE"; grep -rl secret-that "$TMPDIR" | grep -v /out$; exit 3');
  expect(result).toMatchObject({ exitCode: 3, stdout: `${SECRET}'\n` });
  expect(shown(SECRET, ran(runtime), result.command, logs)).toEqual([]);
});

it('a background process has them', async () => {
  const { sandbox, runtime, logs } = await logged({ privateEnv: ['VALUE', 'OWN'], processes: true, env: { VALUE: SECRET } });
  const handle = await sandbox.processes.spawn('printf %s "$VALUE$OWN$PLAIN"', { env: { OWN: `${SECRET}-own`, PLAIN: 'plain' } });
  expect(await handle.wait()).toMatchObject({ stdout: `${SECRET}${SECRET}-ownplain`, exitCode: 0 });
  const list = await sandbox.processes.list();
  expect(shown(SECRET, ran(runtime), list, handle.command, logs)).toEqual([]);
});

it.each([['short', 'echo $VALUE'], ['long', `: ${'x'.repeat(70_000)}\necho $VALUE`]])(
  'a session that was replaced has a new key, and a command (%s) just works',
  async (_, command) => {
    const { sandbox, runtime } = await localSandbox({ privateEnv: true, env: { VALUE: SECRET } });
    for (let round = 0; round < 2; round += 1) {
      let heard = '';
      const result = await sandbox.executeCommand(command, [], { onStderr: text => void (heard += text) });
      expect(result).toMatchObject({ stdout: `${SECRET}\n`, stderr: '', exitCode: 0 });
      expect(heard).toBe('');
      await sandbox.stopRuntimeSession();
    }
    expect(shown(SECRET, ran(runtime))).toEqual([]);
  },
);

it('with requireExistingSession a replaced session is an error, and after a start works', async () => {
  const { sandbox } = await localSandbox({ privateEnv: true, requireExistingSession: true, env: { VALUE: SECRET } });
  await sandbox.executeCommand('true');
  await sandbox.stopRuntimeSession();
  await expect(sandbox.executeCommand('echo $VALUE')).rejects.toMatchObject({ code: 'SESSION_REPLACED' });
  await sandbox._stop();
  expect((await sandbox.executeCommand('echo $VALUE')).stdout).toBe(`${SECRET}\n`);
});

it('a background process and a resumable command meet the new key, too', async () => {
  const { sandbox } = await localSandbox({ privateEnv: true, processes: true, env: { VALUE: SECRET } });
  await sandbox.executeCommand('true');
  await sandbox.stopRuntimeSession();
  expect((await sandbox.executeCommand('echo $VALUE', [], { resumable: true })).stdout).toBe(`${SECRET}\n`);
  await sandbox.stopRuntimeSession();
  const handle = await sandbox.processes.spawn('echo $VALUE');
  expect(await handle.wait()).toMatchObject({ stdout: `${SECRET}\n` });
});

it('a command’s own exit code and its own stderr are untouched', async () => {
  const { sandbox } = await localSandbox({ privateEnv: true, env: { VALUE: SECRET } });
  const result = await sandbox.executeCommand('echo mastra-agentcore-private-unreadable-x >&2; exit 114');
  expect(result).toMatchObject({ exitCode: 114, stderr: 'mastra-agentcore-private-unreadable-x\n' });
});

it('an abort while the key is asked for is a killed result', async () => {
  const { sandbox, runtime } = await localSandbox({ privateEnv: true, env: { VALUE: SECRET } });
  runtime.inject({ kind: 'delay', ms: 500 });
  const result = await sandbox.executeCommand('touch "$HOME/ran"', [], { abortSignal: AbortSignal.timeout(100) });
  expect(result).toMatchObject({ killed: true, exitCode: 137, command: 'VALUE=*** touch "$HOME/ran"' });
  expect((await sandbox.executeCommand('ls "$HOME"; echo $VALUE')).stdout).toBe(`${SECRET}\n`);
});

it('a key that could not be asked for is asked for again', async () => {
  const { sandbox, runtime } = await localSandbox({ privateEnv: true, env: { VALUE: SECRET } });
  runtime.inject({ kind: 'status', status: 403, errorType: 'AccessDeniedException' });
  await expect(sandbox.executeCommand('true')).rejects.toMatchObject({ httpStatusCode: 403 });
  expect((await sandbox.executeCommand('echo $VALUE')).stdout).toBe(`${SECRET}\n`);
});

it('an image without openssl is told to have it, and sent no value', async () => {
  const { sandbox, runtime } = await imageWith(MINIMAL, { privateEnv: true });
  const error = await sandbox.executeCommand('echo ran', [], { env: { VALUE: SECRET } }).catch(thrown => thrown);
  expect(error).toMatchObject({ code: 'TOOL_MISSING', mayHaveRun: false, message: expect.stringContaining('openssl') });
  expect(shown(SECRET, ran(runtime), error.message)).toEqual([]);
  // What needs none runs.
  expect((await sandbox.executeCommand('echo ran')).stdout).toBe('ran\n');
});

it('an image with openssl and little else will do', async () => {
  const { sandbox } = await imageWith([...MINIMAL, 'openssl'], { privateEnv: true });
  const { stdout } = await sandbox.executeCommand('echo "$VALUE"', [], { env: { VALUE: `${SECRET}'é` } });
  expect(stdout).toBe(`${SECRET}'é\n`);
});

it('works without Mastra', async () => {
  const runtime = await localRuntime();
  const sandbox = new NativeSandbox({ ...runtime.sandboxOptions, privateEnv: ['VALUE'], env: { VALUE: SECRET } });
  expect((await sandbox.executeCommand('echo $VALUE')).stdout).toBe(`${SECRET}\n`);
  expect(shown(SECRET, ran(runtime))).toEqual([]);
  await sandbox.close();
});

it('is refused with shell: false, and for what is no list of names', async () => {
  const runtime = await localRuntime();
  const make = options => () => new AgentCoreRuntimeSandbox({ ...runtime.sandboxOptions, ...options });
  expect(make({ privateEnv: true, shell: false })).toThrow('privateEnv needs a shell');
  expect(make({ privateEnv: ['A'], shell: false })).toThrow('privateEnv needs a shell');
  for (const privateEnv of ['A', 1, {}, ['not a name'], [1]]) expect(make({ privateEnv })).toThrow('privateEnv must be');
  for (const privateEnv of [false, undefined, null, []]) make({ privateEnv })();
});
