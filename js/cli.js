#!/usr/bin/env node
/** `npx mastra-agentcore`: one command, or the local runtime, from a shell. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { LocalAgentCoreRuntime } from './local.js';
import { AgentCoreRuntimeSandbox } from './native.js';

const USAGE = `Usage:
  mastra-agentcore exec [options] -- COMMAND [ARGS…]   run a command in a session
  mastra-agentcore doctor [options]                    say what stands in a command's way
  mastra-agentcore local [--port N] [--shell]          serve a local runtime (it isolates nothing)

Options of exec and doctor:
  --arn ARN          the runtime; default: $AGENTCORE_RUNTIME_ARN
  --session ID       the session; default: a new one
  --qualifier NAME   --region REGION   --endpoint URL   --profile NAME
of exec alone:
  --cwd DIRECTORY    --timeout SECONDS
  --stop             stop the session afterwards

exec prints the command's output as it comes and ends with its exit code; 70 means that it is not
known how the command ended. doctor runs harmless commands in a session of its own, stops it, and
ends with 1 when something stands in the way.`;

const EXEC_OPTIONS = /** @satisfies {import('node:util').ParseArgsConfig['options']} */ ({
  arn: { type: 'string' },
  session: { type: 'string' },
  qualifier: { type: 'string' },
  region: { type: 'string' },
  endpoint: { type: 'string' },
  profile: { type: 'string' },
  cwd: { type: 'string' },
  timeout: { type: 'string' },
  stop: { type: 'boolean' },
});

const [task, ...rest] = process.argv.slice(2);

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = error.code?.startsWith?.('ERR_PARSE_ARGS') || error instanceof RangeError ? 64 : 70;
}

async function main() {
  switch (task) {
    case 'exec':
      return exec();
    case 'local':
      return local();
    case '--version':
      console.log(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version);
      return 0;
    case 'doctor':
      return diagnose();
    case '--help':
    case '-h':
      console.log(USAGE);
      return 0;
    default:
      console.error(USAGE);
      return 64;
  }
}

async function exec() {
  const { values, positionals } = parseArgs({
    args: rest,
    allowPositionals: true,
    options: EXEC_OPTIONS,
  });
  const [command, ...args] = positionals;
  if (command === undefined) {
    console.error(USAGE);
    return 64;
  }
  const sandbox = new AgentCoreRuntimeSandbox(sandboxOptions(values));
  const controller = new AbortController();
  process.once('SIGINT', () => controller.abort());
  process.once('SIGTERM', () => controller.abort());
  const print = stream => output =>
    stream.write(output) ? undefined : new Promise(resolve => stream.once('drain', resolve));
  try {
    const result = await sandbox.executeCommand(command, args, {
      cwd: values.cwd,
      timeout: values.timeout === undefined ? undefined : Number(values.timeout) * 1000,
      maxRetainedBytes: 0,
      abortSignal: controller.signal,
      onStdout: print(process.stdout),
      onStderr: print(process.stderr),
    });
    return result.exitCode;
  } finally {
    if (values.stop) await sandbox.stopRuntimeSession();
    await sandbox.close();
  }
}

/** @param {Record<string, string | boolean | undefined>} values @returns {any} */
function sandboxOptions({ arn, session, qualifier, region, endpoint, profile }) {
  return {
    agentRuntimeArn: arn ?? process.env.AGENTCORE_RUNTIME_ARN ?? '',
    runtimeSessionId: session,
    qualifier,
    region,
    endpoint,
    profile,
  };
}

async function diagnose() {
  const { doctor } = await import('./doctor.js');
  const { cwd: _, timeout: __, stop: ___, ...options } = EXEC_OPTIONS;
  const { values } = parseArgs({ args: rest, options });
  const well = await doctor({ sandbox: sandboxOptions(values), print: line => console.log(line) });
  return well ? 0 : 1;
}

async function local() {
  const { values } = parseArgs({
    args: rest,
    options: { port: { type: 'string' }, shell: { type: 'boolean' } },
  });
  const runtime = await LocalAgentCoreRuntime.start({
    port: values.port === undefined ? undefined : Number(values.port),
    commandSemantics: values.shell ? 'shell' : 'argv',
  });
  const { accessKeyId, secretAccessKey } = runtime.credentials;
  console.log(`A local AgentCore Runtime serves until Ctrl-C. It isolates nothing: commands run on this machine, as you.

export AGENTCORE_RUNTIME_ARN=${runtime.agentRuntimeArn}
export AWS_ENDPOINT_URL_BEDROCK_AGENTCORE=${runtime.endpoint}
export AWS_REGION=${runtime.region}
export AWS_ACCESS_KEY_ID=${accessKeyId}
export AWS_SECRET_ACCESS_KEY=${secretAccessKey}`);
  // The runtime does not keep Node alive; this does, until a signal comes.
  const alive = setInterval(() => {}, 2 ** 30);
  await new Promise(resolve => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  clearInterval(alive);
  await runtime.stop();
  return 0;
}
