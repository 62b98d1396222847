/** What it costs to have a package at all: loading it, its first command, and its size. */
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

const here = fileURLToPath(new URL('.', import.meta.url));
const js = fileURLToPath(new URL('../js/', import.meta.url));
const run = promisify(execFile);

/**
 * What a process does: load the module `m` and make a client, then, with it, run a tiny
 * command. Credentials are given, so that neither side looks for any.
 */
const processes = {
  ours: {
    module: '../js/native.js',
    client: 'new m.AgentCoreRuntimeClient(connection)',
    command: `
      const sandbox = new m.AgentCoreRuntimeSandbox({ agentRuntimeArn, client, shell: false });
      await sandbox.executeCommand('bench:tiny');`,
  },
  peer: {
    module: '@aws-sdk/client-bedrock-agentcore',
    client: 'new m.BedrockAgentCoreClient(connection)',
    command: `
      const input = { agentRuntimeArn, runtimeSessionId, body: { command: 'bench:tiny' } };
      const { stream } = await client.send(new m.InvokeAgentRuntimeCommandCommand(input));
      for await (const event of stream) event.chunk;`,
  },
};

/**
 * Milliseconds from `import()` to a client, and to the end of a first command, in a fresh
 * process each time, ours and the peer's in turns; medians.
 *
 * @param {string} endpoint
 * @param {number} times
 */
export async function loadTimes(endpoint, times) {
  const measured = { ours: [], peer: [] };
  for (let n = 0; n < times; n += 1) {
    for (const [who, list] of Object.entries(measured)) list.push(await once(processes[who], endpoint));
  }
  const median = (who, what) =>
    measured[who].map(each => each[what]).toSorted((a, b) => a - b)[Math.floor(times / 2)];
  return {
    client: { ours: median('ours', 'client'), peer: median('peer', 'client') },
    command: { ours: median('ours', 'command'), peer: median('peer', 'command') },
  };
}

async function once({ module, client, command }, endpoint) {
  const code = `
    const connection = {
      region: 'us-west-2',
      endpoint: '${endpoint}',
      credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
    };
    const agentRuntimeArn = 'arn:aws:bedrock-agentcore:us-west-2:000000000000:runtime/bench-0123456789';
    const runtimeSessionId = 'bench-bench-bench-bench-bench-bench-bench';
    const started = performance.now();
    const m = await import('${module}');
    const client = ${client};
    const made = performance.now();
    ${command}
    const ended = performance.now();
    console.log(JSON.stringify({ client: made - started, command: ended - started }));
    process.exit();`;
  const { stdout } = await run(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], { cwd: here });
  return JSON.parse(stdout);
}

/** The addon's size in MB, as users get it (npm packs with gzip) and on disk. */
export function addonSize() {
  const addon = readdirSync(js).find(file => file.endsWith('.node'));
  const bytes = readFileSync(`${js}${addon}`);
  return { packed: gzipSync(bytes, { level: 9 }).length / 1e6, onDisk: bytes.length / 1e6 };
}
