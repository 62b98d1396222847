/**
 * Measures one implementation at one piece of work, in a process of its own so that neither
 * memory nor compiled code is shared, and sends the figures to its parent. A byte that is
 * missing, or out of its place, fails it.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** @type {import('./works.js').Job & { implementation: string, endpoint: string }} */
const job = JSON.parse(process.argv[2]);
const sandbox = await load();

async function load() {
  const options = {
    agentRuntimeArn: 'arn:aws:bedrock-agentcore:us-west-2:000000000000:runtime/bench-0123456789',
    runtimeSessionId: 'bench-bench-bench-bench-bench-bench-bench',
    region: 'us-west-2',
    endpoint: job.endpoint,
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
    shell: false,
    killOnAbort: false,
  };
  switch (job.implementation) {
    case 'raw':
      return new (await import('./raw.js')).RawReader(options);
    case 'peer':
      return new (await import('./peer.js')).PeerSandbox(options);
    case 'native':
      return new (await import('../js/native.js')).AgentCoreRuntimeSandbox(options);
    case 'mastra': {
      const { AgentCoreRuntimeSandbox } = await import('../index.js');
      const mastra = new AgentCoreRuntimeSandbox(options);
      await mastra.start();
      return Object.assign(mastra, { close: () => mastra.destroy() });
    }
    default:
      throw new Error(`no such implementation: ${job.implementation}`);
  }
}

/** What a callback does with its piece, beside counting it. Jobs name it. */
const callbacks = {
  busy10: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10),
  promise10: () => sleep(10),
};

/** Runs one command, checks what came, and gives what was retained. */
async function command({ command: text, count, size, retained }, callback) {
  const bytes = count * size;
  let seen = 0;
  const result = await sandbox.executeCommand(text, [], {
    onStdout: piece => {
      // Every line ends where it should: nothing is lost, doubled or reordered by the way.
      const end = size - 1 - (seen % size);
      if (end < piece.length && piece.charCodeAt(end) !== 10) throw new Error(`${text}: output is garbled`);
      seen += piece.length;
      return callback?.();
    },
    maxRetainedBytes: retained ?? Infinity,
  });
  if (job.implementation === 'raw') {
    if (result.wireBytes < bytes) throw new Error(`${text}: ${result.wireBytes} bytes came`);
    return '';
  }
  const kept = Math.min(bytes, retained ?? Infinity);
  if (result.exitCode !== 0 || seen !== bytes || result.stdout.length !== kept) {
    throw new Error(
      `${text}: exit code ${result.exitCode}, ${seen} of ${bytes} bytes seen, ${result.stdout.length} of ${kept} kept`,
    );
  }
  return result.stdout;
}

/** Runs a work and gives the seconds of each round of it, and the last retained output. */
async function perform(work, callback) {
  const rounds = [];
  let retained = '';
  for (let round = 0; round < (work.repeat ?? 1); round += 1) {
    const started = performance.now();
    const all = await Promise.all(
      Array.from({ length: work.concurrent ?? 1 }, () => command(work, callback)),
    );
    rounds.push((performance.now() - started) / 1000);
    retained = all.at(-1);
  }
  return { rounds, retained };
}

/** The delays of the event loop while `work` runs, in ms. */
async function delaysDuring(work) {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  const result = await work();
  // A delay is seen when it is over: the last one too.
  await sleep(10);
  histogram.disable();
  return { result, max: histogram.max / 1e6, p99: histogram.percentile(99) / 1e6 };
}

/** Linux: a field of /proc/self/status in bytes. */
function status(field) {
  const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(kilobytes) * 1024;
}

for (const work of job.warmUp) await perform(work);
globalThis.gc();
await sleep(200);
const resident = status('VmRSS');
// Sets VmHWM, the peak, back to what is resident now.
writeFileSync('/proc/self/clear_refs', '5');

const idle = await delaysDuring(() => sleep(300));
const rounds = [];
const delays = [];
const cpu = [];
const firstUses = [];
let firstRunPeak = 0;
for (let run = 0; run < job.runs; run += 1) {
  const before = process.cpuUsage();
  const { result, max } = await delaysDuring(() => perform(job.work, callbacks[job.callback]));
  const { user, system } = process.cpuUsage(before);
  rounds.push(...result.rounds);
  delays.push(Math.max(0, max - idle.p99));
  firstRunPeak ||= status('VmHWM');
  cpu.push((user + system) / 1e6 / result.rounds.length);
  // A string that was put together of parts is made one when it is first looked into.
  const started = performance.now();
  result.retained.charCodeAt(0);
  firstUses.push(performance.now() - started);
}

const megabytes = bytes => (bytes - resident) / 1024 / 1024;
process.send({
  rounds,
  delays,
  cpu,
  firstUses,
  firstGrowthMb: megabytes(firstRunPeak),
  growthMb: megabytes(status('VmHWM')),
});
await sandbox.close();
process.disconnect();
