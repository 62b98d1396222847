/** What an agent is told about this sandbox. */

const NO_PROCESSES = '- Background process management is not exposed.';

const LINES = [
  'AWS Bedrock AgentCore Runtime sandbox.',
  'Commands run in the container of an AgentCore Runtime session.',
  'Output streams while a command runs.',
  'Limits:',
  '- Commands are one-shot and non-interactive: there is no stdin.',
  '- There is no persistent shell between commands: pass cwd and env with each; files stay.',
  NO_PROCESSES,
  '- Filesystem mounts are not exposed.',
  '- Tools such as git, npm, Python or Node must exist in the container image.',
  '- AgentCore Code Interpreter is a separate service and is not part of this runtime sandbox.',
];

const PROCESSES = '- Background processes end with the session, at the latest.';

/** @param {boolean} processes whether there is a process manager */
function defaults(processes) {
  return LINES.map(line => (line === NO_PROCESSES && processes ? PROCESSES : line)).join('\n');
}

/**
 * @param {boolean} processes
 * @param {import('../index.js').AgentCoreRuntimeSandboxOptions['instructions']} option
 * @param {{ requestContext?: unknown } | undefined} given
 */
export function instructions(processes, option, given) {
  const defaultInstructions = defaults(processes);
  if (typeof option === 'function') {
    return option({ defaultInstructions, requestContext: given?.requestContext });
  }
  return option ?? defaultInstructions;
}
