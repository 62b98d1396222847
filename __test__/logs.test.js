/** The option `nativeLogs`: what the core does reaches the sandbox's logger, and nothing secret. */
import { expect, it } from 'vitest';
import { localSandbox } from './support/sandboxes.js';

async function logged(options) {
  const { sandbox, runtime } = await localSandbox(options);
  const lines = [];
  const push = (...line) => void lines.push(line);
  sandbox.__setLogger({ debug: push, info: push, warn: push, error: push });
  return { sandbox, runtime, lines, texts: () => lines.map(([text]) => text) };
}

it('tells of answers, tries, ends and stops of its session alone', async () => {
  const { sandbox, runtime, lines, texts } = await logged({ nativeLogs: true });
  const other = await logged({ nativeLogs: true });
  runtime.inject({ kind: 'status', status: 429, errorType: 'ThrottlingException' });
  await sandbox.executeCommand('echo $SECRET', [], { env: { SECRET: 'hush-hush' } });
  await sandbox.stopRuntimeSession();
  await expect.poll(texts).toContain('[AgentCoreRuntimeSandbox] the session was stopped');
  expect(texts()).toEqual(
    expect.arrayContaining([
      '[AgentCoreRuntimeSandbox] trying again',
      '[AgentCoreRuntimeSandbox] the command was answered',
      '[AgentCoreRuntimeSandbox] the command has ended',
    ]),
  );
  const again = lines.find(([text]) => text.endsWith('trying again'));
  expect(again[1]).toMatchObject({ runtimeSessionId: sandbox.id, code: 'ThrottlingException', tried: '1' });
  expect(JSON.stringify(lines)).not.toContain('hush-hush');
  expect(other.lines).toEqual([]);
});

it('tells of kills', async () => {
  const { sandbox, texts } = await logged({ nativeLogs: true });
  const controller = new AbortController();
  await sandbox.executeCommand('echo begun; sleep 60', [], { abortSignal: controller.signal, onStdout: () => controller.abort() });
  await expect.poll(texts, { timeout: 15_000 }).toContain('[AgentCoreRuntimeSandbox] the kill has ended');
});

it('is off by default, and after destroy()', async () => {
  const quiet = await logged();
  await quiet.sandbox.executeCommand('true');
  const ended = await logged({ nativeLogs: true });
  await ended.sandbox._start();
  await ended.sandbox._destroy();
  ended.lines.length = 0;
  await ended.sandbox.stopRuntimeSession();
  await new Promise(resolve => setTimeout(resolve, 100));
  expect(quiet.texts()).toEqual(['[AgentCoreRuntimeSandbox] Executing command']);
  expect(ended.lines).toEqual([]);
});
