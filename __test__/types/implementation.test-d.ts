/** What js/ implements against what index.d.ts, native.d.ts and local.d.ts promise. Compiled, never run. */
import type * as declared from 'mastra-agentcore';
import type * as declaredLocal from 'mastra-agentcore/local';
import type * as declaredNative from 'mastra-agentcore/native';
import { AgentCoreError } from '../../js/agentcore-error.js';
import { AgentCoreRuntimeClient } from '../../js/client.js';
import { LocalAgentCoreRuntime } from '../../js/local.js';
import { AgentCoreRuntimeSandbox as Native } from '../../js/native.js';
import { agentCoreRuntimeSandboxProvider } from '../../js/provider.js';
import { AgentCoreRuntimeSandbox } from '../../js/sandbox.js';
import { runtimeSessionIdFrom } from '../../js/session-id.js';

AgentCoreRuntimeSandbox satisfies typeof declared.AgentCoreRuntimeSandbox;
AgentCoreRuntimeClient satisfies typeof declared.AgentCoreRuntimeClient;
agentCoreRuntimeSandboxProvider satisfies typeof declared.agentCoreRuntimeSandboxProvider;
runtimeSessionIdFrom satisfies typeof declared.runtimeSessionIdFrom;
Native satisfies typeof declaredNative.AgentCoreRuntimeSandbox;
AgentCoreRuntimeClient satisfies typeof declaredNative.AgentCoreRuntimeClient;
// Its constructor is declared private; its disposal's name is found at run time, and its requests
// come from the addon, whose types know texts but not which.
declare const runtime: LocalAgentCoreRuntime;
runtime satisfies Omit<
  declaredLocal.LocalAgentCoreRuntime,
  typeof Symbol.asyncDispose | 'requests'
>;
// Its facts are assigned by withFacts().
declare const error: AgentCoreError;
error satisfies Pick<declared.AgentCoreError, 'message' | 'cause' | 'stack'>;
