// Where Mastra's own types are used; beside types.ts, and likewise copied to .cts.
import { Workspace } from '@mastra/core/workspace';
import type { SandboxProvider } from '@mastra/core/editor';
import { AgentCoreRuntimeSandbox, agentCoreRuntimeSandboxProvider } from 'mastra-agentcore';
import type { AgentCoreRuntimeProviderConfig } from 'mastra-agentcore';

export const provider: SandboxProvider<AgentCoreRuntimeProviderConfig> = agentCoreRuntimeSandboxProvider;

export async function run(agentRuntimeArn: string): Promise<number | undefined> {
  const workspace = new Workspace({ sandbox: new AgentCoreRuntimeSandbox({ agentRuntimeArn }) });
  const result = await workspace.sandbox.executeCommand('true');
  return result.exitCode;
}
