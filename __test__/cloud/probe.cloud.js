/**
 * What is not known of the service, asked of a real runtime and printed:
 * `AGENTCORE_RUNTIME_ARN=… npm run test:cloud`. Nothing here is asserted but that an answer was
 * found: what it is, nobody promises. Raw requests go through the AWS SDK for JavaScript, because
 * our own client refuses what may be too long.
 */
import { BedrockAgentCoreClient, InvokeAgentRuntimeCommandCommand } from '@aws-sdk/client-bedrock-agentcore';
import { connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../../index.js';

const agentRuntimeArn = process.env.AGENTCORE_RUNTIME_ARN;
const qualifier = process.env.AGENTCORE_RUNTIME_QUALIFIER;
const answers = {};

describe.skipIf(!agentRuntimeArn)('open facts of the service', () => {
  const region = agentRuntimeArn?.split(':')[3];
  const sandbox = agentRuntimeArn && new AgentCoreRuntimeSandbox({ agentRuntimeArn, qualifier, warmup: true, stopSessionOnLifecycle: true });
  const plain = agentRuntimeArn && new AgentCoreRuntimeSandbox({ agentRuntimeArn, qualifier, runtimeSessionId: sandbox.runtimeSessionId, shell: false });
  const sdk = agentRuntimeArn && new BedrockAgentCoreClient({ region, maxAttempts: 1 });

  beforeAll(() => sandbox.executeCommand('true'), 120_000);
  afterAll(async () => {
    console.log(`What the service does:\n${Object.entries(answers).map(([fact, answer]) => `  ${fact}: ${answer}`).join('\n')}`);
    sdk.destroy();
    await sandbox._destroy();
  });

  /** Settles one fact. */
  const settle = (fact, answer) => {
    answers[fact] = answer;
    expect(String(answer)).not.toBe('');
  };

  /** Sends a command's text as it is. */
  async function raw(command, abortSignal) {
    const { stream } = await sdk.send(
      new InvokeAgentRuntimeCommandCommand({
        agentRuntimeArn,
        qualifier,
        runtimeSessionId: sandbox.runtimeSessionId,
        contentType: 'application/json',
        accept: 'application/vnd.amazon.eventstream',
        body: { command, timeout: 60 },
      }),
      { abortSignal },
    );
    let text = '';
    for await (const { chunk } of stream) text += chunk?.contentDelta?.stdout ?? '';
    return text;
  }

  it('whether adjacent quoted pieces are one word', async () => {
    const { stdout } = await plain.executeCommand(String.raw`/usr/bin/printf %s| 'a'"b"c`);
    settle('adjacent quoted pieces', stdout === 'abc|' ? 'join' : `do not join: ${JSON.stringify(stdout)}`);
  });

  it('whether a shell reads commands', async () => {
    const { stdout } = await plain.executeCommand('/bin/echo a; echo b');
    settle('a command line', stdout === 'a\nb\n' ? 'is read by a shell' : `is split into words: ${JSON.stringify(stdout)}`);
  });

  it('whether a command is measured in bytes or in characters', async () => {
    const text = length => `/bin/echo ${'é'.repeat(length - 10)}`;
    const outcome = await raw(text(40_000)).then(() => 'characters', error => (error.name === 'ValidationException' ? 'bytes' : error.name));
    settle('65,536 of a command', outcome);
  });

  it('what becomes of a command whose client goes away', async () => {
    const file = `/tmp/mastra-agentcore-probe-${Date.now()}`;
    const controller = new AbortController();
    const gone = raw(`/bin/sh -c 'echo begun; sleep 5; echo alive >${file}'`, controller.signal).catch(() => {});
    await new Promise(resolve => setTimeout(resolve, 2_000));
    controller.abort();
    await gone;
    await new Promise(resolve => setTimeout(resolve, 6_000));
    const { stdout } = await sandbox.executeCommand(`cat ${file} 2>/dev/null; rm -f ${file}`);
    settle('after a disconnect a command', stdout === 'alive\n' ? 'runs on' : 'is ended');
  });

  it('whether children survive a timeout', async () => {
    const file = `/tmp/mastra-agentcore-probe-child-${Date.now()}`;
    await plain.executeCommand(`/bin/sh -c '(sleep 4; echo alive >${file}) & sleep 60'`, [], { timeout: 1_000 });
    await new Promise(resolve => setTimeout(resolve, 6_000));
    const { stdout } = await sandbox.executeCommand(`cat ${file} 2>/dev/null; rm -f ${file}`);
    settle('after a timeout children', stdout === 'alive\n' ? 'run on' : 'are ended');
  });

  it('whether stdin ends', async () => {
    const { timedOut } = await plain.executeCommand('/bin/cat', [], { timeout: 3_000 });
    settle('stdin', timedOut ? 'never ends' : 'is at its end');
  });

  it('whether HTTP/2 is offered', async () => {
    const endpoint = process.env.AWS_ENDPOINT_URL_BEDROCK_AGENTCORE ?? `https://bedrock-agentcore.${region}.amazonaws.com`;
    const session = connect(endpoint);
    const protocol = await new Promise(resolve => {
      // Not before the server has spoken the protocol.
      session.once('remoteSettings', () => resolve(session.alpnProtocol ?? 'h2'));
      session.once('error', error => resolve(`not offered (${error.message})`));
      session.once('close', () => resolve('not offered'));
      setTimeout(() => resolve('not answered'), 5_000).unref();
    });
    session.destroy();
    settle('HTTP/2', protocol);
  });
});
