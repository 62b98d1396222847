// Mastra's Editor makes a Workspace from a stored configuration by the provider it is given.
import assert from 'node:assert/strict';
import { MastraEditor } from '@mastra/editor';
import { AgentCoreRuntimeSandbox, agentCoreRuntimeSandboxProvider as provider } from 'mastra-agentcore';
import { LocalAgentCoreRuntime } from 'mastra-agentcore/local';

const runtime = await LocalAgentCoreRuntime.start();
// A stored configuration holds neither credentials nor an endpoint: they come from the environment.
process.env.AWS_ENDPOINT_URL_BEDROCK_AGENTCORE = runtime.endpoint;
process.env.AWS_ACCESS_KEY_ID = runtime.credentials.accessKeyId;
process.env.AWS_SECRET_ACCESS_KEY = runtime.credentials.secretAccessKey;

const editor = new MastraEditor({ sandboxes: { [provider.id]: provider } });
assert.ok(editor.getSandboxProviders().includes(provider));
const config = { agentRuntimeArn: runtime.agentRuntimeArn, commandTimeout: 60_000, stopSessionOnLifecycle: true };
const workspace = await editor.workspace.hydrateSnapshotToWorkspace('stored', {
  name: 'stored',
  sandbox: { provider: provider.id, config },
});
try {
  assert.ok(workspace.sandbox instanceof AgentCoreRuntimeSandbox);
  const result = await workspace.sandbox.executeCommand('echo', ['stored']);
  assert.equal(result.stdout, 'stored\n');
  const known = Object.keys(provider.configSchema.properties);
  assert.deepEqual(Object.keys(config).filter(name => !known.includes(name)), []);
} finally {
  await workspace.destroy();
  await runtime.stop();
}
