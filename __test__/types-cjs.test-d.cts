/** The public types, as a CommonJS author meets them. Compiled, never run. */
import main = require('mastra-agentcore');
import local = require('mastra-agentcore/local');
import native = require('mastra-agentcore/native');

const agentRuntimeArn = 'arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/a-0123456789';
new main.AgentCoreRuntimeSandbox({ agentRuntimeArn }) satisfies main.AgentCoreRuntimeSandbox;
new native.AgentCoreRuntimeSandbox({ agentRuntimeArn }).runtimeSessionId satisfies string;
local.LocalAgentCoreRuntime.start() satisfies Promise<local.LocalAgentCoreRuntime>;
