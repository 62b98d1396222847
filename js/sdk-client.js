/**
 * An AWS SDK for JavaScript client that the user brought, as the way a command goes. Its
 * events are pushed into the same native fold as those of our own wire.
 *
 * It brings its own retries and is never destroyed here.
 */

/**
 * The command classes: the SDK's own, or ours of the same name where it is not installed,
 * which is all that a test double needs.
 */
let classes;

async function commandClasses() {
  classes ??= import('@aws-sdk/client-bedrock-agentcore').then(
    sdk => ({
      InvokeAgentRuntimeCommandCommand: sdk.InvokeAgentRuntimeCommandCommand,
      StopRuntimeSessionCommand: sdk.StopRuntimeSessionCommand,
      own: false,
    }),
    () => ({ InvokeAgentRuntimeCommandCommand, StopRuntimeSessionCommand, own: true }),
  );
  return classes;
}

/** Carries its input, as the SDK's own do. */
class Command {
  constructor(input) {
    this.input = input;
  }
}
class InvokeAgentRuntimeCommandCommand extends Command {}
class StopRuntimeSessionCommand extends Command {}

/** The input of a command's request, to the letter. */
function commandInput(request) {
  const { trace } = request;
  return {
    agentRuntimeArn: request.agentRuntimeArn,
    runtimeSessionId: request.runtimeSessionId,
    qualifier: request.qualifier,
    contentType: request.contentType,
    accept: request.accept,
    body: { command: request.command, timeout: request.timeoutSeconds },
    ...(request.accountId && { accountId: request.accountId }),
    ...(trace?.traceparent && { traceParent: trace.traceparent }),
    ...(trace?.tracestate && { traceState: trace.tracestate }),
    ...(trace?.baggage && { baggage: trace.baggage }),
    ...(trace?.traceId && { traceId: trace.traceId }),
  };
}

/**
 * Sends a command and pushes what it answers into `command`.
 *
 * @param {{ send: Function }} client
 * @param {object} request as for the native client
 * @param {import('./binding.cjs').BindingCommand} command
 * @param {AbortSignal | undefined} signal the caller's own
 */
export async function sendCommand(client, request, command, signal) {
  try {
    const { InvokeAgentRuntimeCommandCommand: Invoke, own } = await commandClasses();
    if (command.ended) return;
    const response = await explained(own, () =>
      client.send(new Invoke(commandInput(request)), { abortSignal: signal }),
    );
    const stream = response?.stream;
    if (!stream) {
      command.pushError(failure({ name: 'StreamError', message: 'the answer has no stream' }, true));
      return;
    }
    for await (const event of stream) {
      if (command.ended || !(await pushEvent(command, event))) return;
    }
    command.pushEnd();
  } catch (error) {
    command.pushError(failure(error, true));
    throw error;
  }
}

/** @returns {Promise<boolean>} whether more may follow */
async function pushEvent(command, event) {
  const chunk = event.chunk;
  for (const [member, value] of Object.entries(event)) {
    if (member === 'chunk' || value === undefined) continue;
    command.pushError(memberFailure(member, value));
    return false;
  }
  const { stdout, stderr } = chunk?.contentDelta ?? {};
  if ((stdout || stderr) && !command.pushDelta(stdout, stderr)) await command.writable();
  const stop = chunk?.contentStop;
  if (stop) command.pushStop(stop.exitCode, stop.status);
  return true;
}

/** A member of the stream that is no chunk: an exception, or what nobody knows. */
function memberFailure(member, value) {
  if (member === '$unknown' && Array.isArray(value)) return memberFailure(value[0], value[1]);
  if (typeof value !== 'object' || value === null) {
    return failure({ name: member, message: String(value) }, true);
  }
  return failure({ name: value.name ?? member, message: value.message ?? '', ...facts(value) }, true);
}

function facts(error) {
  return {
    httpStatusCode: error.$metadata?.httpStatusCode,
    requestId: error.$metadata?.requestId,
  };
}

/** @returns {import('./binding.cjs').BindingError} */
export function failure(error, mayHaveRun) {
  const name = error?.name ?? 'Error';
  return {
    name,
    code: error?.code && typeof error.code === 'string' ? error.code : name,
    message: error?.message ?? (error instanceof Error ? '' : String(error)),
    retryable: Boolean(error?.$retryable),
    mayHaveRun,
    httpStatusCode: error?.httpStatusCode ?? error?.$metadata?.httpStatusCode,
    requestId: error?.requestId ?? error?.$metadata?.requestId,
  };
}

/** Runs a command to its end for its effect alone: the kill. */
export async function sendQuietly(client, request, limitMs) {
  const { InvokeAgentRuntimeCommandCommand: Invoke } = await commandClasses();
  const abortSignal = AbortSignal.timeout(limitMs);
  const response = await client.send(new Invoke(commandInput(request)), { abortSignal });
  for await (const _ of response?.stream ?? []);
}

/** Stops a session. */
export async function sendStop(client, { agentRuntimeArn, runtimeSessionId, qualifier, clientToken }) {
  const { StopRuntimeSessionCommand: Stop, own } = await commandClasses();
  const input = { agentRuntimeArn, runtimeSessionId, qualifier, clientToken };
  await explained(own, () => client.send(new Stop(input)));
}

/** Our own command class is no command to a real client: says so where that shows. */
async function explained(own, send) {
  try {
    return await send();
  } catch (error) {
    if (own && error instanceof TypeError) {
      throw new Error(
        'the injected client refused the request; install @aws-sdk/client-bedrock-agentcore, whose command classes it needs',
        { cause: error },
      );
    }
    throw error;
  }
}
