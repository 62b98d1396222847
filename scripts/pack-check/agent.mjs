// An agent whose model calls the execute-command tool, and is shown what the command printed.
import assert from 'node:assert/strict';
import { Agent } from '@mastra/core/agent';
import { Workspace, WORKSPACE_TOOLS } from '@mastra/core/workspace';
import { AgentCoreRuntimeSandbox } from 'mastra-agentcore';
import { LocalAgentCoreRuntime } from 'mastra-agentcore/local';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const prompts = [];

/** A language model of the AI SDK's second specification that says what it is told to. */
const model = {
  specificationVersion: 'v2',
  provider: 'scripted',
  modelId: 'scripted',
  supportedUrls: {},
  async doGenerate(options) {
    const { content, finishReason } = this.answer(options);
    return { content, finishReason, usage, warnings: [] };
  },
  async doStream(options) {
    const { content, finishReason } = this.answer(options);
    const parts = content.flatMap(part =>
      part.type === 'text'
        ? [
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: part.text },
            { type: 'text-end', id: '1' },
          ]
        : [part],
    );
    const all = [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }];
    return { stream: ReadableStream.from(all) };
  },
  answer({ prompt, tools }) {
    prompts.push(prompt);
    if (prompts.length > 1) return { content: [{ type: 'text', text: 'Done.' }], finishReason: 'stop' };
    const toolName = tools.map(({ name }) => name).find(name => name === WORKSPACE_TOOLS.SANDBOX.EXECUTE_COMMAND);
    assert.ok(toolName, 'the agent offers the model the execute-command tool');
    const input = JSON.stringify({ command: 'echo "the answer is $((6 * 7))"' });
    return { content: [{ type: 'tool-call', toolCallId: 'call-1', toolName, input }], finishReason: 'tool-calls' };
  },
};

const runtime = await LocalAgentCoreRuntime.start();
const sandbox = new AgentCoreRuntimeSandbox({ ...runtime.sandboxOptions, stopSessionOnLifecycle: true });
const workspace = new Workspace({ sandbox });
try {
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'Run commands.', model, workspace });
  const result = await agent.generate('What is six times seven?', { maxSteps: 3 });
  assert.equal(result.text, 'Done.');
  assert.equal(prompts.length, 2);
  const shown = JSON.stringify(prompts[1].filter(({ role }) => role === 'tool'));
  assert.match(shown, /the answer is 42/);
} finally {
  await workspace.destroy();
  await runtime.stop();
}
