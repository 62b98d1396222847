/** Sandboxes and their surroundings, made for a test and ended with it. */
import { onTestFinished, vi } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../../index.js';
import { LocalAgentCoreRuntime } from '../../js/local.js';
import { start, stop, wireServer } from './wire.js';

export const ARN = 'arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/test-0123456789';
export const SESSION = '12345678-1234-1234-1234-123456789012';

export const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' };

/** Sets variables of this process, `undefined` takes one away, until the test is finished. */
export function environment(variables) {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => vi.unstubAllEnvs());
}

/** A local runtime. */
export async function localRuntime(options) {
  const runtime = await LocalAgentCoreRuntime.start(options);
  onTestFinished(() => runtime.stop());
  return runtime;
}

/** A sandbox on a local runtime of its own. */
export async function localSandbox(options, runtimeOptions) {
  const runtime = await localRuntime(runtimeOptions);
  const sandbox = new AgentCoreRuntimeSandbox({ ...runtime.sandboxOptions, ...options });
  return { sandbox, runtime };
}

/** A sandbox on a scripted server. */
export async function wireSandbox(onCommand, options, serverOptions) {
  const server = await wireServer(onCommand, serverOptions);
  onTestFinished(() => server.close());
  const sandbox = new AgentCoreRuntimeSandbox({
    agentRuntimeArn: ARN,
    endpoint: server.endpoint,
    credentials,
    ...options,
  });
  return { sandbox, server };
}

/** Answers with `frames` between start and stop. */
export const answering =
  (...frames) =>
  ({ answer }) =>
    answer(start(), ...frames, stop(0)).end();

/**
 * A client as users inject one: `send` answers commands with `events` and remembers.
 */
export function injectedClient(events = [{ chunk: { contentStop: { exitCode: 0, status: 'COMPLETED' } } }]) {
  const client = {
    sent: [],
    destroyed: 0,
    async send(command, options) {
      client.sent.push({ command, options });
      if (command.constructor.name.startsWith('Stop')) return {};
      const given = typeof events === 'function' ? events(command, client.sent.length) : events;
      return {
        stream: (async function* stream() {
          for (const event of given) yield await event;
        })(),
      };
    },
    destroy() {
      client.destroyed += 1;
    },
  };
  return client;
}

/** A sandbox over an injected client, with the texts of the original. */
export function injectedSandbox(events, options) {
  const client = injectedClient(events);
  const sandbox = new AgentCoreRuntimeSandbox({
    agentRuntimeArn: ARN,
    runtimeSessionId: SESSION,
    shell: false,
    client,
    ...options,
  });
  return { client, sandbox };
}

export const out = text => ({ chunk: { contentDelta: { stdout: text } } });
export const err = text => ({ chunk: { contentDelta: { stderr: text } } });
export const ended = (exitCode = 0, status = 'COMPLETED') => ({
  chunk: { contentStop: { exitCode, status } },
});
