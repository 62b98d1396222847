/** What happens around commands: start, hooks, stop, destroy; and what the sandbox says of itself. */
import { execFileSync } from 'node:child_process';
import { MastraSandbox, SandboxError, SandboxNotReadyError, Workspace } from '@mastra/core/workspace';
import { describe, expect, it, vi } from 'vitest';
import * as main from '../index.js';
import { AgentCoreError, AgentCoreRuntimeSandbox, agentCoreRuntimeSandboxProvider } from '../index.js';
import { ARN, SESSION, ended, injectedSandbox, localSandbox, out, wireSandbox, answering } from './support/sandboxes.js';

const stops = client => client.sent.filter(({ command }) => command.constructor.name.startsWith('Stop'));

describe('construction', () => {
  it('exports what the original does, and more', () => {
    expect(Object.keys(main).toSorted()).toEqual([
      'AgentCoreError',
      'AgentCoreRuntimeClient',
      'AgentCoreRuntimeSandbox',
      'agentCoreRuntimeSandboxProvider',
      'runtimeSessionIdFrom',
    ]);
  });

  it('names itself', () => {
    const sandbox = new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, runtimeSessionId: SESSION });
    expect(sandbox).toBeInstanceOf(MastraSandbox);
    expect(sandbox).toMatchObject({
      id: SESSION,
      runtimeSessionId: SESSION,
      agentRuntimeArn: ARN,
      name: 'AgentCoreRuntimeSandbox',
      provider: 'agentcore',
      status: 'pending',
    });
    expect(sandbox.workingDirectory).toBeUndefined();
    expect(sandbox.processes).toBeUndefined();
    expect(sandbox.mounts).toBeUndefined();
  });

  it('makes a session id where none is given', () => {
    const [a, b] = [1, 2].map(() => new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN }));
    expect(a.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(a.runtimeSessionId).toBe(a.id);
    expect(a.id).not.toBe(b.id);
  });

  it('can be subclassed', async () => {
    const { client } = injectedSandbox();
    class Mine extends AgentCoreRuntimeSandbox {
      async executeCommand(command, args, options) {
        return super.executeCommand(`nice ${command}`, args, options);
      }
    }
    const sandbox = new Mine({ agentRuntimeArn: ARN, client, shell: false });
    expect((await sandbox.executeCommand('x')).command).toBe('nice x');
  });

  it('keeps its session where a subclass has an id of its own', async () => {
    const { client } = injectedSandbox();
    class Mine extends AgentCoreRuntimeSandbox {
      id = 'mine';
    }
    const sandbox = new Mine({ agentRuntimeArn: ARN, runtimeSessionId: SESSION, client });
    await sandbox.executeCommand('x');
    expect(client.sent[0].command.input.runtimeSessionId).toBe(SESSION);
    expect(sandbox.runtimeSessionId).toBe(SESSION);
    expect((await sandbox.getInfo()).metadata.runtimeSessionId).toBe(SESSION);
  });

  it('is one class for import and require', () => {
    const output = execFileSync(process.execPath, [
      '--no-warnings',
      '--input-type=module',
      '-e',
      `import { createRequire } from 'node:module';
       import * as imported from 'mastra-agentcore';
       import * as native from 'mastra-agentcore/native';
       import * as local from 'mastra-agentcore/local';
       const require = createRequire(import.meta.url);
       const required = require('mastra-agentcore');
       const sandbox = new required.AgentCoreRuntimeSandbox({ agentRuntimeArn: '${ARN}' });
       console.log(sandbox instanceof imported.AgentCoreRuntimeSandbox,
         require('mastra-agentcore/native').AgentCoreRuntimeSandbox === native.AgentCoreRuntimeSandbox,
         require('mastra-agentcore/local').LocalAgentCoreRuntime === local.LocalAgentCoreRuntime);`,
    ], { encoding: 'utf8', cwd: new URL('..', import.meta.url) });
    expect(output.trim()).toBe('true true true');
  });
});

describe('start', () => {
  it('makes no request', async () => {
    const { client, sandbox } = injectedSandbox();
    await sandbox.start();
    expect(sandbox.status).toBe('running');
    expect(client.sent).toHaveLength(0);
  });

  it('runs an onStart that runs commands and sets variables', async () => {
    const { client, sandbox } = injectedSandbox(undefined, {
      onStart: async ({ sandbox: self }) => {
        await self.executeCommand('first');
        self.setEnv(env => ({ ...env, SET: 'by-hook' }));
      },
    });
    await sandbox.executeCommand('second');
    expect(client.sent.map(({ command }) => command.input.body.command)).toEqual([
      'first',
      'SET=by-hook second',
    ]);
  });

  it('waits no longer than the signal', async () => {
    const { client, sandbox } = injectedSandbox(undefined, { onStart: () => new Promise(() => {}) });
    const result = await sandbox.executeCommand('x', [], { abortSignal: AbortSignal.timeout(20) });
    expect(result).toMatchObject({ killed: true, exitCode: 137 });
    expect(client.sent).toHaveLength(0);
  });
});

describe('stop and destroy', () => {
  it('leave the session alone, but for stopSessionOnLifecycle', async () => {
    for (const [stopSessionOnLifecycle, expected] of [[false, 0], [true, 1]]) {
      for (const method of ['_stop', '_destroy']) {
        const { client, sandbox } = injectedSandbox([], { stopSessionOnLifecycle });
        await sandbox._start();
        await sandbox[method]();
        expect(stops(client)).toHaveLength(expected);
      }
    }
  });

  it('stopRuntimeSession always stops, each time with a fresh token', async () => {
    const { client, sandbox } = injectedSandbox([]);
    await sandbox.stopRuntimeSession();
    await sandbox.stopRuntimeSession();
    const tokens = stops(client).map(({ command }) => command.input.clientToken);
    expect(tokens[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(tokens[0]).not.toBe(tokens[1]);
  });

  it('a session that is gone counts as stopped, a conflict is tried again', async () => {
    const { sandbox, runtime } = await localSandbox();
    await sandbox.stopRuntimeSession();
    await sandbox.executeCommand('true');
    runtime.inject({ kind: 'status', operation: 'stop', status: 409, errorType: 'ConflictException' });
    await sandbox.stopRuntimeSession();
    expect(runtime.requests().stops).toBe(3);
    expect(runtime.sessions()).toEqual([]);
  });

  it('end running commands as if aborted, and kill what they started', async () => {
    for (const method of ['_stop', '_destroy']) {
      const { sandbox, runtime } = await localSandbox();
      const running = sandbox.executeCommand('echo begun; sleep 300; echo never', [], {
        onStdout: () => void sandbox[method](),
      });
      expect(await running).toMatchObject({ killed: true, exitCode: 137, stdout: 'begun\n' });
      await vi.waitFor(() => expect(runtime.sessions()[0].runningCommands).toBe(0), 10_000);
    }
  });

  it('destroy refuses what comes after', async () => {
    const { client, sandbox } = injectedSandbox();
    await sandbox._start();
    await sandbox.destroy();
    await expect(sandbox.executeCommand('x')).rejects.toBeInstanceOf(SandboxNotReadyError);
    await sandbox._destroy();
    await expect(sandbox.executeCommand('x')).rejects.toThrow(`Sandbox is not ready: ${SESSION}`);
    expect(client.sent).toHaveLength(0);
  });

  it('destroy waits for the kill, also when a callback calls it', async () => {
    const { sandbox, runtime } = await localSandbox();
    let left;
    const result = await sandbox.executeCommand('echo begun; sleep 300', [], {
      onStdout: async () => {
        await sandbox.destroy();
        left = runtime.sessions()[0].runningCommands;
      },
    });
    expect(result).toMatchObject({ killed: true, stdout: 'begun\n' });
    await expect.poll(() => left).toBe(0);
  });

  it('a command that waits for the start ends with stop and destroy', async () => {
    for (const method of ['_stop', '_destroy']) {
      let started;
      const { client, sandbox } = injectedSandbox(undefined, {
        onStart: () => new Promise(resolve => {
          started = resolve;
        }),
      });
      const waiting = sandbox.executeCommand('x');
      await vi.waitFor(() => expect(started).toBeDefined());
      const ending = sandbox[method]();
      started();
      expect(await waiting).toMatchObject({ killed: true, exitCode: 137 });
      await ending;
      expect(client.sent).toHaveLength(0);
    }
  });

  it('what destroy closed cannot be started again', async () => {
    const onStart = vi.fn();
    const { client, sandbox } = injectedSandbox([], { stopSessionOnLifecycle: true, onStart });
    await sandbox._start();
    client.send = () => Promise.reject(new Error('no'));
    await expect(sandbox._destroy()).rejects.toBeInstanceOf(AgentCoreError);
    await expect(sandbox.start()).rejects.toBeInstanceOf(SandboxNotReadyError);
    expect(onStart).toHaveBeenCalledTimes(1);
  });

  it('a session that is gone counts as stopped, whatever an injected client calls that', async () => {
    for (const gone of [{ name: 'ResourceNotFoundException' }, { name: 'Odd', $metadata: { httpStatusCode: 404 } }]) {
      const { client, sandbox } = injectedSandbox([]);
      client.send = () => Promise.reject(Object.assign(new Error('gone'), gone));
      await sandbox.stopRuntimeSession();
    }
  });

  it('a second destroy after a failed stop retries only the stop', async () => {
    const { client, sandbox } = injectedSandbox([], { stopSessionOnLifecycle: true });
    await sandbox._start();
    const send = client.send;
    client.send = () => Promise.reject(Object.assign(new Error('no'), { name: 'AccessDeniedException' }));
    await expect(sandbox._destroy()).rejects.toBeInstanceOf(AgentCoreError);
    await expect(sandbox.executeCommand('x')).rejects.toBeInstanceOf(SandboxNotReadyError);
    client.send = send;
    await sandbox._destroy();
    expect(sandbox.status).toBe('destroyed');
    expect(stops(client)).toHaveLength(1);
  });

  it('an onDestroy hook may still run commands', async () => {
    const { client, sandbox } = injectedSandbox(undefined, {
      onDestroy: ({ sandbox: self }) => self.executeCommand('last'),
    });
    await sandbox._start();
    await sandbox._destroy();
    expect(client.sent).toHaveLength(1);
  });

  it('after stop the next command starts the sandbox again', async () => {
    const { sandbox } = injectedSandbox();
    await sandbox.executeCommand('x');
    await sandbox._stop();
    expect((await sandbox.executeCommand('x')).success).toBe(true);
    expect(sandbox.status).toBe('running');
  });
});

describe('what it says of itself', () => {
  it('getInfo', async () => {
    const { sandbox } = injectedSandbox();
    const before = await sandbox.getInfo();
    expect(before).toEqual({
      id: SESSION,
      name: 'AgentCoreRuntimeSandbox',
      provider: 'agentcore',
      status: 'pending',
      createdAt: expect.any(Date),
      lastUsedAt: undefined,
      metadata: {
        agentRuntimeArn: ARN,
        runtimeSessionId: SESSION,
        qualifier: 'DEFAULT',
        stopSessionOnLifecycle: false,
      },
    });
    await sandbox.executeCommand('x');
    const after = await sandbox.getInfo();
    expect(after.createdAt).toEqual(before.createdAt);
    expect(after.lastUsedAt).toBeInstanceOf(Date);
  });

  it('getInstructions', () => {
    const of = instructions =>
      new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, instructions }).getInstructions({ requestContext: 'c' });
    const text = of(undefined);
    expect(text).toBe(
      [
        'AWS Bedrock AgentCore Runtime sandbox.',
        'Commands run in the container of an AgentCore Runtime session.',
        'Output streams while a command runs.',
        'Limits:',
        '- Commands are one-shot and non-interactive: there is no stdin.',
        '- There is no persistent shell between commands: pass cwd and env with each; files stay.',
        '- Background process management is not exposed.',
        '- Filesystem mounts are not exposed.',
        '- Tools such as git, npm, Python or Node must exist in the container image.',
        '- AgentCore Code Interpreter is a separate service and is not part of this runtime sandbox.',
      ].join('\n'),
    );
    expect(of('mine')).toBe('mine');
    expect(of('')).toBe('');
    expect(of(({ defaultInstructions, requestContext }) => `${requestContext}: ${defaultInstructions}`)).toBe(`c: ${text}`);
  });

  it('the provider descriptor', () => {
    expect(agentCoreRuntimeSandboxProvider).toMatchObject({
      id: 'agentcore',
      name: 'AgentCore Runtime Sandbox',
      description: 'AWS Bedrock AgentCore Runtime command execution sandbox',
      configSchema: { type: 'object', required: ['agentRuntimeArn'] },
    });
    const { properties } = agentCoreRuntimeSandboxProvider.configSchema;
    expect(Object.keys(properties).toSorted()).toEqual([
      'agentRuntimeArn', 'commandTimeout', 'qualifier', 'region', 'runtimeSessionId', 'stopSessionOnLifecycle',
    ]);
    expect(properties.qualifier.default).toBe('DEFAULT');
    expect(properties.commandTimeout).toMatchObject({ type: 'number', minimum: 1, maximum: 3_600_000, default: 300_000 });
    expect(properties.stopSessionOnLifecycle.default).toBe(false);
    const sandbox = agentCoreRuntimeSandboxProvider.createSandbox({ agentRuntimeArn: ARN });
    expect(sandbox).toBeInstanceOf(AgentCoreRuntimeSandbox);
  });

  it('a debug line per command, without the values of variables', async () => {
    const { sandbox } = injectedSandbox();
    const debug = vi.fn();
    sandbox.__setLogger({ debug, info: debug, warn: debug, error: debug });
    const result = await sandbox.executeCommand('x', [], { env: { TOKEN: 'secret' }, timeout: 1500 });
    expect(debug).toHaveBeenCalledWith('[AgentCoreRuntimeSandbox] Executing command', {
      runtimeSessionId: SESSION,
      command: 'TOKEN=*** x',
      timeoutSeconds: 2,
    });
    expect(result.command).toBe('TOKEN=secret x');
  });

  it('an error is Mastra’s too', async () => {
    const { sandbox } = injectedSandbox([out('a')]);
    const error = await sandbox.executeCommand('x').catch(thrown => thrown);
    expect(error).toBeInstanceOf(AgentCoreError);
    expect(error).toBeInstanceOf(SandboxError);
    expect(error.name).toBe('AgentCoreError');
  });
});

it('a Workspace takes it', async () => {
  const { sandbox } = await wireSandbox(answering());
  const workspace = new Workspace({ sandbox });
  expect((await workspace.sandbox.executeCommand('x')).success).toBe(true);
  await workspace.destroy();
  expect(sandbox.status).toBe('destroyed');
});

it('events that end are all that a command needs', async () => {
  const { sandbox } = injectedSandbox([ended(0)]);
  expect((await sandbox.executeCommand('x')).success).toBe(true);
});
