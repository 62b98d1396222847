/** Bad input: the class and the text of each error, before any request. */
import { describe, expect, it } from 'vitest';
import { AgentCoreRuntimeClient, AgentCoreRuntimeSandbox, runtimeSessionIdFrom } from '../index.js';
import { ARN, SESSION, injectedSandbox } from './support/sandboxes.js';

describe('the constructor refuses', () => {
  it.each([
    [{}, Error, '[AgentCoreRuntimeSandbox] agentRuntimeArn is required'],
    [undefined, Error, '[AgentCoreRuntimeSandbox] agentRuntimeArn is required'],
    [{ agentRuntimeArn: ARN, region: 'eu-west-1' }, RangeError, 'region eu-west-1 contradicts agentRuntimeArn, which is in us-west-2'],
    [{ agentRuntimeArn: ARN, runtimeSessionId: 'short' }, RangeError, 'runtimeSessionId must be 33 to 256 characters long, not 5'],
    [{ agentRuntimeArn: ARN, runtimeSessionId: 'x'.repeat(257) }, RangeError, 'not 257'],
    [{ agentRuntimeArn: 'agent-id' }, RangeError, 'together with the option accountId'],
    [{ agentRuntimeArn: 'agent-id', accountId: '12' }, RangeError, '12 digits'],
    [{ agentRuntimeArn: ARN, shell: 'bash' }, RangeError, 'shell must be false, or an absolute path'],
    [{ agentRuntimeArn: ARN, shell: "/bin/sh'" }, RangeError, 'shell must be'],
    [{ agentRuntimeArn: ARN, workingDirectory: 'app' }, RangeError, 'workingDirectory must be an absolute path'],
    [{ agentRuntimeArn: ARN, workingDirectory: '~' }, RangeError, '"~" and variables are not expanded'],
    [{ agentRuntimeArn: ARN, client: {} }, TypeError, 'client must be'],
    [{ agentRuntimeArn: ARN, client: { close() {} } }, TypeError, 'client must be'],
    [{ agentRuntimeArn: ARN, runtimeSessionId: 'short', client: new AgentCoreRuntimeClient() }, RangeError, 'runtimeSessionId must be 33 to 256 characters long, not 5'],
    [{ agentRuntimeArn: ARN, client: new AgentCoreRuntimeClient({ region: 'eu-west-1' }) }, RangeError, 'region eu-west-1 contradicts agentRuntimeArn, which is in us-west-2'],
    [{ agentRuntimeArn: ARN, region: '' }, RangeError, 'region must not be empty'],
    [{ agentRuntimeArn: ARN, profile: '' }, RangeError, 'profile must not be empty'],
    [{ agentRuntimeArn: ARN, endpoint: '' }, RangeError, 'endpoint must be an address that begins with http:// or https://'],
    [{ agentRuntimeArn: ARN, endpoint: 'localhost:8080' }, RangeError, 'endpoint must be an address that begins with'],
    [{ agentRuntimeArn: ARN, endpoint: 'ftp://host' }, RangeError, 'endpoint must be an address that begins with'],
    [{ agentRuntimeArn: ARN, endpoint: 'http://' }, RangeError, 'endpoint must be an address that begins with'],
    [{ agentRuntimeArn: ARN, credentials: { accessKeyId: 'a', secretAccessKey: '' } }, TypeError, 'credentials must be an object with'],
    [{ agentRuntimeArn: ARN, credentials: { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 7 } }, TypeError, 'credentials must be an object with'],
    [{ agentRuntimeArn: ARN, credentials: { accessKeyId: 'a' } }, TypeError, 'credentials must be an object with'],
    [{ agentRuntimeArn: ARN, bearerToken: '' }, TypeError, 'bearerToken must be'],
    [{ agentRuntimeArn: ARN, maxAttempts: 0 }, RangeError, 'maxAttempts must be an integer'],
    [{ agentRuntimeArn: ARN, qualifier: 7 }, TypeError, 'qualifier must be a string, not number'],
  ])('%j', (options, kind, text) => {
    let thrown;
    try {
      new AgentCoreRuntimeSandbox(options);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(kind);
    expect(thrown.message).toContain(text);
  });

  it('nothing of these', () => {
    for (const options of [
      { agentRuntimeArn: ARN, runtimeSessionId: 'x'.repeat(33) },
      { agentRuntimeArn: ARN, runtimeSessionId: 'x'.repeat(256) },
      { agentRuntimeArn: ARN, region: 'us-west-2' },
      { agentRuntimeArn: 'agent-id', accountId: '123456789012' },
      { agentRuntimeArn: 'arn:aws-us-gov:bedrock-agentcore:us-gov-west-1:123456789012:harness/h' },
      { agentRuntimeArn: ARN, shell: false },
      { agentRuntimeArn: ARN, shell: '/usr/bin/bash' },
    ]) {
      expect(new AgentCoreRuntimeSandbox(options).status).toBe('pending');
    }
  });
});

describe('executeCommand refuses, without a request,', () => {
  const timeout = 'AgentCore Runtime command timeout must be a positive number of milliseconds';
  const retained = 'maxRetainedBytes must be a non-negative integer or Infinity';
  it.each([
    [['x', [], { timeout: 0 }], RangeError, timeout],
    [['x', [], { timeout: -1 }], RangeError, timeout],
    [['x', [], { timeout: NaN }], RangeError, timeout],
    [['x', [], { timeout: Infinity }], RangeError, timeout],
    [['x', [], { timeout: '5' }], RangeError, timeout],
    [['x', [], { timeout: 3_600_001 }], RangeError, 'AgentCore Runtime command timeout must be at most 3600 seconds'],
    [['x', [], { maxRetainedBytes: -1 }], RangeError, retained],
    [['x', [], { maxRetainedBytes: 1.5 }], RangeError, retained],
    [['x', [], { maxRetainedBytes: NaN }], RangeError, retained],
    [['x', [], { env: { 'A-B': 'secret' } }], Error, 'Invalid environment variable name for AgentCore Runtime command: A-B'],
    [['x', [], { env: { '': 'secret' } }], Error, 'Invalid environment variable name for AgentCore Runtime command: '],
    [['x', [], { env: { 'A\n': 'secret' } }], Error, 'Invalid environment variable name for AgentCore Runtime command: A\n'],
    [['x', [], { env: { A: 1 } }], TypeError, 'Environment variable A of an AgentCore Runtime command must be a string, not number'],
    [['x', [], { env: { A: null } }], TypeError, 'Environment variable A of an AgentCore Runtime command must be a string, not null'],
    [['', []], RangeError, 'AgentCore Runtime command must not be empty'],
    [['  \n'], RangeError, 'AgentCore Runtime command must not be empty'],
    [['a\0b'], RangeError, 'AgentCore Runtime command must not contain a NUL character (in the command)'],
    [['x', ['\0']], RangeError, 'AgentCore Runtime command must not contain a NUL character (in an argument)'],
    [['x', [], { cwd: '/a\0' }], RangeError, 'AgentCore Runtime command must not contain a NUL character (in the working directory)'],
    [['x', [], { env: { A: '\0' } }], RangeError, 'AgentCore Runtime command must not contain a NUL character (in the value of an environment variable)'],
    [['\ud800'], RangeError, 'AgentCore Runtime command must not contain a lone surrogate (in the command)'],
    [['x', ['\udc00']], RangeError, 'AgentCore Runtime command must not contain a lone surrogate (in args[0])'],
    [[7], TypeError, 'AgentCore Runtime command must be a string, not number'],
    [['x', 'y'], TypeError, 'AgentCore Runtime command args must be an array, not string'],
    [['x', [7]], TypeError, 'AgentCore Runtime command args must be strings; args[0] is number'],
    [['x', [], { onStdout: 7 }], TypeError, 'onStdout must be a function, not number'],
  ])('%j', async (call, kind, text) => {
    const { client, sandbox } = injectedSandbox([]);
    const thrown = await sandbox.executeCommand(...call).catch(error => error);
    expect(thrown).toBeInstanceOf(kind);
    expect(thrown.message).toBe(text);
    expect(thrown.message).not.toContain('secret');
    expect(client.sent).toHaveLength(0);
    expect(sandbox.status).toBe('pending');
  });

  it('and without a hook, which could make one', async () => {
    for (const command of ['a\0b', 'x'.repeat(65_537)]) {
      const { client, sandbox } = injectedSandbox(undefined, {
        onStart: ({ sandbox: self }) => self.executeCommand('of the hook'),
      });
      await expect(sandbox.executeCommand(command)).rejects.toThrow(RangeError);
      expect(client.sent).toHaveLength(0);
    }
  });

  it('more than 65,536 bytes on the wire', async () => {
    const { client, sandbox } = injectedSandbox([]);
    await expect(sandbox.executeCommand('é'.repeat(32_769))).rejects.toThrow(
      /^AgentCore Runtime command must be at most 65536 bytes on the wire: this one takes 65538/,
    );
    expect(client.sent).toHaveLength(0);
  });
});

it.each([
  [1, 1],
  [999, 1],
  [1000, 1],
  [1001, 2],
  [3_600_000, 3600],
])('a timeout of %d ms is sent as %d s', async (ms, seconds) => {
  const { client, sandbox } = injectedSandbox();
  await sandbox.executeCommand('x', [], { timeout: ms });
  expect(client.sent[0].command.input.body.timeout).toBe(seconds);
});

it('runtimeSessionIdFrom makes the same valid id of the same seed', () => {
  const id = runtimeSessionIdFrom('conversation 7');
  expect(id).toBe(runtimeSessionIdFrom('conversation 7'));
  expect(id).not.toBe(runtimeSessionIdFrom('conversation 8'));
  expect(id).toMatch(/^[a-zA-Z0-9][a-zA-Z0-9-_]{32,99}$/);
  expect(() => runtimeSessionIdFrom('')).toThrow(TypeError);
  expect(new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, runtimeSessionId: SESSION }).id).toBe(SESSION);
});
