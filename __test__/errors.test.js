/** Each row of docs/errors.md: what brings it about, and that the error says what the row says. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { ARN, answering, credentials, environment, localSandbox, wireSandbox } from './support/sandboxes.js';
import { httpError, start, stop } from './support/wire.js';

const page = readFileSync(new URL('../docs/errors.md', import.meta.url), 'utf8');
const [, table] = /<!-- begin: the table of errors -->\n([^]*)<!-- end/.exec(page);
const rows = table
  .trim()
  .split('\n')
  .slice(2)
  .map(line => {
    const [code, status, when, mayHaveRun, advice] = line.split('|').slice(1, -1).map(cell => cell.trim());
    return { code: /`(\w+)`/.exec(code)?.[1], status: Number.parseInt(status, 10), when, mayHaveRun: mayHaveRun === 'yes', advice };
  });

/** Rows that no test brings about from outside, and why. */
const EXCEPTIONS = {
  INTERNAL: 'a bug of ours, which nothing known brings about',
  OUTPUT_TOO_LARGE: 'more than 512 MB: tests/exec_output.rs does it with a lower limit',
  RESPONSE_UNREADABLE: 'the SDK reads whatever hyper lets through',
  STOP_TIMEOUT: 'takes a minute',
};

const failure = promise => promise.then(() => 'no failure', error => error);
const sandboxAt = (endpoint, options) =>
  new AgentCoreRuntimeSandbox({ agentRuntimeArn: ARN, endpoint, credentials, ...options });
const command = sandbox => failure(sandbox.executeCommand('true'));

/** A server of bare sockets. */
async function sockets(onSocket) {
  const open = new Set();
  const server = createServer(socket => {
    open.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${server.address().port}`;
}

const NO_AWS = {
  AWS_ACCESS_KEY_ID: undefined,
  AWS_SECRET_ACCESS_KEY: undefined,
  AWS_PROFILE: undefined,
  AWS_REGION: undefined,
  AWS_DEFAULT_REGION: undefined,
  AWS_CONFIG_FILE: '/nonexistent',
  AWS_SHARED_CREDENTIALS_FILE: '/nonexistent',
  AWS_EC2_METADATA_DISABLED: 'true',
};

const SCENARIOS = {
  async REGION_MISSING() {
    environment(NO_AWS);
    return command(sandboxAt('http://127.0.0.1:1', { agentRuntimeArn: 'agent-1', accountId: '123456789012' }));
  },
  async CERTIFICATES_UNREADABLE() {
    environment({ AWS_CA_BUNDLE: '/nonexistent.pem' });
    return command(sandboxAt('https://127.0.0.1:1'));
  },
  async BEARER_TOKEN_MISSING() {
    const bearerToken = () => {
      throw new Error('the vault is sealed');
    };
    return command(sandboxAt('http://127.0.0.1:1', { bearerToken }));
  },
  async CREDENTIALS_MISSING() {
    environment(NO_AWS);
    return command(sandboxAt('http://127.0.0.1:1', { credentials: undefined }));
  },
  HOST_NOT_FOUND: async () => command(sandboxAt('http://nowhere.invalid')),
  CONNECTION_REFUSED: async () => command(sandboxAt('http://127.0.0.1:1')),
  CONNECT_TIMEOUT: async () => command(sandboxAt(`https://${await sockets(() => {})}`, { maxAttempts: 1 })),
  async PROXY_FAILED() {
    environment({ HTTPS_PROXY: 'http://127.0.0.1:1', NO_PROXY: undefined, no_proxy: undefined });
    return command(sandboxAt('https://127.0.0.2:1'));
  },
  TLS_FAILED: async () => command(sandboxAt(`https://${await sockets(socket => socket.end('HTTP/1.1 400 No TLS here\r\n\r\n'))}`)),
  CONNECTION_FAILED: async () => command(sandboxAt(`https://${await sockets(socket => socket.end())}`)),
  async CONNECTION_LOST() {
    const { sandbox } = await wireSandbox(({ response }) => response.socket.destroy());
    return command(sandbox);
  },
  async STREAM_BROKEN() {
    const { sandbox } = await wireSandbox(({ answer }) => answer(start()).end());
    return command(sandbox);
  },
  async WARMUP_TIMED_OUT() {
    const { sandbox } = await wireSandbox(({ answer }) => answer(start(), stop(-1, 'TIMED_OUT')).end(), { warmup: true, commandTimeout: 1_000 });
    return command(sandbox);
  },
  async SESSION_REPLACED() {
    const { sandbox } = await localSandbox({ requireExistingSession: true });
    await sandbox.executeCommand('true');
    await sandbox.stopRuntimeSession();
    return command(sandbox);
  },
  async TOOL_MISSING() {
    const { sandbox } = await localSandbox({ privateEnv: true, env: { A: 'secret' } }, { env: { PATH: '/nonexistent' } });
    return command(sandbox);
  },
  async FILE_FAILED() {
    const { sandbox } = await localSandbox();
    return failure(sandbox.readFile('/nonexistent'));
  },
  async PROCESS_FAILED() {
    const { sandbox } = await localSandbox({ processes: true });
    const handle = await sandbox.processes.spawn('sleep 60');
    await sandbox.stopRuntimeSession();
    return failure(handle.wait());
  },
};

/** What the service calls an error where the row leaves that open. */
const NAMES = {
  400: 'ValidationException',
  401: 'UnauthorizedException',
  402: 'ServiceQuotaExceededException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  409: 'RetryableConflictException',
  424: 'RuntimeClientError',
  429: 'ThrottlingException',
  500: 'InternalServerException',
};

function expectRow(error, { code, mayHaveRun, advice }) {
  expect(error).toMatchObject({ name: 'AgentCoreError', code, mayHaveRun });
  if (!advice.startsWith('see the message')) expect(error.message).toContain(advice);
}

it('the table is there, and every row has its scenario', () => {
  expect(rows.length).toBeGreaterThan(30);
  const known = [...Object.keys(SCENARIOS), ...Object.keys(EXCEPTIONS)];
  expect(rows.filter(row => !row.status).map(row => row.code).toSorted()).toEqual(known.toSorted());
});

it.each(rows.filter(row => row.status).map(row => [row.status, row.when, row]))('%d: %s', async (status, when, row) => {
  const code = row.code ?? NAMES[status];
  const message = when.includes('JWT authorizer') ? 'Authorization method mismatch.' : 'the message';
  const { sandbox } = await wireSandbox(({ response }) => httpError(response, status, code, message));
  const error = await command(sandbox);
  expectRow(error, { ...row, code });
  expect(error.httpStatusCode).toBe(status);
});

it.each(rows.filter(row => row.code in SCENARIOS && !row.status).map(row => [row.code, row.when, row]))('%s: %s', async (code, _, row) => {
  expectRow(await SCENARIOS[code](), row);
});

it('what is answered well is no error', async () => {
  const { sandbox } = await wireSandbox(answering());
  expect(await sandbox.executeCommand('true')).toMatchObject({ success: true });
});
