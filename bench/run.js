/**
 * `npm run bench`: this package against its peer, on one server, in one run. Prints ratios,
 * because absolute times belong to a machine; writes bench/RESULTS.md.
 *
 *   npm run bench -- --quick        small amounts, to see that it works; writes nothing
 *   npm run bench -- --only NAME    the works whose name contains NAME; writes nothing
 */
import { fork, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' } },
});
const here = fileURLToPath(new URL('.', import.meta.url));
const scale = flags.quick ? 0.02 : 1;
const count = n => Math.max(100, Math.round(n * scale));
const MiB = 1024 * 1024;

const lines = (n, retained, more) => ({
  command: `bench lines:${count(n)}:80`,
  bytes: count(n) * 80,
  retained,
  ...more,
});
const blocks = (n, size, retained) => ({
  command: `bench blocks:${count(n)}:${size}`,
  bytes: count(n) * size,
  retained,
});
const tiny = { command: 'bench tiny', bytes: 3 };

/** What is measured, and the goal of each figure. */
const works = [
  {
    name: '100 k lines of 80 B, all retained',
    work: lines(100_000),
    warmUp: [lines(100_000)],
    runs: 5,
    goals: { speed: 60, delayMs: 3 },
  },
  {
    name: '1 M lines, 1 MiB retained',
    work: lines(1_000_000, MiB),
    warmUp: [lines(100_000, MiB)],
    runs: 5,
    peerRuns: 1,
    goals: { speed: 40, delayMs: 3, growthMb: 32 },
  },
  {
    name: '20 k blocks of 4 KB, all retained',
    work: blocks(20_000, 4096),
    warmUp: [blocks(2_000, 4096)],
    runs: 5,
    peerRuns: 1,
    goals: { speed: 40, delayMs: 5 },
  },
  {
    name: '1 GiB in 64 KB blocks, 1 MiB retained',
    work: blocks(16_384, 65_536, MiB),
    warmUp: [blocks(1_000, 65_536, MiB)],
    runs: 3,
    peerRuns: 1,
    goals: { speed: 3, growthMb: 32 },
  },
  {
    name: 'a tiny command, one after another',
    work: tiny,
    warmUp: Array.from({ length: 50 }, () => tiny),
    repeat: count(500),
    runs: 5,
    goals: { time: 0.25 },
  },
  {
    name: '1,000 concurrent commands of 100 lines',
    work: { command: 'bench lines:100:80', bytes: 8000, concurrent: count(1000) },
    warmUp: [{ command: 'bench lines:100:80', bytes: 8000, concurrent: 50 }],
    runs: 3,
    goals: { time: 0.15, growthMb: 40 },
  },
];

const slow = ['busy10', 'promise10'].map(callback => ({
  name: `500 MB into a callback that ${callback === 'busy10' ? 'takes' : 'returns a promise of'} 10 ms`,
  work: blocks(7_630, 65_536, MiB),
  warmUp: [blocks(200, 65_536, MiB)],
  callback,
  runs: 1,
  goals: { growthMb: 32 },
}));

const server = fork(`${here}server.js`, { stdio: 'inherit' });
const [{ port }] = await once(server, 'message');
const endpoint = `http://127.0.0.1:${port}`;

async function measure(implementation, { name, work, warmUp, repeat, callback, ...job }) {
  const runs = implementation === 'peer' ? (job.peerRuns ?? job.runs) : job.runs;
  await prerender(work.command);
  const worker = fork(
    `${here}worker.js`,
    [JSON.stringify({ implementation, endpoint, work, warmUp, repeat, callback, runs })],
    { execArgv: ['--expose-gc'] },
  );
  const result = await Promise.race([once(worker, 'message'), once(worker, 'exit')]);
  if (typeof result[0] !== 'object') throw new Error(`${implementation} failed at: ${name}`);
  await once(worker, 'exit');
  return result[0];
}

async function prerender(command) {
  const kind = command.replace('bench ', '');
  await fetch(`${endpoint}/render/${encodeURIComponent(kind)}`).then(answer => answer.text());
}

/** The same bytes read from the socket and thrown away: what cannot be beaten. */
function floor({ command }) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const post = request(`${endpoint}/x`, { method: 'POST' }, response => {
      response.on('data', () => {}).on('end', () => resolve((performance.now() - started) / 1000));
    });
    post.on('error', reject).end(JSON.stringify({ command }));
  });
}

const rows = [];
const met = (figure, text) => `${text}${figure === undefined ? '' : figure ? ' ✓' : ' ✗'}`;
const chosen = list => list.filter(({ name }) => !flags.only || name.includes(flags.only));

for (const each of chosen(works)) {
  process.stdout.write(`${each.name} …\n`);
  await prerender(each.work.command);
  const raw = await floor(each.work);
  const ours = await measure('native', each);
  const peer = await measure('peer', each);
  const ratio = peer.seconds / ours.seconds;
  const { speed, time, delayMs, growthMb } = each.goals;
  rows.push({
    name: each.name,
    ratio: speed
      ? met(ratio >= speed, `${ratio.toFixed(1)}× faster (≥ ${speed}×)`)
      : met(1 / ratio <= time, `${(1 / ratio).toFixed(3)}× the time (≤ ${time}×)`),
    seconds: `${ours.seconds.toFixed(3)} / ${peer.seconds.toFixed(3)}`,
    raw: raw.toFixed(3),
    delay: met(
      delayMs && ours.delayMs <= delayMs,
      `${ours.delayMs.toFixed(1)} / ${peer.delayMs.toFixed(1)}${delayMs ? ` (≤ ${delayMs})` : ''}`,
    ),
    cpu: `${ours.cpuSeconds.toFixed(2)} / ${peer.cpuSeconds.toFixed(2)}`,
    growth: met(
      growthMb && ours.growthMb <= growthMb,
      `${ours.growthMb.toFixed(0)} / ${peer.growthMb.toFixed(0)}${growthMb ? ` (≤ ${growthMb})` : ''}`,
    ),
  });
  show(rows.at(-1));
}

function show(row) {
  process.stdout.write(
    `  ${row.ratio}\n  seconds, ours / peer: ${row.seconds}   raw socket: ${row.raw}\n` +
      `  largest delay of the event loop, ms: ${row.delay}   CPU, s: ${row.cpu}   memory growth, MB: ${row.growth}\n`,
  );
}

const others = [];
const note = (name, text) => {
  others.push(`| ${name} | ${text} |`);
  process.stdout.write(`${name}\n  ${text}\n`);
};

for (const each of chosen(slow)) {
  const { growthMb, seconds } = await measure('native', each);
  note(
    each.name,
    met(growthMb <= 32, `memory growth ${growthMb.toFixed(0)} MB (≤ 32), every byte seen, ${seconds.toFixed(1)} s`),
  );
}

if (chosen([{ name: 'growth from 10 k to 1 M lines' }]).length > 0) {
  const at = async n => {
    const work = lines(n);
    const { seconds } = await measure('native', {
      name: `${n} lines`,
      work,
      warmUp: [lines(100_000), lines(100_000)],
      repeat: n < 100_000 ? 20 : 1,
      runs: 5,
    });
    return seconds / (n < 100_000 ? 20 : 1) / count(n);
  };
  const ratio = (await at(1_000_000)) / (await at(10_000));
  note(
    'time per line at 1 M lines against that at 10 k, all retained',
    met(ratio <= 1.3, `${ratio.toFixed(2)}× (≤ 1.3×)`),
  );
}

if (chosen([{ name: 'load' }]).length > 0) {
  const load = code => {
    const times = Array.from({ length: 11 }, () =>
      Number(
        execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: here, encoding: 'utf8' }),
      ),
    ).toSorted((a, b) => a - b);
    return times[5];
  };
  const timed = (module, make) =>
    `const t = performance.now(); const m = await import('${module}'); ${make}; console.log(performance.now() - t);`;
  const ours = load(timed('../js/native.js', "new m.AgentCoreRuntimeClient({ region: 'us-west-2' })"));
  const peer = load(
    timed('@aws-sdk/client-bedrock-agentcore', "new m.BedrockAgentCoreClient({ region: 'us-west-2' })"),
  );
  note(
    'loading and making a client',
    met(
      ours / peer <= 0.1,
      `${(ours / peer).toFixed(3)}× the JavaScript SDK's time (≤ 0.1×): ${ours.toFixed(1)} / ${peer.toFixed(1)} ms`,
    ),
  );
  const addon = readdirSync(`${here}../js`).find(file => file.endsWith('.node'));
  const bytes = readFileSync(`${here}../js/${addon}`);
  const packed = gzipSync(bytes, { level: 9 }).length / 1e6;
  note('size of the addon', met(packed <= 6, `${packed.toFixed(1)} MB packed (≤ 6), ${(bytes.length / 1e6).toFixed(1)} MB on disk, one file`));
}

server.disconnect();
if (!flags.quick && !flags.only) writeFileSync(`${here}RESULTS.md`, results());

function results() {
  const table = rows
    .map(r => `| ${r.name} | ${r.ratio} | ${r.seconds} | ${r.raw} | ${r.delay} | ${r.cpu} | ${r.growth} |`)
    .join('\n');
  const [{ model }] = cpus();
  return `# Results

Made by \`npm run bench\`: this package (\`mastra-agentcore/native\`) against a peer on
\`@aws-sdk/client-bedrock-agentcore\` and \`@mastra/core\`'s \`ProcessHandle\`, each in processes of
its own, on one server that sends what it rendered before. Pairs are ours / the peer's. In
brackets the goal, and whether it was met.

Machine: ${cpus().length} cores (${model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux, Node ${process.version}.

| work | ratio | seconds | raw socket, s | largest loop delay, ms | CPU, s | memory growth, MB |
|---|---|---|---|---|---|---|
${table}

| more | |
|---|---|
${others.join('\n')}

Delay: the largest one seen (\`monitorEventLoopDelay\`, resolution 1) less the 99th percentile of an
idle run in the same process, median of the runs. Memory growth: the peak of resident memory
less what was resident after the warm-up. Times on shared machines vary: compare within one run.
`;
}
