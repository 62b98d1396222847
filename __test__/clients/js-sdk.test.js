/** `@aws-sdk/client-bedrock-agentcore`, unmodified, against the local runtime. */
import * as sdk from '@aws-sdk/client-bedrock-agentcore';
import { expect, it, onTestFinished } from 'vitest';
import { localRuntime } from '../support/sandboxes.js';
import { httpErrors, streamErrors } from './official.js';

async function client() {
  const runtime = await localRuntime();
  const { endpoint, region, credentials, agentRuntimeArn } = runtime;
  const made = new sdk.BedrockAgentCoreClient({ endpoint, region, credentials, maxAttempts: 1 });
  onTestFinished(() => made.destroy());
  const runtimeSessionId = 'js-session-0123456789-0123456789-0123456789';
  const invoke = async command => {
    const answer = await made.send(
      new sdk.InvokeAgentRuntimeCommandCommand({ agentRuntimeArn, runtimeSessionId, body: { command, timeout: 20 } }),
    );
    const events = [];
    for await (const event of answer.stream) events.push(event);
    return { answer, events };
  };
  const stop = () => made.send(new sdk.StopRuntimeSessionCommand({ agentRuntimeArn, runtimeSessionId }));
  return { runtime, invoke, stop, runtimeSessionId };
}

it('invokes and stops', async () => {
  const { runtime, invoke, stop, runtimeSessionId } = await client();
  const { answer, events } = await invoke('/bin/sh -c "echo out; echo err >&2; exit 3"');
  expect(answer.runtimeSessionId).toBe(runtimeSessionId);
  expect(events[0].chunk.contentStart).toEqual({});
  expect(events.at(-1).chunk.contentStop).toEqual({ exitCode: 3, status: 'COMPLETED' });
  const deltas = events.map(({ chunk }) => chunk.contentDelta).filter(Boolean);
  expect(deltas.map(({ stdout }) => stdout ?? '').join('')).toBe('out\n');
  expect(deltas.map(({ stderr }) => stderr ?? '').join('')).toBe('err\n');
  expect((await stop()).runtimeSessionId).toBe(runtimeSessionId);
  expect(runtime.sessions()).toEqual([]);
});

it('runs no shell, and splits words as the service does', async () => {
  const { invoke } = await client();
  const { events } = await invoke('echo a; echo b');
  expect(events[1].chunk.contentDelta.stdout).toBe('a; echo b\n');
});

it('sees every HTTP error as its class', async () => {
  const { runtime, invoke } = await client();
  for (const [status, errorType, modelled] of httpErrors) {
    runtime.inject({ kind: 'status', status, errorType, message: 'm' });
    const error = await invoke('true').catch(thrown => thrown);
    // The JavaScript client knows the whole service's errors, not only the command's.
    const known = sdk[errorType] ?? sdk.BedrockAgentCoreServiceException;
    expect(error, errorType).toBeInstanceOf(known);
    expect(error).toMatchObject({ name: errorType, message: 'm', $metadata: { httpStatusCode: status } });
    if (modelled) expect(known).not.toBe(sdk.BedrockAgentCoreServiceException);
  }
});

it('sees every exception of the stream as its class', async () => {
  const { runtime, invoke } = await client();
  for (const [exceptionType, name] of streamErrors) {
    runtime.inject({ kind: 'exception', exceptionType, message: 'm', afterEvents: 1 });
    const outcome = await invoke('true').then(({ events }) => events.at(-1)[exceptionType], thrown => thrown);
    expect(outcome, exceptionType).toBeInstanceOf(sdk[name]);
    expect(outcome.message).toBe('m');
  }
});
