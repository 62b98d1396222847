// The public types as an author meets them; as an ES module and, copied to .cts, as CommonJS.
import {
  AgentCoreError,
  AgentCoreRuntimeClient,
  AgentCoreRuntimeSandbox,
  agentCoreRuntimeSandboxProvider,
  runtimeSessionIdFrom,
} from 'mastra-agentcore';
import type { AgentCoreRuntimeSandboxOptions } from 'mastra-agentcore';
import { LocalAgentCoreRuntime } from 'mastra-agentcore/local';
import { AgentCoreRuntimeSandbox as NativeSandbox } from 'mastra-agentcore/native';

export async function run(agentRuntimeArn: string): Promise<number> {
  const client = new AgentCoreRuntimeClient({ region: 'us-west-2' });
  const options: AgentCoreRuntimeSandboxOptions = {
    agentRuntimeArn,
    client,
    runtimeSessionId: runtimeSessionIdFrom('a conversation'),
  };
  const sandbox = new AgentCoreRuntimeSandbox(options);
  const runtime = await LocalAgentCoreRuntime.start({ commandSemantics: 'shell' });
  const native = new NativeSandbox(runtime.sandboxOptions);
  try {
    agentCoreRuntimeSandboxProvider.createSandbox({ agentRuntimeArn }) satisfies AgentCoreRuntimeSandbox;
    await sandbox.executeCommand('true', [], { timeout: 1000 });
    const { exitCode } = await native.executeCommand('true', [], { maxRetainedBytes: 1 });
    return exitCode;
  } catch (error) {
    return error instanceof AgentCoreError && error.mayHaveRun ? 1 : 2;
  }
}

// @ts-expect-error a sandbox needs to know its runtime
new AgentCoreRuntimeSandbox({});
// @ts-expect-error a timeout is a number
new NativeSandbox({ agentRuntimeArn: '', commandTimeout: '1s' });
