/** Starts a process of the session, for whoever reads it then. */
import binding from './addon.js';
import { NO_DIRECTORY, spawnScript } from './process-scripts.js';
import { toolsOf } from './tools.js';

/**
 * Resolves when it has started; sent twice it starts once.
 *
 * @param {import('./engine.js').Engine} engine
 * @param {ReturnType<import('./engine.js').Engine['prepare']>} prepared
 * @param {object} process
 * @param {string} process.pid
 * @param {string} process.displayed
 * @param {boolean} process.stdin whether it has one
 * @returns {Promise<{ stdout: string, stderr: string } | undefined>} what `cd` said, where its
 *   directory is missing: nothing has started
 */
export async function startProcess(engine, prepared, { pid, displayed, stdin }) {
  const tools = await toolsOf(engine);
  tools.need('a process', 'cat', 'dd', 'mkdir', 'mv', 'rm', 'wc', ...(stdin ? ['mkfifo'] : []));
  const { spec } = prepared;
  const started = await engine.script(
    spawnScript({
      pid,
      shell: engine.shell,
      command: [prepared.command, ...(prepared.args ?? []).map(binding.quote)].join(' '),
      displayed,
      cwd: binding.resolveDirectory(spec.cwd, spec.workingDirectory) ?? undefined,
      env: spec.env,
      stdin,
    }),
    { idempotent: true, stage: true, hidden: prepared.hidden },
  );
  if (started.exitCode === 0) return undefined;
  if (started.exitCode === NO_DIRECTORY) return started;
  throw notStarted(engine, started);
}

/**
 * @param {import('./engine.js').Engine} engine
 * @param {{ stderr: string, exitCode?: number }} started
 */
export function notStarted(engine, { stderr, exitCode }) {
  return engine.failure({
    name: 'ProcessError',
    code: 'PROCESS_FAILED',
    message: `it could not be started: ${stderr.trim() || `exit code ${exitCode}`}`,
    retryable: false,
    mayHaveRun: false,
  });
}
