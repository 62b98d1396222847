/**
 * `npm run bench`: this package against its peer, on one server, in one run. Prints ratios,
 * because absolute times belong to a machine; writes bench/RESULTS.md.
 *
 *   npm run bench -- --quick        small amounts, to see that it works; writes nothing
 *   npm run bench -- --only NAME    the works whose name contains NAME; writes nothing
 */
import { existsSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { addonSize, loadTimes } from './load.js';
import { figures, startServer } from './measure.js';
import * as report from './report.js';
import { works } from './works.js';

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean' }, only: { type: 'string' } },
});
if (!existsSync('/proc/self/clear_refs')) {
  console.error('The benchmarks read memory from /proc: they run on Linux only.');
  process.exit(1);
}
if (!flags.quick && loadavg()[0] > availableParallelism() / 4) {
  console.warn('This machine is busy: what is measured now will not be worth much.\n');
}
const { compared, slowCallbacks, linear } = works(flags.quick ? 0.02 : 1);
const chosen = name => !flags.only || name.includes(flags.only);
const rows = { compared: [], others: [] };
const server = await startServer();

try {
  for (const job of compared) if (chosen(job.name)) await compare(job);
  for (const job of slowCallbacks) {
    if (chosen(job.name)) other(job.name, report.slowCallback(job, figures(await server.measure('native', job))));
  }
  await growth('time of a line at 1 M lines against 10 k, all retained');
  await load('loading and making a client', 'loading and a first command', flags.quick ? 3 : 11);
} finally {
  server.close();
}
if (!flags.quick && !flags.only) {
  writeFileSync(fileURLToPath(new URL('RESULTS.md', import.meta.url)), report.markdown(rows));
}

async function compare(job) {
  console.log(job.name);
  const raw = figures(await server.measure('raw', job));
  // Ours before and after the peer: a machine that changes its pace weighs on both.
  const before = await server.measure('native', job);
  const peer = figures(await server.measure('peer', { ...job, runs: job.peerRuns ?? job.runs }));
  const ours = figures(before, await server.measure('native', job));
  const cells = report.comparison(job, { ours, peer, raw });
  rows.compared.push({ name: job.name, cells });
  for (const [index, cell] of cells.entries()) say(`${report.columns[index + 1]}: ${cell}`);
  if (job.mastra) {
    const mastra = figures(await server.measure('mastra', job));
    other(`the Mastra class: ${job.name}`, report.mastra({ mastra, ours, peer }));
  }
}

function other(name, text) {
  rows.others.push({ name, cells: [text] });
  console.log(name);
  say(text);
}

/** A small amount meets or misses no goal. */
function say(text) {
  console.log(`  ${flags.quick ? text.replace(/ [✓✗]$/, '') : text}`);
}

async function growth(name) {
  if (!chosen(name)) return;
  const perLine = [];
  for (const job of linear) {
    const { seconds } = figures(await server.measure('native', job));
    perLine.push(seconds / job.work.count);
  }
  other(name, report.linear(perLine[1] / perLine[0]));
}

async function load(client, command, processes) {
  if (!chosen(client) && !chosen(command)) return;
  const times = await loadTimes(server.endpoint, processes);
  other(client, report.loading(times.client, 0.1));
  other(command, report.loading(times.command));
  other('the addon', report.size(addonSize()));
}
