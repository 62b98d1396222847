/**
 * A Node process of its own with a sandbox on a session: what `processes.test.js` kills, restarts
 * and asks. Gets its options and task as JSON in its argument, prints lines of JSON.
 */
import { createHash } from 'node:crypto';
import { AgentCoreRuntimeSandbox } from '../../index.js';

const { options, task, pid, after, command } = JSON.parse(process.argv[2]);
const sandbox = new AgentCoreRuntimeSandbox({ ...options, processes: true });
const say = value => console.log(JSON.stringify(value));

if (task === 'spawn') {
  const handle = await sandbox.processes.spawn(command, { onStdout: () => say({ pid: handle.pid, position: handle.position }) });
  await handle.wait();
} else {
  const hash = createHash('sha256');
  const handle = await sandbox.processes.get(pid, { after });
  const { exitCode } = await handle.wait({ onStdout: text => void hash.update(text) });
  say({ exitCode, sha256: hash.digest('hex'), position: handle.position });
  await sandbox.destroy();
}
