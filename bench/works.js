/** What is measured, and the goal of each figure. */

const MiB = 1024 * 1024;
/** As a caller that wants bounded memory sets it. */
const retained = MiB;

/**
 * @typedef {object} Work one command, or several alike
 * @property {string} command its text, which tells the server what to answer
 * @property {number} count events of output
 * @property {number} size bytes of each
 * @property {number} [retained] `maxRetainedBytes`; none retains all
 * @property {number} [concurrent] so many at once
 * @property {number} [repeat] so many rounds, one after another; the median round counts
 *
 * @typedef {object} Goals the least `speed` (the peer's time / ours) or the most `time`
 *   (ours / the peer's), and the most that the others may be
 * @property {number} [speed]
 * @property {number} [time]
 * @property {number} [delayMs]
 * @property {number} [growthMb]
 *
 * @typedef {object} Job
 * @property {string} name
 * @property {Work} work
 * @property {Work[]} warmUp
 * @property {number} runs
 * @property {number} [peerRuns] where the peer takes too long for as many
 * @property {boolean} [mastra] measured with the Mastra class, too
 * @property {'busy10' | 'promise10'} [callback] what onStdout does besides counting
 * @property {Goals} goals
 */

/**
 * The works, at a fraction of their size.
 *
 * @param {number} scale 1 for what the goals are about
 */
export function works(scale) {
  const scaled = n => Math.max(20, Math.round(n * scale));
  const lines = (count, more) => ({
    command: `bench:lines:${count}:80`,
    count,
    size: 80,
    ...more,
  });
  const blocks = (count, size, more) => ({
    command: `bench:blocks:${count}:${size}`,
    count,
    size,
    ...more,
  });
  const tiny = { command: 'bench:tiny', count: 1, size: 3 };

  /** @type {Job[]} against the peer */
  const compared = [
    {
      name: '100 k lines of 80 B, all retained',
      work: lines(scaled(100_000)),
      warmUp: [lines(scaled(100_000))],
      mastra: true,
      runs: 5,
      goals: { speed: 60, delayMs: 3 },
    },
    {
      name: '1 M lines, 1 MiB retained',
      work: lines(scaled(1_000_000), { retained }),
      warmUp: [lines(scaled(100_000), { retained })],
      runs: 5,
      peerRuns: 1,
      goals: { speed: 40, delayMs: 3, growthMb: 32 },
    },
    {
      name: '20 k blocks of 4 KB, all retained',
      work: blocks(scaled(20_000), 4096),
      warmUp: [blocks(scaled(2_000), 4096)],
      runs: 5,
      peerRuns: 2,
      goals: { speed: 40, delayMs: 5 },
    },
    {
      name: '1 GiB in 64 KB blocks, 1 MiB retained',
      work: blocks(scaled(16_384), 65_536, { retained }),
      warmUp: [blocks(scaled(1_000), 65_536, { retained })],
      runs: 5,
      peerRuns: 3,
      goals: { speed: 3, growthMb: 32 },
    },
    {
      name: 'a tiny command, one after another',
      work: { ...tiny, repeat: scaled(1_000) },
      warmUp: [{ ...tiny, repeat: scaled(200) }],
      mastra: true,
      runs: 5,
      goals: { time: 0.25 },
    },
    {
      name: '1,000 concurrent commands of 100 lines',
      work: lines(100, { concurrent: scaled(1_000) }),
      warmUp: [lines(100, { concurrent: scaled(50) })],
      runs: 5,
      goals: { time: 0.15, growthMb: 40 },
    },
  ];

  /** @type {Job[]} alone: the peer neither waits for callbacks nor stops reading */
  const slowCallbacks = [
    ['busy10', 'a callback that takes 10 ms'],
    ['promise10', 'a callback that returns a promise of 10 ms'],
  ].map(([callback, what]) => ({
    name: `500 MB into ${what}`,
    work: blocks(scaled(7_630), 65_536, { retained }),
    warmUp: [blocks(scaled(1_000), 65_536, { retained })],
    callback: /** @type {Job['callback']} */ (callback),
    runs: 1,
    goals: { growthMb: 32 },
  }));

  /** @type {Job[]} the time of a line must not depend on how many there are */
  const linear = [10_000, 1_000_000].map(count => ({
    name: `${count} lines, all retained`,
    work: lines(scaled(count), { repeat: count < 100_000 ? 20 : 1 }),
    warmUp: [lines(scaled(100_000), { repeat: 3 })],
    runs: 5,
    goals: {},
  }));

  return { compared, slowCallbacks, linear };
}
