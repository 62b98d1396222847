/** Fleets: siblings of a configured sandbox, each in a session of its own. */
import { expect, it, vi, onTestFinished } from 'vitest';
import { AgentCoreRuntimeSandbox, runtimeSessionIdFrom } from '../index.js';
import { localRuntime, localSandbox } from './support/sandboxes.js';

it('has the session that is named, or one made of its id, or a new one', async () => {
  const { sandbox, runtime } = await localSandbox();
  const long = 'a-session-id-that-is-long-enough-for-one';
  expect(sandbox.clone({ sandboxId: long, id: 'x' }).runtimeSessionId).toBe(long);
  expect(sandbox.clone({ id: long }).runtimeSessionId).toBe(long);
  const named = sandbox.clone({ id: 'project-1' });
  expect([named.id, named.runtimeSessionId]).toEqual(['project-1', runtimeSessionIdFrom('project-1')]);
  const fresh = sandbox.clone();
  expect(fresh.runtimeSessionId).not.toBe(sandbox.runtimeSessionId);
  expect(fresh.id).toBe(fresh.runtimeSessionId);
  expect(fresh).toBeInstanceOf(AgentCoreRuntimeSandbox);
  expect(runtime.requests()).toMatchObject({ commands: 0, connections: 0 });
});

it('inherits options, hooks and environment as they are now, and goes its own way', async () => {
  const onDestroy = vi.fn();
  const { sandbox } = await localSandbox({ env: { A: '1', B: '2' }, workingDirectory: '/usr', onDestroy, commandTimeout: 7_000, instructions: 'mine' });
  sandbox.setEnv(env => ({ ...env, B: 'set' }));
  const onStart = vi.fn();
  sandbox.setOnStart(() => onStart);
  const sibling = sandbox.clone({ idleTimeoutMinutes: 1, checkpointName: 'x' });
  sibling.setEnv(env => ({ ...env, C: 'own' }));
  expect((await sibling.executeCommand('echo "$A $B $C"; pwd')).stdout).toBe('1 set own\n/usr\n');
  expect((await sandbox.executeCommand('echo "$A $B $C"')).stdout).toBe('1 set \n');
  expect(onStart).toHaveBeenCalledTimes(2);
  expect(sibling.getInstructions()).toBe('mine');
  await sibling._destroy();
  expect(onDestroy).toHaveBeenCalledOnce();
  const other = sandbox.clone({ env: { Z: 'z' }, workingDirectory: '/tmp' });
  expect((await other.executeCommand('echo "$A$B$Z"; pwd')).stdout).toBe('z\n/tmp\n');
  expect((await sandbox.executeCommand('echo still')).stdout).toBe('still\n');
});

it('does not stop another session with its own token', async () => {
  const { sandbox, runtime } = await localSandbox({ stopClientToken: 'a-token-of-the-first-sandbox-alone-0' });
  const sibling = sandbox.clone();
  await Promise.all([sandbox.executeCommand('true'), sibling.executeCommand('true')]);
  await sandbox.stopRuntimeSession();
  await sibling.stopRuntimeSession();
  expect(runtime.sessions()).toEqual([]);
});

it('two hundred run five commands each, with one load of credentials', async () => {
  const runtime = await localRuntime();
  const credentials = vi.fn(async () => runtime.credentials);
  const first = new AgentCoreRuntimeSandbox({ ...runtime.sandboxOptions, credentials });
  const clones = Array.from({ length: 200 }, (_, n) => first.clone({ id: `fleet-${n}`, env: { N: String(n) } }));
  onTestFinished(() => Promise.all(clones.map(each => each._destroy())));
  const queue = clones.values();
  const outputs = [];
  const work = async () => {
    for (const each of queue) {
      for (let command = 0; command < 5; command += 1) {
        const { stdout } = await each.executeCommand(`echo $N-${command} >>log; tail -n 1 log`);
        outputs.push(stdout.trim());
      }
    }
  };
  await Promise.all(Array.from({ length: 20 }, work));
  expect(new Set(outputs).size).toBe(1000);
  expect(outputs).toContain('199-4');
  expect(runtime.sessions()).toHaveLength(200);
  expect(credentials).toHaveBeenCalledTimes(1);
  // A connection comes back a moment after its command's end.
  expect(runtime.requests().connections).toBeLessThan(100);
}, 60_000);
