/** Figures → lines for a terminal and tables for bench/RESULTS.md. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, release, totalmem } from 'node:os';

const require = createRequire(import.meta.url);

/** @typedef {{ name: string, cells: string[] }} Row */

/** A figure and its goal. */
const judged = (text, met) => `${text} ${met ? '✓' : '✗'}`;

const duration = seconds => {
  if (seconds < 0.1) return `${(seconds * 1000).toPrecision(3)} ms`;
  return `${seconds.toPrecision(3)} s`;
};

export const columns = [
  'work',
  'ratio',
  'time',
  'raw reader',
  'largest loop delay, ms',
  'CPU',
  'memory growth, MB',
  'of which in the first run',
  'first use of the output, ms',
];

/** The cells of one work, ours / the peer's. */
export function comparison({ goals }, { ours, peer, raw }) {
  const speed = peer.seconds / ours.seconds;
  const both = (name, digits = 1) => `${ours[name].toFixed(digits)} / ${peer[name].toFixed(digits)}`;
  const limited = (name, limit, digits) =>
    limit === undefined
      ? both(name, digits)
      : judged(`${both(name, digits)} (≤ ${limit})`, ours[name] <= limit);
  return [
    goals.speed === undefined
      ? judged(`${(1 / speed).toFixed(2)}× the time (≤ ${goals.time})`, 1 / speed <= goals.time)
      : judged(`${speed.toFixed(1)}× as fast (≥ ${goals.speed})`, speed >= goals.speed),
    `${duration(ours.seconds)} / ${duration(peer.seconds)}`,
    duration(raw.seconds),
    limited('delayMs', goals.delayMs),
    `${duration(ours.cpuSeconds)} / ${duration(peer.cpuSeconds)}`,
    limited('growthMb', goals.growthMb, 0),
    both('firstGrowthMb', 0),
    both('firstUseMs'),
  ];
}

export function slowCallback({ goals }, { growthMb, seconds }) {
  const text = `memory growth ${growthMb.toFixed(0)} MB (≤ ${goals.growthMb}), every byte seen, ${duration(seconds)}`;
  return judged(text, growthMb <= goals.growthMb);
}

export function mastra({ mastra: { seconds }, ours, peer }) {
  const times = `${duration(seconds)}, ${(seconds / ours.seconds).toFixed(2)}× the native class's`;
  return `${times}, ${(seconds / peer.seconds).toFixed(3)}× the peer's`;
}

export function linear(ratio) {
  return judged(`${ratio.toFixed(2)}× (≤ 1.3)`, ratio <= 1.3);
}

export function loading({ ours, peer }, goal) {
  const text = `${(ours / peer).toFixed(3)}× the JavaScript SDK's`;
  const times = `${ours.toFixed(1)} / ${peer.toFixed(1)} ms`;
  return goal === undefined
    ? `${text}: ${times}`
    : judged(`${text} (≤ ${goal}): ${times}`, ours / peer <= goal);
}

export function size({ packed, onDisk }) {
  return judged(`${packed.toFixed(1)} MB packed (≤ 6), ${onDisk.toFixed(1)} MB on disk, one file`, packed <= 6);
}

const version = name => {
  const paths = require.resolve.paths(name) ?? [];
  for (const path of paths) {
    try {
      return JSON.parse(readFileSync(`${path}/${name}/package.json`, 'utf8')).version;
    } catch {
      // Not there: the next one.
    }
  }
  return 'unknown';
};

/** @param {{ compared: Row[], others: Row[] }} rows */
export function markdown({ compared, others }) {
  const [{ model }] = cpus();
  const line = cells => `| ${cells.join(' | ')} |`;
  const rule = line(columns.map(() => '---')).replaceAll(' ', '');
  return `# Results

\`mastra-agentcore/native\` against a peer (bench/peer.js) on the AWS SDK for JavaScript and
Mastra's \`ProcessHandle\`. Pairs are ours / the peer's; a goal stands in brackets, with ✓ where
it was met and ✗ where it was missed.

${line(columns)}
${rule}
${compared.map(({ name, cells }) => line([name, ...cells])).join('\n')}

| more | |
|---|---|
${others.map(({ name, cells }) => line([name, ...cells])).join('\n')}

## Machine

${cpus().length} cores (${model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release().split('-')[0]}, Node ${process.version},
\`@aws-sdk/client-bedrock-agentcore\` ${version('@aws-sdk/client-bedrock-agentcore')}, \`@mastra/core\` ${version('@mastra/core')}. Client and server share
the cores. Absolute times belong to the machine and its hour: compare ratios, within one run.

## How it is measured

\`npm run build && npm run bench\`, on an otherwise idle Linux machine, makes this file anew.
\`npm run bench -- --only NAME\` runs what has NAME in its name, \`--quick\` everything in small.

- Each implementation does each work in a process of its own, after a warm-up, against one
  server whose answers were rendered before. The raw reader, which takes the same bytes from
  the socket and throws them away, is what that server can do.
- Time and CPU: the median of ten runs, five before the peer's and five after; of the peer
  five, or three, two or one where a run takes it long. For tiny commands the median of single
  commands.
- Loop delay: the largest seen by \`monitorEventLoopDelay\` (resolution 1), less the 99th
  percentile of an idle run in the same process; median of the runs.
- Memory growth: the peak of resident memory over five runs, less what was resident after the
  warm-up and a collection.
- First use: the retained output is put together of slices, and V8 makes them one string when
  it is first looked into. That is not in the time, as it is the caller's moment.
- The callback checks each line's place, so a byte lost or doubled fails the run.
- The peer's client has the SDK's default of 50 connections, so its 1,000 commands queue.
`;
}
