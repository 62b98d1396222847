/** Starts the server and the workers, and brings their figures home. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const file = name => fileURLToPath(new URL(name, import.meta.url));

/**
 * What a worker measured.
 *
 * @typedef {object} Measured
 * @property {number[]} rounds seconds of each round
 * @property {number[]} delays of each run: the largest delay of the event loop, in ms, less
 *   the 99th percentile of an idle loop
 * @property {number[]} cpu seconds a round, of each run
 * @property {number[]} firstUses of each run: ms of the first look into the retained output
 * @property {number} firstGrowthMb the growth of memory in the first run
 * @property {number} growthMb over all runs
 */

const median = numbers => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/**
 * Medians over the runs of one or several workers, but of memory the worst.
 *
 * @param {Measured[]} workers
 */
export function figures(...workers) {
  const all = what => median(workers.flatMap(worker => worker[what]));
  const worst = what => Math.max(...workers.map(worker => worker[what]));
  return {
    seconds: all('rounds'),
    delayMs: all('delays'),
    cpuSeconds: all('cpu'),
    firstUseMs: all('firstUses'),
    firstGrowthMb: worst('firstGrowthMb'),
    growthMb: worst('growthMb'),
  };
}

/**
 * Starts the server.
 *
 * @returns {Promise<{ endpoint: string, close: () => void, measure: (implementation: string,
 *   job: import('./works.js').Job) => Promise<Measured> }>}
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
    const [measured] = await Promise.race([once(worker, 'message'), exited]);
    if (typeof measured !== 'object' || measured === null) {
      throw new Error(`${implementation} failed at: ${job.name}`);
    }
    await exited;
    return measured;
  }

  return { measure, endpoint, close: () => server.disconnect() };
}
