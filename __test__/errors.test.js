/** Every row of the table in docs/errors.md, made to happen. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { ARN, answering, credentials, ended, injectedSandbox, localSandbox, wireSandbox } from './support/sandboxes.js';
import { imageWith, MINIMAL } from './support/toolbox.js';
import { httpError } from './support/wire.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The rows between the table's two comments. */
function rows() {
  const text = readFileSync(join(root, 'docs/errors.md'), 'utf8');
  const [, table] = /<!-- begin: the table of errors -->\n(.*)<!-- end: the table of errors -->/s.exec(text);
  return table
    .trim()
    .split('\n')
    .slice(2)
    .map(line => {
      const [codes, http, when, mayHaveRun, advice] = line.slice(1, -1).split('|').map(cell => cell.trim());
      return {
        key: [http, codes.startsWith('`') ? codes.split(', ')[0].slice(1, -1) : when].filter(Boolean).join(' '),
        codes: [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => code),
        http: http.split('–').filter(Boolean).map(Number),
        mayHaveRun: mayHaveRun === 'yes',
        advice,
      };
    });
}

/** What it rejects with. */
const failureOf = promise =>
  promise.then(
    () => expect.unreachable('it did not fail'),
    error => error,
  );

const run = (options, command = 'true') => failureOf(new AgentCoreRuntimeSandbox(options).executeCommand(command));

/** A command that the service answers with this. */
const answered = (status, code, message = 'the message') => async () => {
  const { sandbox } = await wireSandbox(({ response }) => httpError(response, status, code, message), { maxAttempts: 1 });
  return failureOf(sandbox.executeCommand('true'));
};

/** A command whose request meets this. */
async function onTheWire(onCommand) {
  const { sandbox } = await wireSandbox(onCommand, { maxAttempts: 1 });
  return failureOf(sandbox.executeCommand('true'));
}

/** A command in a Node of its own, with an environment that holds nothing of AWS. */
async function inEnvironment(options, env = {}) {
  const home = mkdtempSync(join(tmpdir(), 'agentcore-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--no-warnings',
      '--input-type=module',
      '-e',
      `import { AgentCoreRuntimeSandbox } from 'mastra-agentcore';
       const sandbox = new AgentCoreRuntimeSandbox(${JSON.stringify({ maxAttempts: 1, ...options })});
       await sandbox.executeCommand('true').catch(error => console.log(JSON.stringify({ ...error, message: error.message })));`,
    ],
    { cwd: root, timeout: 25_000, env: { PATH: process.env.PATH, HOME: home, AWS_EC2_METADATA_DISABLED: 'true', ...env } },
  );
  return JSON.parse(stdout);
}

/** A port where nothing listens. */
async function closedPort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** A port that accepts nothing more: its process is stopped, and its queue full. */
async function deafPort() {
  const program = `const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [port] = await once(createInterface(child.stdout), 'line');
  child.kill('SIGSTOP');
  const sockets = Array.from({ length: 8 }, () => connect(Number(port), '127.0.0.1').on('error', () => {}));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await new Promise(resolve => setTimeout(resolve, 300));
  return port;
}

/** The headers of an error, and only half of its body. */
async function halfAnError({ response }) {
  response.socket.write('HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{"mess');
  await new Promise(resolve => setTimeout(resolve, 50));
  response.socket.end();
}

const tokenOf = bearerToken => () => run({ agentRuntimeArn: ARN, endpoint: 'http://127.0.0.1:9', bearerToken });

/** By a row's HTTP status and its code, or when it happens: what gives that failure, in several ways. */
const SCENARIOS = {
  '400 ExpiredTokenException': [answered(400, 'ExpiredTokenException'), answered(400, 'ExpiredToken')],
  '400 the service does not accept a parameter, or what its message says': [answered(400, 'ValidationException')],
  '403 a runtime with a JWT authorizer met an AWS signature, or the other way round': [
    answered(403, 'AccessDeniedException', 'Authorization method mismatch'),
    async () => {
      const { sandbox } = await localSandbox({}, { bearerTokens: ['token'] });
      return failureOf(sandbox.executeCommand('true'));
    },
  ],
  "401 a bearer token is missing, expired or not that runtime's": [
    answered(401, 'UnauthorizedException'),
    async () => {
      const { sandbox } = await localSandbox({ credentials: undefined, bearerToken: 'wrong' }, { bearerTokens: ['token'] });
      return failureOf(sandbox.executeCommand('true'));
    },
  ],
  '402 a quota of the account is used up': [answered(402, 'ServiceQuotaExceededException')],
  '403 ExpiredTokenException': [answered(403, 'ExpiredTokenException'), answered(403, 'ExpiredToken')],
  '403 InvalidSignatureException': [
    answered(403, 'InvalidSignatureException'),
    answered(403, 'SignatureDoesNotMatch'),
    async () => {
      const { runtime } = await localSandbox();
      const wrong = { ...runtime.credentials, secretAccessKey: 'wrong' };
      return run({ ...runtime.sandboxOptions, credentials: wrong });
    },
  ],
  '403 UnrecognizedClientException': [
    answered(403, 'UnrecognizedClientException'),
    answered(403, 'InvalidClientTokenId'),
    async () => {
      const { runtime } = await localSandbox();
      return run({ ...runtime.sandboxOptions, credentials });
    },
  ],
  '403 the credentials may not do this': [answered(403, 'AccessDeniedException')],
  '404 the runtime, its endpoint or (of a stop: counts as stopped) the session is not there, or the runtime is older than command execution': [
    answered(404, 'ResourceNotFoundException'),
    async () => {
      const { sandbox } = await localSandbox({ qualifier: 'nowhere' });
      return failureOf(sandbox.executeCommand('true'));
    },
  ],
  '409 the session is being started or stopped; tried again, up to maxAttempts': [answered(409, 'RetryableConflictException')],
  '424 the container is cold, has crashed or does not answer /ping': [answered(424, 'RuntimeClientError')],
  '429 too many requests at once; tried again, up to maxAttempts': [answered(429, 'ThrottlingException')],
  '500–599 the service failed': [
    answered(500, 'InternalServerException'),
    answered(503, 'ServiceUnavailable'),
    answered(599, 'Odd'),
  ],
  REGION_MISSING: [() => inEnvironment({ agentRuntimeArn: 'agent', accountId: '123456789012', credentials })],
  CERTIFICATES_UNREADABLE: [
    () => inEnvironment({ agentRuntimeArn: ARN, credentials }, { AWS_CA_BUNDLE: '/no/such/file' }),
    () => inEnvironment({ agentRuntimeArn: ARN, credentials }, { NODE_EXTRA_CA_CERTS: '/no/such/file' }),
  ],
  BEARER_TOKEN_MISSING: [
    tokenOf(() => {
      throw new Error('no token today');
    }),
    tokenOf(async () => ''),
    tokenOf(async () => 'two\nlines'),
    tokenOf(async () => undefined),
  ],
  CREDENTIALS_MISSING: [
    () => inEnvironment({ agentRuntimeArn: ARN, endpoint: 'http://127.0.0.1:9' }),
    () =>
      run({
        agentRuntimeArn: ARN,
        endpoint: 'http://127.0.0.1:9',
        credentials: () => Promise.reject(new Error('the vault is sealed')),
      }),
  ],
  HOST_NOT_FOUND: [() => run({ agentRuntimeArn: ARN, credentials, endpoint: 'http://no-such-host.invalid', maxAttempts: 1 })],
  CONNECTION_REFUSED: [
    async () => run({ agentRuntimeArn: ARN, credentials, endpoint: `http://127.0.0.1:${await closedPort()}`, maxAttempts: 1 }),
  ],
  CONNECT_TIMEOUT: [
    async () => run({ agentRuntimeArn: ARN, credentials, endpoint: `http://127.0.0.1:${await deafPort()}`, maxAttempts: 1 }),
  ],
  PROXY_FAILED: [
    async () => inEnvironment({ agentRuntimeArn: ARN, credentials }, { HTTPS_PROXY: `http://127.0.0.1:${await closedPort()}` }),
  ],
  TLS_FAILED: [
    async () => {
      const { server } = await wireSandbox(answering());
      return run({ agentRuntimeArn: ARN, credentials, endpoint: server.endpoint.replace('http:', 'https:'), maxAttempts: 1 });
    },
  ],
  CONNECTION_FAILED: [() => run({ agentRuntimeArn: ARN, credentials, endpoint: 'http://255.255.255.255', maxAttempts: 1 })],
  CONNECTION_LOST: [
    () => onTheWire(({ response }) => response.socket.destroy()),
    () => onTheWire(({ response }) => response.socket.resetAndDestroy()),
  ],
  RESPONSE_UNREADABLE: [() => onTheWire(halfAnError)],
  STREAM_BROKEN: [
    () => onTheWire(({ answer }) => answer().end()),
    () => onTheWire(({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')),
    async () => {
      const { sandbox, runtime } = await localSandbox();
      runtime.inject({ kind: 'cut', afterEvents: 1 });
      return failureOf(sandbox.executeCommand('echo x'));
    },
  ],
  WARMUP_TIMED_OUT: [
    async () => {
      const { sandbox } = injectedSandbox([ended(-1, 'TIMED_OUT')], { warmup: true });
      return failureOf(sandbox.executeCommand('true'));
    },
  ],
  SESSION_REPLACED: [
    async () => {
      const { sandbox } = await localSandbox({ requireExistingSession: true });
      await sandbox.executeCommand('true');
      await sandbox.stopRuntimeSession();
      return failureOf(sandbox.executeCommand('true'));
    },
  ],
  TOOL_MISSING: [
    async () => {
      const { sandbox } = await imageWith(MINIMAL.filter(name => name !== 'dd'));
      return failureOf(sandbox.writeFiles([{ path: 'x', content: 'x' }]));
    },
    async () => {
      const { sandbox } = await imageWith(MINIMAL.filter(name => name !== 'mkfifo'), { processes: true });
      return failureOf(sandbox.processes.spawn('true'));
    },
    async () => {
      const { sandbox } = await imageWith(MINIMAL, { privateEnv: true, env: { VALUE: 'x' } });
      return failureOf(sandbox.executeCommand('true'));
    },
  ],
  FILE_FAILED: [
    async () => failureOf((await localSandbox()).sandbox.readFile('missing')),
    async () => failureOf((await localSandbox()).sandbox.writeFiles([{ path: '/proc/x', content: 'x' }])),
    async () => failureOf((await localSandbox()).sandbox.writeFiles([{ path: '/proc/x', content: Buffer.alloc(100_000) }])),
  ],
  PROCESS_FAILED: [
    async () => {
      const { sandbox } = await localSandbox({ processes: true });
      const handle = await sandbox.processes.spawn('echo begun; sleep 74');
      await expect.poll(() => handle.stdout).toBe('begun\n');
      await sandbox._stop();
      return failureOf(handle.wait());
    },
  ],
};

/** What cannot be made to happen from here, and why. */
const EXCEPTIONS = {
  OUTPUT_TOO_LARGE: 'needs more output than a JavaScript string can hold; tests/exec_output.rs has it',
  STOP_TIMEOUT: 'takes a minute',
  INTERNAL: 'is a bug',
};

/** Failures that say something better than the table's advice. */
const WITHOUT_ADVICE = new Set(['CREDENTIALS_MISSING (2)']);

describe('the table', () => {
  it('has a scenario for each row, or a reason; and a row for each', () => {
    const keys = rows().map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    expect([...Object.keys(SCENARIOS), ...Object.keys(EXCEPTIONS)].toSorted()).toEqual(keys.toSorted());
  });
});

for (const { key, codes, http, mayHaveRun, advice } of rows()) {
  for (const [index, scenario] of (SCENARIOS[key] ?? []).entries()) {
    const name = `${key} (${index + 1})`;
    it(name, async () => {
      const error = await scenario();
      expect(error).toMatchObject({ name: 'AgentCoreError', mayHaveRun, stdout: expect.any(String) });
      if (codes.length > 0) expect(codes).toContain(error.code);
      else expect(error.code).toMatch(/^[A-Z]\w+$/);
      if (http.length > 0) {
        expect(error.httpStatusCode).toBeGreaterThanOrEqual(http[0]);
        expect(error.httpStatusCode).toBeLessThanOrEqual(http.at(-1));
      }
      expect(error.message).toMatch(/^\[AgentCoreRuntimeSandbox\] \w+: ./);
      if (advice.startsWith('see the message')) return;
      if (WITHOUT_ADVICE.has(name)) expect(error.message).not.toContain(advice);
      else expect(error.message).toContain(advice);
    });
  }
}
