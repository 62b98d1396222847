/**
 * The option `resumable`: a command that survives its connection. It runs as a process of the
 * session and is read by followers, each of which goes on where the last one stopped; its deadline
 * is its own, and may be later than a command's longest.
 */
import { Follower } from './follower.js';
import { killedScript, releaseScript } from './process-scripts.js';
import { startProcess } from './process-start.js';

/**
 * Starts a prepared command and pushes what it prints into `command`.
 *
 * @param {import('./engine.js').Engine} engine
 * @param {any} prepared
 * @param {string} pid also its mark
 * @param {import('./binding.cjs').BindingCommand} command
 */
export async function runResumably(engine, prepared, pid, command) {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const push = async (stream, text) => {
    if (!text || command.ended) return;
    const fits = stream === 'stdout' ? command.pushDelta(text, null) : command.pushDelta(null, text);
    if (!fits) await command.writable();
  };
  const follower = new Follower(engine, pid, (stream, bytes) =>
    push(stream, decoders[stream].decode(bytes, { stream: true })),
  );
  const deadline = setTimeout(() => {
    command.pushStop(null, 'TIMED_OUT');
    command.pushEnd();
    follower.stop();
  }, prepared.timeoutMs);
  try {
    const noDirectory = await startProcess(engine, prepared, { pid, displayed: prepared.logged, stdin: false });
    if (noDirectory) {
      await push('stderr', noDirectory.stderr);
      command.pushStop(Number(noDirectory.stdout) || 1, 'COMPLETED');
      command.pushEnd();
      return;
    }
    if (command.ended) {
      // Cut short while it started: its kill came too early.
      await killResumable(engine, pid);
      return;
    }
    const over = command.finished(null).then(() => follower.stop());
    over.catch(() => {});
    const exitCode = await follower.run();
    if (exitCode === undefined) return;
    for (const stream of /** @type {const} */ (['stdout', 'stderr'])) await push(stream, decoders[stream].decode());
    command.pushStop(exitCode, 'COMPLETED');
    command.pushEnd();
    engine.behind(engine.script(releaseScript(pid), { idempotent: true, toItsEnd: true }));
  } finally {
    clearTimeout(deadline);
  }
}

/** Ends what a command started, and forgets it. */
export async function killResumable(engine, pid) {
  await engine.killMarked(pid);
  await engine.script(`${killedScript(pid)}\n${releaseScript(pid)}`, { idempotent: true, toItsEnd: true });
}
