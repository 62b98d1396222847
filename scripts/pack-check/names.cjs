// What the package's entries export.
'use strict';
module.exports = {
  main: [
    'AgentCoreError',
    'AgentCoreRuntimeClient',
    'AgentCoreRuntimeSandbox',
    'agentCoreRuntimeSandboxProvider',
    'runtimeSessionIdFrom',
  ],
  local: ['LocalAgentCoreRuntime'],
  native: ['AgentCoreRuntimeClient', 'AgentCoreRuntimeSandbox'],
};
