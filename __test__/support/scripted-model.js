/** A language model that says what it was told to: for agents in tests, without a network. */

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/**
 * A model of the AI SDK's specification v2. Each turn is a text, or the input of a call of the
 * first tool that is offered; the last turn is repeated.
 *
 * @param {({ call: object } | { text: string })[]} turns
 */
export function scriptedModel(turns) {
  let taken = 0;
  const next = () => turns[Math.min(taken++, turns.length - 1)];
  const finishReason = turn => (turn.call ? 'tool-calls' : 'stop');
  const call = (turn, { tools }) => ({
    type: 'tool-call',
    toolCallId: `call-${taken}`,
    toolName: tools[0].name,
    input: JSON.stringify(turn.call),
  });
  const streamed = (turn, options) =>
    turn.call
      ? [call(turn, options)]
      : [
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: turn.text },
          { type: 'text-end', id: '1' },
        ];
  return {
    specificationVersion: 'v2',
    provider: 'scripted',
    modelId: 'scripted',
    supportedUrls: {},
    async doGenerate(options) {
      const turn = next();
      const content = turn.call ? call(turn, options) : { type: 'text', text: turn.text };
      return { content: [content], finishReason: finishReason(turn), usage, warnings: [] };
    },
    async doStream(options) {
      const turn = next();
      const parts = [
        { type: 'stream-start', warnings: [] },
        ...streamed(turn, options),
        { type: 'finish', finishReason: finishReason(turn), usage },
      ];
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  };
}
