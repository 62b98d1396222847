/** The public types, as an ES module's author meets them. Compiled, never run. */
import { Workspace } from '@mastra/core/workspace';
import {
  AgentCoreError,
  AgentCoreRuntimeClient,
  AgentCoreRuntimeSandbox,
  agentCoreRuntimeSandboxProvider,
  runtimeSessionIdFrom,
  type AgentCoreRuntimeProviderConfig,
  type AgentCoreRuntimeSandboxOptions,
} from 'mastra-agentcore';
import { LocalAgentCoreRuntime } from 'mastra-agentcore/local';
import { AgentCoreRuntimeSandbox as NativeSandbox } from 'mastra-agentcore/native';

const agentRuntimeArn = 'arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/a-0123456789';
const options: AgentCoreRuntimeSandboxOptions = {
  agentRuntimeArn,
  runtimeSessionId: runtimeSessionIdFrom('conversation'),
  env: { A: 'b', C: undefined },
  workingDirectory: '/app',
  shell: false,
  credentials: async () => ({ accessKeyId: 'a', secretAccessKey: 'b', expiration: new Date() }),
  instructions: ({ defaultInstructions }) => `${defaultInstructions} Be brief.`,
  onStart: async ({ sandbox, outcome }) => {
    outcome satisfies 'created' | 'connected' | undefined;
    await sandbox.executeCommand?.('true');
  },
};
const sandbox = new AgentCoreRuntimeSandbox(options);
new Workspace({ sandbox });
new AgentCoreRuntimeSandbox({ agentRuntimeArn, client: new AgentCoreRuntimeClient({ region: 'us-west-2' }) });
new AgentCoreRuntimeSandbox({ agentRuntimeArn, client: { send: async () => ({}), destroy() {} } });

const result = await sandbox.executeCommand('npm', ['test'], {
  timeout: 1000,
  maxRetainedBytes: 1024,
  onStdout: text => void text.length,
});
result.exitCode satisfies number;
result.timedOut satisfies boolean;
result.killed satisfies boolean;
result.stdoutDroppedBytes satisfies number;
sandbox.setEnv(env => ({ ...env, TOKEN: 'x' }));
sandbox.workingDirectory satisfies string | undefined;

const config: AgentCoreRuntimeProviderConfig = { agentRuntimeArn };
agentCoreRuntimeSandboxProvider.createSandbox(config) satisfies AgentCoreRuntimeSandbox;

try {
  await sandbox.stopRuntimeSession();
} catch (error) {
  if (error instanceof AgentCoreError) {
    error.code satisfies string;
    error.mayHaveRun satisfies boolean;
    error.httpStatusCode satisfies number | undefined;
  }
}

const runtime = await LocalAgentCoreRuntime.start({ commandSemantics: 'argv' });
runtime.inject({ kind: 'status', status: 429, errorType: 'ThrottlingException' });
const native = new NativeSandbox({ ...runtime.sandboxOptions, env: { A: 'b' } });
const { stdout } = await native.executeCommand('ls', [], { onStdout: async () => {} });
stdout satisfies string;

// @ts-expect-error agentRuntimeArn is required
new AgentCoreRuntimeSandbox({});
// @ts-expect-error the process manager is not the user's to give
new AgentCoreRuntimeSandbox({ agentRuntimeArn, processes: {} });
// @ts-expect-error true is no shell
new AgentCoreRuntimeSandbox({ agentRuntimeArn, shell: true });
// @ts-expect-error no such semantics
await LocalAgentCoreRuntime.start({ commandSemantics: 'bash' });
// @ts-expect-error a status fault needs its status
runtime.inject({ kind: 'status' });
