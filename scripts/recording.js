/**
 * `npm run recording`: docs/quickstart.svg, what the quickstart prints, from a real run. Each line
 * appears when it came, which a still picture shows at its end. Node's own modules only.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { root } from './steps.js';

const FONT_SIZE = 13;
const LINE = 18;
const MARGIN = 20;
const WIDTH = 860;
const TITLE = '$ npm run quickstart';

const started = performance.now();
/** @type {{ text: string, at: number }[]} */
const lines = [{ text: TITLE, at: 0 }];
const child = spawn(process.execPath, ['examples/quickstart.mjs'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
let rest = '';
child.stdout.setEncoding('utf8').on('data', text => {
  const whole = (rest + text).split('\n');
  rest = whole.pop() ?? '';
  for (const line of whole) lines.push({ text: line, at: performance.now() - started });
});
child.on('close', code => {
  if (code !== 0) {
    console.error(`✖ the quickstart ended with ${code}`);
    process.exit(1);
  }
  writeFileSync(`${root}docs/quickstart.svg`, picture());
  console.log(`✔ docs/quickstart.svg: ${lines.length} lines`);
});

function picture() {
  const height = 2 * MARGIN + lines.length * LINE;
  const rows = lines.map(({ text, at }, index) => {
    const y = MARGIN + FONT_SIZE + index * LINE;
    const delay = `${(at / 1000).toFixed(2)}s`;
    return `  <text x="${MARGIN}" y="${y}" class="${kind(text)}" style="animation-delay:${delay}">${escaped(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="What npm run quickstart prints">
  <style>
    text { font: ${FONT_SIZE}px ui-monospace, Menlo, Consolas, monospace; fill: #d0d7de; white-space: pre }
    .title { fill: #79c0ff }
    .head { fill: #ffffff; font-weight: bold }
    .good { fill: #7ee787 }
    @keyframes come { from { opacity: 0 } to { opacity: 1 } }
    @media (prefers-reduced-motion: no-preference) { text { animation: come 0.01s both } }
  </style>
  <rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${rows.join('\n')}
</svg>
`;
}

/** How a line is coloured. @param {string} text */
function kind(text) {
  if (text === TITLE) return 'title';
  if (/✔|^All as expected/.test(text)) return 'good';
  return /^\S/.test(text) ? 'head' : 'plain';
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
