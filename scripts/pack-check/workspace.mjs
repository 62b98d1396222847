// A Workspace's execute-command tool runs a command in a local session.
import assert from 'node:assert/strict';
import { Workspace, WORKSPACE_TOOLS, createWorkspaceTools } from '@mastra/core/workspace';
import { AgentCoreRuntimeSandbox } from 'mastra-agentcore';
import { LocalAgentCoreRuntime } from 'mastra-agentcore/local';

const runtime = await LocalAgentCoreRuntime.start();
const sandbox = new AgentCoreRuntimeSandbox({ ...runtime.sandboxOptions, stopSessionOnLifecycle: true });
const workspace = new Workspace({ sandbox });
try {
  const tools = await createWorkspaceTools(workspace);
  const tool = tools[WORKSPACE_TOOLS.SANDBOX.EXECUTE_COMMAND];
  assert.ok(tool, `no execute-command tool among ${Object.keys(tools)}`);
  const output = await tool.execute({ command: 'echo "six times seven is $((6 * 7))"' }, { workspace });
  assert.match(String(output), /six times seven is 42/);
  assert.equal(runtime.requests().commands, 1);
} finally {
  await workspace.destroy();
  await runtime.stop();
}
