// A worker runs a command; another is terminated amid one; then this process ends by itself.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';
import { AgentCoreRuntimeSandbox } from 'mastra-agentcore';
import { LocalAgentCoreRuntime } from 'mastra-agentcore/local';

if (isMainThread) {
  const runtime = await LocalAgentCoreRuntime.start();
  const start = command =>
    new Worker(new URL(import.meta.url), { workerData: { options: runtime.sandboxOptions, command } });

  const worker = start('echo from a worker');
  const exit = once(worker, 'exit');
  const [output] = await once(worker, 'message');
  assert.equal(output, 'from a worker\n');
  assert.deepEqual(await exit, [0]);

  const doomed = start('echo begun; sleep 60');
  const [begun] = await once(doomed, 'message');
  assert.equal(begun, 'begun\n');
  await doomed.terminate();

  const sandbox = new AgentCoreRuntimeSandbox(runtime.sandboxOptions);
  const after = await sandbox.executeCommand('echo after');
  assert.equal(after.stdout, 'after\n');
  await runtime.stop();
} else {
  const sandbox = new AgentCoreRuntimeSandbox(workerData.options);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origin
  const onStdout = text => parentPort.postMessage(text);
  await sandbox.executeCommand(workerData.command, undefined, { onStdout });
}
