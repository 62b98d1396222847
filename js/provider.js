/** Describes this sandbox to Mastra's Editor. */
import { AgentCoreRuntimeSandbox } from './sandbox.js';

export const agentCoreRuntimeSandboxProvider = {
  id: /** @type {const} */ ('agentcore'),
  name: 'AgentCore Runtime Sandbox',
  description: 'AWS Bedrock AgentCore Runtime command execution sandbox',
  configSchema: {
    type: 'object',
    required: ['agentRuntimeArn'],
    properties: {
      region: { type: 'string', description: "AWS region; the ARN's without it" },
      agentRuntimeArn: { type: 'string', description: 'ARN of the AgentCore Runtime' },
      runtimeSessionId: {
        type: 'string',
        description: 'Runtime session to run in, 33 to 256 characters; a new one without it',
      },
      qualifier: {
        type: 'string',
        description: 'Endpoint of the runtime',
        default: 'DEFAULT',
      },
      commandTimeout: {
        type: 'number',
        description: 'Default timeout of a command, in milliseconds',
        minimum: 1,
        maximum: 3_600_000,
        default: 300_000,
      },
      stopSessionOnLifecycle: {
        type: 'boolean',
        description: 'Stop the runtime session on stop() and destroy()',
        default: false,
      },
    },
  },
  createSandbox: config => new AgentCoreRuntimeSandbox(config),
};
