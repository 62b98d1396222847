/**
 * Measures one implementation at one piece of work, in a process of its own, and sends the
 * figures to its parent. Fails loudly when a byte is missing.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const job = JSON.parse(process.argv[2]);
const options = {
  agentRuntimeArn: 'arn:aws:bedrock-agentcore:us-west-2:000000000000:runtime/bench-0123456789',
  runtimeSessionId: 'bench-bench-bench-bench-bench-bench-bench',
  region: 'us-west-2',
  endpoint: job.endpoint,
  credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  shell: false,
  killOnAbort: false,
};

async function load() {
  if (job.implementation === 'peer') {
    const { PeerSandbox } = await import('./peer.js');
    return new PeerSandbox(options);
  }
  const { AgentCoreRuntimeSandbox } = await import('../js/native.js');
  return new AgentCoreRuntimeSandbox(options);
}

const sandbox = await load();

/** Runs one command and checks that every byte came. */
async function run({ command, bytes, retained, callback, concurrent = 1 }) {
  const one = async () => {
    let seen = 0;
    const result = await sandbox.executeCommand(command, [], {
      onStdout: text => {
        seen += text.length;
        return callback?.(text);
      },
      maxRetainedBytes: retained,
    });
    const kept = Math.min(bytes, retained ?? Infinity);
    if (result.exitCode !== 0 || seen !== bytes || result.stdout.length !== kept) {
      throw new Error(
        `${command}: exit code ${result.exitCode}, ${seen} of ${bytes} bytes seen, ${result.stdout.length} of ${kept} kept`,
      );
    }
  };
  await Promise.all(Array.from({ length: concurrent }, one));
}

const status = name => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;

/** Sets the peak back to what is resident now. */
function resetPeak() {
  writeFileSync('/proc/self/clear_refs', '5');
}

/** The largest delay of the event loop while `work` runs, in ms. */
async function delayDuring(work) {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  await work();
  histogram.disable();
  return { max: histogram.max / 1e6, p99: histogram.percentile(99) / 1e6 };
}

const median = numbers => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

for (const warm of job.warmUp) await run(warm);
globalThis.gc?.();
await sleep(100);
const resident = status('VmRSS');
resetPeak();

const idle = await delayDuring(() => sleep(300));
const seconds = [];
const delays = [];
const cpu = process.cpuUsage();
for (let n = 0; n < job.runs; n += 1) {
  const work = callbackOf(job.work);
  const started = performance.now();
  const { max } = await delayDuring(async () => {
    for (let each = 0; each < (job.repeat ?? 1); each += 1) await run(work);
  });
  seconds.push((performance.now() - started) / 1000);
  delays.push(Math.max(0, max - idle.p99));
}
const { user, system } = process.cpuUsage(cpu);
process.send({
  seconds: median(seconds),
  delayMs: median(delays),
  cpuSeconds: (user + system) / 1e6 / job.runs,
  growthMb: (status('VmHWM') - resident) / 1024 / 1024,
});
await sandbox.close();
process.disconnect();

/** Callbacks cannot be sent: the job names them. */
function callbackOf(work) {
  if (job.callback === 'busy10') {
    return {
      ...work,
      callback: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10),
    };
  }
  if (job.callback === 'promise10') return { ...work, callback: () => sleep(10) };
  return work;
}
