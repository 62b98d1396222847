/**
 * A Mastra Workspace whose commands run in an AgentCore session: here one of the local
 * runtime, which needs no AWS account. With a real runtime, only the sandbox's options differ:
 *
 *   new AgentCoreRuntimeSandbox({ agentRuntimeArn: process.env.AGENTCORE_RUNTIME_ARN })
 */
import assert from 'node:assert/strict';
import { Workspace } from '@mastra/core/workspace';
import { AgentCoreRuntimeSandbox } from 'mastra-agentcore';
import { LocalAgentCoreRuntime } from 'mastra-agentcore/local';

const paint = code => text => (process.stdout.isTTY ? `\x1b[${code}m${text}\x1b[0m` : text);
const [bold, dim, green, red] = ['1', '2', '32', '31'].map(paint);
const heading = text => console.log(`\n${bold(text)}`);
const fact = (name, value) => console.log(`  ${dim(`${name}:`)} ${value}`);

/** Prints output as it comes, each line with the time since the command began. */
function live() {
  const started = performance.now();
  let line = '';
  return text => {
    line += text;
    const lines = line.split('\n');
    line = lines.pop();
    for (const each of lines) {
      const seconds = ((performance.now() - started) / 1000).toFixed(2);
      console.log(`  ${dim(`${seconds.padStart(6)} s`)}  ${each}`);
    }
  };
}

console.log('The local runtime isolates nothing: the commands below run on this machine, as you.');
const runtime = await LocalAgentCoreRuntime.start();
const sandbox = new AgentCoreRuntimeSandbox({
  ...runtime.sandboxOptions,
  stopSessionOnLifecycle: true,
});
const workspace = new Workspace({ sandbox });
const run = (...call) => workspace.sandbox.executeCommand(...call);

try {
  heading('A session');
  fact('runtime', sandbox.agentRuntimeArn);
  fact('session', sandbox.runtimeSessionId);

  heading('Write a small project');
  const written = await run(`
mkdir -p shop && cd shop
cat > package.json <<'END'
{ "name": "shop", "type": "module", "scripts": { "test": "node --test --test-reporter=spec" } }
END
cat > price.js <<'END'
export const total = items => items.reduce((sum, { price, count = 1 }) => sum + price * count, 0);
export const format = cents => '$' + (cents / 100).toFixed(2);
END
cat > price.test.js <<'END'
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'node:test';
import { format, total } from './price.js';
test('nothing costs nothing', async () => { await wait(300); assert.equal(total([]), 0); });
test('counts count', async () => { await wait(300); assert.equal(total([{ price: 250, count: 4 }]), 1000); });
test('cents are shown', async () => { await wait(300); assert.equal(format(1005), '$10.05'); });
test('it is the total that is shown', async () => { await wait(300); assert.equal(format(total([{ price: 199 }, { price: 1 }])), '$2.00'); });
END
wc -l *.js* | tail -n 1`);
  assert.equal(written.exitCode, 0, written.stderr);
  fact('lines', written.stdout.trim());

  heading('Run its tests, line by line as they come');
  const arrivals = [];
  const print = live();
  const tests = await run('npm', ['test', '--silent'], {
    cwd: 'shop',
    timeout: 60_000,
    onStdout: text => {
      arrivals.push(performance.now());
      print(text);
    },
    onStderr: print,
  });
  assert.equal(tests.exitCode, 0, tests.stderr);
  assert.ok(arrivals.at(-1) - arrivals[0] > 300, 'the output came while the tests ran');
  fact('exit code', green(tests.exitCode));

  heading('A command that fails');
  const failed = await run('node', ['-e', 'console.error("out of stock"); process.exit(3)']);
  assert.equal(failed.exitCode, 3);
  fact('stderr', failed.stderr.trim());
  fact('exit code', red(failed.exitCode));

  heading('An environment variable');
  const greeting = await run('echo "Hello, $CUSTOMER" | tr a-z A-Z', [], {
    env: { CUSTOMER: "O'Brien" },
  });
  assert.equal(greeting.stdout, "HELLO, O'BRIEN\n");
  fact('stdout', greeting.stdout.trim());

  heading('A timeout of one second');
  const slow = await run('echo waiting; sleep 30', [], { timeout: 1000 });
  assert.ok(slow.timedOut && slow.exitCode === 124 && slow.stdout === 'waiting\n');
  fact('timed out', `${slow.timedOut}, exit code ${slow.exitCode}, after ${slow.executionTimeMs} ms`);

  heading('An abort after the third line');
  const controller = new AbortController();
  let lines = 0;
  const aborted = await run('for i in 1 2 3 4 5 6; do echo "step $i"; sleep 0.2; done', [], {
    abortSignal: controller.signal,
    onStdout: text => {
      lines += text.split('\n').length - 1;
      if (lines >= 3) controller.abort();
    },
  });
  assert.ok(aborted.killed && aborted.stdout.includes('step 3') && !aborted.stdout.includes('step 6'));
  fact('killed', `${aborted.killed}, exit code ${aborted.exitCode}`);
  fact('seen so far', JSON.stringify(aborted.stdout));
} finally {
  await workspace.destroy();
  await runtime.stop();
}
console.log(`\n${green('All as expected.')} The session is stopped and none of its processes is left.`);
