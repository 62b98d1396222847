/**
 * `npx mastra-agentcore doctor`: goes the way of a command step by step, and says at each what
 * stands in its way and what to do. It starts a session of its own and stops it.
 */
import { readFileSync } from 'node:fs';
import { AgentCoreRuntimeClient, nativeOf } from './client.js';
import { resolveConnection } from './connection.js';
import { Engine } from './engine.js';
import { plainError } from './errors.js';
import { AgentCoreRuntimeSandbox } from './native.js';
import { resolveOptions } from './options.js';
import { toolsOf } from './tools.js';

const VARIABLES = [
  'AWS_PROFILE',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'AWS_ENDPOINT_URL',
  'AWS_ENDPOINT_URL_BEDROCK_AGENTCORE',
  'AWS_CA_BUNDLE',
  'NODE_EXTRA_CA_CERTS',
  'NO_PROXY',
];
/** They may hold a password. */
const SECRETIVE = ['HTTPS_PROXY', 'https_proxy'];

/** What is lost without a tool. */
const USES = [
  ['writing files', ['cat', 'chmod', 'dd', 'mkdir', 'mv', 'rm', 'wc']],
  ['reading files', ['tail', 'dd', 'wc']],
  ['background processes and resumable commands', ['cat', 'dd', 'mkdir', 'mkfifo', 'mv', 'rm', 'wc']],
  ['privateEnv', ['openssl']],
  ['checksums of files', ['sha256sum']],
  ['compression of files', ['gzip']],
];

/**
 * @param {object} options
 * @param {Partial<import('../native.js').AgentCoreRuntimeSandboxOptions>} options.sandbox
 * @param {(line: string) => void} options.print
 * @returns {Promise<boolean>} whether a command gets through
 */
export async function doctor({ sandbox: given, print }) {
  const good = text => print(`✔ ${text}`);
  const note = text => print(`! ${text}`);
  const bad = text => {
    print(`✖ ${text}`);
    return false;
  };

  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  good(`mastra-agentcore ${version}, Node ${process.version}, ${process.platform} ${process.arch}`);
  for (const name of VARIABLES) if (process.env[name]) good(`${name}=${process.env[name]}`);
  for (const name of SECRETIVE) if (process.env[name]) good(`${name} is set`);

  if (!given.agentRuntimeArn) {
    return bad('no runtime: pass --arn, or set AGENTCORE_RUNTIME_ARN to the ARN of an AgentCore Runtime');
  }
  let options;
  try {
    options = resolveOptions({ ...given, agentRuntimeArn: given.agentRuntimeArn });
  } catch (error) {
    return bad(error.message);
  }
  good(`runtime ${options.agentRuntimeArn}${options.qualifier ? `, endpoint ${options.qualifier}` : ''}`);

  if (!(await credentials(options, { good, note, bad }))) return false;

  const sandbox = new AgentCoreRuntimeSandbox({ ...given, agentRuntimeArn: options.agentRuntimeArn });
  let started = true;
  try {
    return await commands(sandbox, options, { good, note, bad });
  } catch (error) {
    started = /** @type {any} */ (error).mayHaveRun ?? true;
    return bad(error.message);
  } finally {
    if (started) await stopped(sandbox, note);
    await sandbox.close();
  }
}

/** Region, credentials, and whose they are. */
async function credentials({ connection }, { good, note, bad }) {
  const client = new AgentCoreRuntimeClient(resolveConnection(connection));
  try {
    const identity = await nativeOf(client, connection.region).identity();
    good(`region ${identity.region}`);
    if (identity.credentialsError) return bad(identity.credentialsError.message);
    const found = identity.credentials;
    if (!found) {
      good('a bearer token is sent instead of a signature');
      return true;
    }
    const until = found.expires === undefined ? '' : `, until ${new Date(found.expires).toISOString()}`;
    good(`credentials ${found.accessKeyId} (${found.provider})${until}`);
    if (found.caller) good(`they are ${found.caller}'s`);
    else note(`whose they are could not be asked: ${found.callerError}`);
    return true;
  } catch (error) {
    return bad(error.message);
  } finally {
    client.close();
  }
}

/** A harmless command, the shell, its tools and limits. */
async function commands(sandbox, options, { good, note, bad }) {
  const first = await sandbox.executeCommand('/bin/true', [], { timeout: 60_000 });
  if (first.exitCode !== 0) {
    return bad(
      `a command reaches session ${sandbox.runtimeSessionId}, but ${options.shell ?? '/bin/true'} ends with ${first.exitCode}: ${first.stderr.trim() || 'is it in the image?'}`,
    );
  }
  good(`session ${sandbox.runtimeSessionId} answered after ${first.executionTimeMs} ms`);
  const second = await sandbox.executeCommand('/bin/true', [], { timeout: 60_000 });
  good(`a further command takes ${second.executionTimeMs} ms`);
  if (!options.shell) {
    note('shell: false: what follows needs a shell and is passed over');
    return true;
  }
  const { stdout } = await sandbox.executeCommand(FACTS, [], { timeout: 60_000 });
  for (const line of stdout.split('\n').filter(Boolean)) good(line);

  const engine = new Engine(options, sandbox.runtimeSessionId, plainError);
  try {
    const tools = await toolsOf(engine);
    for (const [use, names] of USES) {
      const missing = /** @type {string[]} */ (names).filter(name => !tools.has(name));
      if (missing.length === 0) good(`${use}: all there`);
      else note(`${use}: the image lacks ${missing.join(', ')}`);
    }
    if (!tools.has('base64-decodes') && !tools.has('openssl')) note('without base64 and openssl, files take longer');
    if (!tools.has('sleeps-briefly')) note('sleep takes whole seconds only: background processes are heard late');
  } finally {
    engine.release();
  }
  return true;
}

const FACTS = `echo "shell $0, user $(id -u 2>/dev/null), directory $PWD, home $HOME"
echo "kernel $(uname -srm 2>/dev/null), $(grep -c ^processor /proc/cpuinfo 2>/dev/null) processors, $(sed -n 's/^MemTotal: *//p' /proc/meminfo 2>/dev/null) of memory"
echo "$(df -Pk "\${TMPDIR:-/tmp}" 2>/dev/null | tail -n 1 | { read -r a b c free rest; echo $free; }) kB free in \${TMPDIR:-/tmp}, $(ulimit -n) open files, longest argument list $(getconf ARG_MAX 2>/dev/null)"
[ -d /proc/self ] || echo "no /proc: commands that are aborted are not killed"`;

async function stopped(sandbox, note) {
  try {
    await sandbox.stopRuntimeSession();
  } catch (error) {
    note(`its session was not stopped, and ends by itself when it idles: ${error.message}`);
  }
}
