/** An injected client where the optional peer, whose command classes it needs, is not installed. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { ARN, SESSION } from './support/sandboxes.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs a program beside a copy of the package that has no other package in reach. */
async function alone(code) {
  const app = mkdtempSync(join(tmpdir(), 'agentcore-alone-'));
  onTestFinished(() => rmSync(app, { recursive: true }));
  const copy = join(app, 'node_modules/mastra-agentcore');
  mkdirSync(copy, { recursive: true });
  for (const name of ['package.json', 'js']) cpSync(join(root, name), join(copy, name), { recursive: true });
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--no-warnings', '--input-type=module', '-e', `
      import { AgentCoreRuntimeSandbox } from 'mastra-agentcore/native';
      import { createRequire } from 'node:module';
      const make = client => new AgentCoreRuntimeSandbox({
        agentRuntimeArn: '${ARN}', runtimeSessionId: '${SESSION}', shell: false, client });
      ${code}`],
    { cwd: app },
  );
  return JSON.parse(stdout);
}

it('a test double gets classes of ours with the names of the SDK’s, carrying the input', async () => {
  const sent = await alone(`
    const sent = [];
    const sandbox = make({
      async send(command) {
        sent.push([command.constructor.name, command.input]);
        return { stream: (async function* () { yield { chunk: { contentStop: { exitCode: 0, status: 'COMPLETED' } } }; })() };
      },
      destroy() {},
    });
    await sandbox.executeCommand('x');
    await sandbox.stopRuntimeSession();
    console.log(JSON.stringify(sent));`);
  expect(sent).toEqual([
    ['InvokeAgentRuntimeCommandCommand', {
      agentRuntimeArn: ARN,
      runtimeSessionId: SESSION,
      contentType: 'application/json',
      accept: 'application/vnd.amazon.eventstream',
      body: { command: 'x', timeout: 300 },
    }],
    ['StopRuntimeSessionCommand', {
      agentRuntimeArn: ARN,
      runtimeSessionId: SESSION,
      clientToken: expect.stringMatching(/^[0-9a-f-]{36}$/),
    }],
  ]);
});

it('a real client refuses them, and the error says what to install', async () => {
  const [run, stop] = await alone(`
    const { BedrockAgentCoreClient } = createRequire('${root}package.json')('@aws-sdk/client-bedrock-agentcore');
    const sandbox = make(new BedrockAgentCoreClient({ region: 'us-west-2', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } }));
    const messages = [];
    await sandbox.executeCommand('x').catch(error => messages.push(error.message));
    await sandbox.stopRuntimeSession().catch(error => messages.push(error.message));
    console.log(JSON.stringify(messages));`);
  expect(run).toContain('install @aws-sdk/client-bedrock-agentcore');
  expect(stop).toContain('install @aws-sdk/client-bedrock-agentcore');
});
