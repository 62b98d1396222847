/** Starts the server and the workers, and brings their figures home. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const file = name => fileURLToPath(new URL(name, import.meta.url));

/**
 * Starts the server.
 *
 * @returns {Promise<{ measure: (implementation: string, job: import('./works.js').Job) =>
 *   Promise<Figures>, endpoint: string, close: () => void }>}
 *
 * @typedef {object} Figures medians over the runs, but for the growth, which is over all
 * @property {number} seconds
 * @property {number} delayMs the largest delay of the event loop less `idleMs`
 * @property {number} idleMs the 99th percentile of the delays of an idle loop
 * @property {number} cpuSeconds
 * @property {number} firstUseMs what the first look into the retained output took
 * @property {number} firstGrowthMb the growth of memory in the first run
 * @property {number} growthMb over all runs
 */
export async function startServer() {
  const server = fork(file('server.js'));
  const [{ port }] = await once(server, 'message');
  const endpoint = `http://127.0.0.1:${port}`;

  async function measure(implementation, job) {
    for (const work of [...job.warmUp, job.work]) {
      server.send(work.command);
      await once(server, 'message');
    }
    const options = JSON.stringify({ ...job, implementation, endpoint });
    const worker = fork(file('worker.js'), [options], { execArgv: ['--expose-gc', '--no-warnings'] });
    const exited = once(worker, 'exit');
    const [figures] = await Promise.race([once(worker, 'message'), exited]);
    if (typeof figures !== 'object' || figures === null) {
      throw new Error(`${implementation} failed at: ${job.name}`);
    }
    await exited;
    return figures;
  }

  return { measure, endpoint, close: () => server.disconnect() };
}
