export { AgentCoreError } from './js/agentcore-error.js';
export { AgentCoreRuntimeClient } from './js/client.js';
export { agentCoreRuntimeSandboxProvider } from './js/provider.js';
export { AgentCoreRuntimeSandbox } from './js/sandbox.js';
export { runtimeSessionIdFrom } from './js/session-id.js';
