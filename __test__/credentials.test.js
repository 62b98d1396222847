/**
 * Where credentials, region and address come from when nothing is said: each source that AWS
 * users know, by a stand-in on loopback, in a process of its own with a home of its own. What
 * was found is read off the signature that the service's stand-in gets.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AgentCoreRuntimeSandbox } from '../index.js';
import { certificateAuthority } from './support/certificates.js';
import { httpServer } from './support/http.js';
import { connectProxy } from './support/proxy.js';
import { ARN, answering, wireSandbox } from './support/sandboxes.js';
import { wireServer } from './support/wire.js';

const CHILD = fileURLToPath(new URL('support/chain-child.js', import.meta.url));
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url)));
const run = promisify(execFile);

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const KEYS = { AWS_ACCESS_KEY_ID: 'AKIAENV', AWS_SECRET_ACCESS_KEY: 'env-secret' };
const ROLE = 'arn:aws:iam::123456789012:role/deploy';

/** A home directory with the given files. */
function home(files = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'home-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function service(options) {
  const server = await wireServer(answering(), options);
  onTestFinished(() => server.close());
  return server;
}

/** Runs a command in a child, and says how it ended and what the service was sent. */
async function chain({ env, files, options, endpoint = true } = {}) {
  const server = await service();
  const given = { agentRuntimeArn: ARN, maxAttempts: 1, ...(endpoint && { endpoint: server.endpoint }), ...options };
  const { stdout } = await run(process.execPath, [CHILD, JSON.stringify(given)], {
    env: { PATH: process.env.PATH, HOME: home(files), AWS_EC2_METADATA_DISABLED: 'true', ...env },
  });
  return { ...JSON.parse(stdout), requests: server.requests, ...(server.requests[0] && signature(server.requests[0])) };
}

function signature({ headers }) {
  const [, accessKeyId, region, name] = /Credential=([^/]+)\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request/.exec(headers.authorization);
  return { accessKeyId, region, signedFor: name, sessionToken: headers['x-amz-security-token'] };
}

const signed = (accessKeyId, sessionToken) => ({
  success: true,
  accessKeyId,
  sessionToken,
  region: 'us-west-2',
  signedFor: 'bedrock-agentcore',
});

const stsAnswer = (action, accessKeyId) => `<${action}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
  <${action}Result>
    <Credentials>
      <AccessKeyId>${accessKeyId}</AccessKeyId>
      <SecretAccessKey>role-secret</SecretAccessKey>
      <SessionToken>${accessKeyId}-token</SessionToken>
      <Expiration>${inAnHour()}</Expiration>
    </Credentials>
    <AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/deploy/s</Arn><AssumedRoleId>AROA:s</AssumedRoleId></AssumedRoleUser>
  </${action}Result>
</${action}Response>`;

/** STS: gives `ASIASTS1`, then `ASIASTS2` … */
const stsServer = () =>
  httpServer(({ body, number }) => stsAnswer(new URLSearchParams(body).get('Action'), `ASIASTS${number}`));

/** What the metadata of containers and instances tell. */
const metadata = accessKeyId =>
  JSON.stringify({
    Code: 'Success',
    Type: 'AWS-HMAC',
    LastUpdated: new Date().toISOString(),
    AccessKeyId: accessKeyId,
    SecretAccessKey: 's',
    Token: `${accessKeyId}-token`,
    Expiration: inAnHour(),
  });

describe('credentials come from', () => {
  it('the environment', async () => {
    expect(await chain({ env: KEYS })).toMatchObject(signed('AKIAENV'));
    const token = { AWS_SESSION_TOKEN: 'env-token' };
    expect(await chain({ env: { ...KEYS, ...token } })).toMatchObject(signed('AKIAENV', 'env-token'));
  });

  const shared = {
    '.aws/credentials': `
[default]
aws_access_key_id = AKIADEFAULT
aws_secret_access_key = secret
[work]
aws_access_key_id = AKIAWORK
aws_secret_access_key = secret
aws_session_token = work-token
`,
    '.aws/config': `
[default]
region = eu-west-1
[profile inconfig]
aws_access_key_id = AKIACONFIG
aws_secret_access_key = secret
`,
  };

  it.each([
    ['the default profile', {}, {}, signed('AKIADEFAULT')],
    ['the profile of AWS_PROFILE', { AWS_PROFILE: 'work' }, {}, signed('AKIAWORK', 'work-token')],
    ['the option profile', {}, { profile: 'work' }, signed('AKIAWORK', 'work-token')],
    ['the option profile, before AWS_PROFILE', { AWS_PROFILE: 'inconfig' }, { profile: 'work' }, signed('AKIAWORK', 'work-token')],
    ['a profile of the configuration file', { AWS_PROFILE: 'inconfig' }, {}, signed('AKIACONFIG')],
    ['the environment, before the default profile', KEYS, {}, signed('AKIAENV')],
    ['the option credentials, before all', KEYS, { profile: 'work', credentials: { accessKeyId: 'AKIAGIVEN', secretAccessKey: 's', sessionToken: 'given' } }, signed('AKIAGIVEN', 'given')],
  ])('%s', async (_, env, options, expected) => {
    expect(await chain({ env, options, files: shared })).toMatchObject(expected);
  });

  it('the option profile, before the environment', async () => {
    const ended = await chain({ env: KEYS, options: { profile: 'work' }, files: shared });
    expect(ended).toMatchObject(signed('AKIAWORK', 'work-token'));
  });

  it('files that the environment names', async () => {
    const folder = home({ a: '[x]\naws_access_key_id = AKIAA\naws_secret_access_key = s\n', b: '' });
    const env = { AWS_SHARED_CREDENTIALS_FILE: join(folder, 'a'), AWS_CONFIG_FILE: join(folder, 'b'), AWS_PROFILE: 'x' };
    expect(await chain({ env })).toMatchObject(signed('AKIAA'));
  });

  it('a process of the profile', async () => {
    const printed = { Version: 1, AccessKeyId: 'ASIAPROCESS', SecretAccessKey: 's', SessionToken: 'process-token', Expiration: inAnHour() };
    const files = {
      'printed.json': JSON.stringify(printed),
      '.aws/config': '[profile tool]\ncredential_process = cat "$HOME/printed.json"\n',
    };
    expect(await chain({ files, options: { profile: 'tool' } })).toMatchObject(signed('ASIAPROCESS', 'process-token'));
  });

  it('a role that the profile assumes from another', async () => {
    const sts = await stsServer();
    const files = {
      '.aws/config': `
[profile base]
aws_access_key_id = AKIABASE
aws_secret_access_key = s
[profile role]
role_arn = ${ROLE}
source_profile = base
external_id = outside
role_session_name = of-a-test
[profile second]
role_arn = ${ROLE}-second
source_profile = role
`,
    };
    const env = { AWS_ENDPOINT_URL_STS: sts.url };
    expect(await chain({ env, files, options: { profile: 'role' } })).toMatchObject(signed('ASIASTS1', 'ASIASTS1-token'));
    expect(Object.fromEntries(new URLSearchParams(sts.requests[0].body))).toMatchObject({
      Action: 'AssumeRole',
      RoleArn: ROLE,
      ExternalId: 'outside',
      RoleSessionName: 'of-a-test',
    });
    expect(signature(sts.requests[0])).toMatchObject({ accessKeyId: 'AKIABASE', region: 'us-west-2', signedFor: 'sts' });
    sts.requests.length = 0;
    expect(await chain({ env, files, options: { profile: 'second' } })).toMatchObject(signed('ASIASTS2', 'ASIASTS2-token'));
    expect(sts.requests.map(request => signature(request).accessKeyId)).toEqual(['AKIABASE', 'ASIASTS1']);
  });

  it('a role that the profile assumes from the environment', async () => {
    const sts = await stsServer();
    const files = { '.aws/config': `[profile role]\nrole_arn = ${ROLE}\ncredential_source = Environment\n` };
    const ended = await chain({ env: { ...KEYS, AWS_ENDPOINT_URL_STS: sts.url }, files, options: { profile: 'role' } });
    expect(ended).toMatchObject(signed('ASIASTS1', 'ASIASTS1-token'));
    expect(signature(sts.requests[0])).toMatchObject({ accessKeyId: 'AKIAENV' });
  });

  it('a role that the profile assumes from a container’s', async () => {
    const sts = await stsServer();
    const container = await httpServer(() => metadata('ASIACONTAINER'));
    const files = { '.aws/config': `[profile role]\nrole_arn = ${ROLE}\ncredential_source = EcsContainer\n` };
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: container.url, AWS_ENDPOINT_URL_STS: sts.url };
    expect(await chain({ env, files, options: { profile: 'role' } })).toMatchObject(signed('ASIASTS1', 'ASIASTS1-token'));
    expect(signature(sts.requests[0])).toMatchObject({ accessKeyId: 'ASIACONTAINER', sessionToken: 'ASIACONTAINER-token' });
  });

  it('a web identity', async () => {
    const sts = await stsServer();
    const token = join(home({ token: 'a-token-of-the-cluster' }), 'token');
    const env = {
      AWS_ENDPOINT_URL_STS: sts.url,
      AWS_WEB_IDENTITY_TOKEN_FILE: token,
      AWS_ROLE_ARN: ROLE,
      AWS_ROLE_SESSION_NAME: 'pod',
    };
    expect(await chain({ env })).toMatchObject(signed('ASIASTS1', 'ASIASTS1-token'));
    expect(sts.requests).toHaveLength(1);
    expect(sts.requests[0].headers).not.toHaveProperty('authorization');
    expect(Object.fromEntries(new URLSearchParams(sts.requests[0].body))).toMatchObject({
      Action: 'AssumeRoleWithWebIdentity',
      RoleArn: ROLE,
      RoleSessionName: 'pod',
      WebIdentityToken: 'a-token-of-the-cluster',
    });
  });

  it('a container’s endpoint', async () => {
    const container = await httpServer(() => metadata('ASIACONTAINER'));
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${container.url}/v1/credentials?a=b`, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'Basic abc' };
    expect(await chain({ env })).toMatchObject(signed('ASIACONTAINER', 'ASIACONTAINER-token'));
    expect(container.requests).toMatchObject([{ method: 'GET', url: '/v1/credentials?a=b', headers: { authorization: 'Basic abc' } }]);
  });

  it('a pod’s endpoint, with a token in a file', async () => {
    const container = await httpServer(() => metadata('ASIAPOD'));
    const env = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${container.url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(home({ token: 'of-a-file' }), 'token'),
    };
    expect(await chain({ env })).toMatchObject(signed('ASIAPOD', 'ASIAPOD-token'));
    expect(container.requests).toMatchObject([{ headers: { authorization: 'of-a-file' } }]);
  });

  it('the instance’s metadata, version 2', async () => {
    const instance = await httpServer(({ method, url }) => {
      if (method === 'PUT') return [200, 'imds-token', { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' }];
      return url.endsWith('/security-credentials/') ? 'the-role' : metadata('ASIAINSTANCE');
    });
    const env = { AWS_EC2_METADATA_DISABLED: undefined, AWS_EC2_METADATA_SERVICE_ENDPOINT: instance.url };
    expect(await chain({ env })).toMatchObject(signed('ASIAINSTANCE', 'ASIAINSTANCE-token'));
    const asked = instance.requests.map(({ method, url, headers }) => [method, url, headers['x-aws-ec2-metadata-token']]);
    const path = '/latest/meta-data/iam/security-credentials/';
    expect(asked).toEqual([
      ['PUT', '/latest/api/token', undefined],
      ['GET', path, 'imds-token'],
      ['GET', `${path}the-role`, 'imds-token'],
    ]);
  });

  const portal = () =>
    httpServer(() =>
      JSON.stringify({
        roleCredentials: { accessKeyId: 'ASIASSO', secretAccessKey: 's', sessionToken: 'sso-token', expiration: Date.now() + 3_600_000 },
      }),
    );
  const cached = name => `.aws/sso/cache/${createHash('sha1').update(name).digest('hex')}.json`;
  const START = 'https://example.awsapps.com/start';
  const token = (more = {}) =>
    JSON.stringify({ startUrl: START, region: 'eu-central-1', accessToken: 'signed-in', expiresAt: inAnHour(), ...more });

  const of = 'sso_account_id = 123456789012\nsso_role_name = Developer\n';
  const IN_PROFILE = `[profile sso]\nsso_start_url = ${START}\nsso_region = eu-central-1\n${of}`;
  const OF_SESSION = `[sso-session corporate]\nsso_start_url = ${START}\nsso_region = eu-central-1\n[profile sso]\nsso_session = corporate\n${of}`;

  it.each([
    ['in the profile', IN_PROFILE, START],
    ['of a session', OF_SESSION, 'corporate'],
  ])('a single sign-on %s', async (_, profile, name) => {
    const sso = await portal();
    const files = { '.aws/config': profile, [cached(name)]: token() };
    const ended = await chain({ env: { AWS_ENDPOINT_URL_SSO: sso.url }, files, options: { profile: 'sso' } });
    expect(ended).toMatchObject(signed('ASIASSO', 'sso-token'));
    expect(sso.requests).toMatchObject([
      {
        url: '/federation/credentials?role_name=Developer&account_id=123456789012',
        headers: { 'x-amz-sso_bearer_token': 'signed-in' },
      },
    ]);
  });

  const expired = { expiresAt: '2020-01-01T00:00:00Z' };
  it.each([
    ['in the profile', IN_PROFILE, START, 1],
    ['of a session', OF_SESSION, 'corporate', 0],
  ])('no single sign-on %s that has expired', async (_, profile, name, asked) => {
    const sso = await httpServer(() => [401, JSON.stringify({ message: 'Session token not found or invalid' })]);
    const files = { '.aws/config': profile, [cached(name)]: token(expired) };
    const ended = await chain({ env: { AWS_ENDPOINT_URL_SSO: sso.url }, files, options: { profile: 'sso' } });
    expect(ended).toMatchObject({ code: 'CREDENTIALS_MISSING', mayHaveRun: false, requests: [] });
    expect(ended.message).not.toContain('signed-in');
    expect(sso.requests).toHaveLength(asked);
  });

  it('a single sign-on of a session that has expired, and is renewed', async () => {
    const sso = await portal();
    const oidc = await httpServer(() => JSON.stringify({ accessToken: 'renewed', expiresIn: 3600, tokenType: 'Bearer', refreshToken: 'next' }));
    const renewable = { ...expired, clientId: 'client', clientSecret: 'hushed', refreshToken: 'refresh', registrationExpiresAt: inAnHour() };
    const files = { '.aws/config': OF_SESSION, [cached('corporate')]: token(renewable) };
    const env = { AWS_ENDPOINT_URL_SSO: sso.url, AWS_ENDPOINT_URL_SSO_OIDC: oidc.url };
    expect(await chain({ env, files, options: { profile: 'sso' } })).toMatchObject(signed('ASIASSO', 'sso-token'));
    expect(JSON.parse(oidc.requests[0].body)).toMatchObject({ grantType: 'refresh_token', refreshToken: 'refresh' });
    expect(sso.requests).toMatchObject([{ headers: { 'x-amz-sso_bearer_token': 'renewed' } }]);
  });
});

describe('credentials that cannot be had', () => {
  const missing = { name: 'AgentCoreError', code: 'CREDENTIALS_MISSING', mayHaveRun: false, retryable: false, requests: [] };
  const refused = '<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>not for you</Message></Error></ErrorResponse>';
  const role = `[profile base]\naws_access_key_id = a\naws_secret_access_key = very-secret\n[profile role]\nrole_arn = ${ROLE}\nsource_profile = base\n`;

  it.each([
    ['none anywhere', {}, 'no AWS credentials were found'],
    ['half a pair', { env: { AWS_ACCESS_KEY_ID: 'AKIAHALF' } }, 'AWS_SECRET_ACCESS_KEY'],
    [
      'a process that fails',
      { options: { profile: 'tool' }, files: { '.aws/config': '[profile tool]\ncredential_process = sh -c "exit 3"\n' } },
      'could not be loaded',
    ],
    [
      'a web identity without its file',
      { env: { AWS_WEB_IDENTITY_TOKEN_FILE: '/nowhere/token', AWS_ROLE_ARN: ROLE, AWS_ENDPOINT_URL_STS: 'http://127.0.0.1:9' } },
      'could not be loaded',
    ],
    [
      'a container’s endpoint that is not local',
      { env: { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://192.0.2.1/credentials' } },
      'could not be loaded',
    ],
  ])('%s', async (_, given, why) => {
    const ended = await chain(given);
    expect(ended).toMatchObject(missing);
    expect(ended.message).toContain(why);
  });

  it('a profile that is not there', async () => {
    expect(await chain({ options: { profile: 'nobody' } })).toMatchObject(missing);
  });

  it('a profile that is not there, which is named', async () => {
    const { message } = await chain({ options: { profile: 'nobody' } });
    expect(message).toContain('nobody');
  });

  it('a profile that is not there, where a container has some', async () => {
    const container = await httpServer(() => metadata('ASIACONTAINER'));
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: container.url };
    expect(await chain({ env, options: { profile: 'nobody' } })).toMatchObject(missing);
  });

  it('a role that is refused', async () => {
    const sts = await httpServer(() => [403, refused]);
    const ended = await chain({ env: { AWS_ENDPOINT_URL_STS: sts.url }, files: { '.aws/config': role }, options: { profile: 'role' } });
    expect(ended).toMatchObject(missing);
    expect(ended.message).toContain('not for you');
    expect(ended.message).not.toContain('very-secret');
    expect(sts.requests).toHaveLength(1);
  });

  it('a role whose STS cannot be reached', async () => {
    const env = { AWS_ENDPOINT_URL_STS: 'http://127.0.0.1:9' };
    expect(await chain({ env, files: { '.aws/config': role }, options: { profile: 'role' } })).toMatchObject(missing);
  });

  it('a container’s endpoint that stumbles once is no such case', async () => {
    const container = await httpServer(({ number }) => (number === 1 ? [503, ''] : metadata('ASIACONTAINER')));
    const ended = await chain({ env: { AWS_CONTAINER_CREDENTIALS_FULL_URI: container.url } });
    expect(ended).toMatchObject(signed('ASIACONTAINER', 'ASIACONTAINER-token'));
    expect(container.requests).toHaveLength(2);
  });

  it('a role whose STS stumbles once is no such case', async () => {
    const sts = await httpServer(({ number }) => (number === 1 ? [503, ''] : stsAnswer('AssumeRole', 'ASIASECOND')));
    const ended = await chain({ env: { AWS_ENDPOINT_URL_STS: sts.url }, files: { '.aws/config': role }, options: { profile: 'role', maxAttempts: 3 } });
    expect(ended).toMatchObject(signed('ASIASECOND', 'ASIASECOND-token'));
  });
});

describe('the region comes from', () => {
  const bare = { agentRuntimeArn: 'agent-0123456789', accountId: '123456789012' };
  const files = { '.aws/config': '[default]\nregion = eu-west-1\n[profile north]\nregion = eu-north-1\n' };
  it.each([
    ['the ARN, before the environment', { env: { AWS_REGION: 'eu-west-2' } }, 'us-west-2'],
    ['AWS_REGION', { env: { AWS_REGION: 'eu-west-2' }, files, options: bare }, 'eu-west-2'],
    ['AWS_DEFAULT_REGION', { env: { AWS_DEFAULT_REGION: 'eu-west-3' }, files, options: bare }, 'eu-west-3'],
    ['the default profile', { files, options: bare }, 'eu-west-1'],
    ['the profile of AWS_PROFILE', { env: { AWS_PROFILE: 'north' }, files, options: bare }, 'eu-north-1'],
    ['the option profile', { files, options: { ...bare, profile: 'north' }, env: { AWS_REGION: undefined } }, 'eu-north-1'],
    ['the option region, before all', { env: { AWS_REGION: 'eu-west-2' }, files, options: { ...bare, region: 'ap-south-1' } }, 'ap-south-1'],
  ])('%s', async (_, { options, ...given }, region) => {
    const credentials = { accessKeyId: 'AKIAGIVEN', secretAccessKey: 's' };
    expect(await chain({ ...given, options: { ...options, credentials } })).toMatchObject({ success: true, region });
  });

  it('nowhere, and nothing is sent', async () => {
    const ended = await chain({ env: KEYS, options: bare });
    expect(ended).toMatchObject({ code: 'REGION_MISSING', mayHaveRun: false, requests: [] });
  });
});

describe('the address comes from', () => {
  const nowhere = 'http://127.0.0.1:9';
  const services = url => ({ '.aws/config': `[default]\nservices = mine\n[services mine]\nbedrock_agentcore =\n  endpoint_url = ${url}\n` });
  it.each([
    ['AWS_ENDPOINT_URL_BEDROCK_AGENTCORE', url => ({ env: { AWS_ENDPOINT_URL_BEDROCK_AGENTCORE: url } })],
    ['AWS_ENDPOINT_URL', url => ({ env: { AWS_ENDPOINT_URL: url } })],
    ['the service’s own, before AWS_ENDPOINT_URL', url => ({ env: { AWS_ENDPOINT_URL_BEDROCK_AGENTCORE: url, AWS_ENDPOINT_URL: nowhere } })],
    ['the profile', url => ({ files: { '.aws/config': `[default]\nendpoint_url = ${url}\n` } })],
    ['the option, before all', url => ({ options: { endpoint: url }, env: { AWS_ENDPOINT_URL_BEDROCK_AGENTCORE: nowhere } })],
    ['an address with a path', url => ({ env: { AWS_ENDPOINT_URL: `${url}/behind/a/gateway` } }), '/behind/a/gateway'],
  ])('%s', async (_, place, path = '') => {
    const server = await service();
    const { env, ...given } = place(server.endpoint);
    expect(await chain({ endpoint: false, env: { ...KEYS, ...env }, ...given })).toMatchObject({ success: true });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0].url).toBe(`${path}/runtimes/${encodeURIComponent(ARN)}/commands`);
    expect(signature(server.requests[0])).toMatchObject({ region: 'us-west-2', accessKeyId: 'AKIAENV' });
  });

  // The SDK looks for `bedrock-agentcore` there, AWS's documentation says `bedrock_agentcore`.
  it.fails('the profile’s services', async () => {
    const server = await service();
    expect(await chain({ endpoint: false, env: KEYS, files: services(server.endpoint) })).toMatchObject({ success: true });
  });

  it('nowhere else, where AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is set', async () => {
    const proxy = await connectProxy({ refuse: 403 });
    const env = { ...KEYS, AWS_ENDPOINT_URL: nowhere, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true', HTTPS_PROXY: proxy.url };
    expect(await chain({ endpoint: false, env })).toMatchObject({ code: 'PROXY_FAILED' });
    expect(proxy.tunnels).toMatchObject([{ target: 'bedrock-agentcore.us-west-2.amazonaws.com:443' }]);
  });
});

describe('without an address, the host is that of', () => {
  let authority;
  beforeAll(() => {
    authority = certificateAuthority();
  });
  afterAll(() => authority.remove());

  const fips = { AWS_USE_FIPS_ENDPOINT: 'true' };
  const dual = { AWS_USE_DUALSTACK_ENDPOINT: 'true' };
  it.each([
    ['the region', 'aws', 'us-west-2', {}, 'bedrock-agentcore.us-west-2.amazonaws.com'],
    ['another region', 'aws', 'eu-central-1', {}, 'bedrock-agentcore.eu-central-1.amazonaws.com'],
    ['a region that nobody has heard of', 'aws', 'eu-middle-9', {}, 'bedrock-agentcore.eu-middle-9.amazonaws.com'],
    ['China', 'aws-cn', 'cn-north-1', {}, 'bedrock-agentcore.cn-north-1.amazonaws.com.cn'],
    ['GovCloud', 'aws-us-gov', 'us-gov-west-1', {}, 'bedrock-agentcore.us-gov-west-1.amazonaws.com'],
    ['FIPS', 'aws', 'us-east-1', fips, 'bedrock-agentcore-fips.us-east-1.amazonaws.com'],
    ['dual stack', 'aws', 'us-east-1', dual, 'bedrock-agentcore.us-east-1.api.aws'],
    ['FIPS and dual stack', 'aws', 'us-east-1', { ...fips, ...dual }, 'bedrock-agentcore-fips.us-east-1.api.aws'],
    ['FIPS in GovCloud', 'aws-us-gov', 'us-gov-west-1', fips, 'bedrock-agentcore-fips.us-gov-west-1.amazonaws.com'],
    ['dual stack in China', 'aws-cn', 'cn-north-1', dual, 'bedrock-agentcore.cn-north-1.api.amazonwebservices.com.cn'],
  ])('%s', async (_, partition, region, variables, host) => {
    const server = await service({ tls: authority.issue([`DNS:${host}`]) });
    const proxy = await connectProxy({ to: server.port });
    const env = { ...KEYS, HTTPS_PROXY: proxy.url, AWS_CA_BUNDLE: authority.file, ...variables };
    const agentRuntimeArn = `arn:${partition}:bedrock-agentcore:${region}:123456789012:runtime/test-0123456789`;
    expect(await chain({ endpoint: false, env, options: { agentRuntimeArn } })).toMatchObject({ success: true });
    expect(proxy.tunnels).toMatchObject([{ target: `${host}:443` }]);
    expect(server.requests).toMatchObject([{ headers: { host } }]);
    expect(signature(server.requests[0])).toMatchObject({ region, signedFor: 'bedrock-agentcore' });
  });

  it('dual stack and FIPS of the profile', async () => {
    const proxy = await connectProxy({ refuse: 403 });
    const files = { '.aws/config': '[default]\nuse_fips_endpoint = true\nuse_dualstack_endpoint = true\n' };
    await chain({ endpoint: false, env: { ...KEYS, HTTPS_PROXY: proxy.url }, files });
    expect(proxy.tunnels).toMatchObject([{ target: 'bedrock-agentcore-fips.us-west-2.api.aws:443' }]);
  });
});

describe('a function of credentials', () => {
  const key = (n, expiration) => ({ accessKeyId: `AKIA${n}`, secretAccessKey: 's', sessionToken: `token-${n}`, expiration });
  const counted = expirationOf => {
    const ask = async () => {
      ask.calls += 1;
      await new Promise(resolve => setTimeout(resolve, 20));
      return key(ask.calls, expirationOf(ask.calls));
    };
    ask.calls = 0;
    return ask;
  };
  const later = ms => new Date(Date.now() + ms);
  const keys = server => server.requests.map(request => signature(request).accessKeyId);

  it('is asked once by twenty commands at once', async () => {
    const credentials = counted(() => later(3_600_000));
    const { sandbox, server } = await wireSandbox(answering(), { credentials });
    await Promise.all(Array.from({ length: 20 }, () => sandbox.executeCommand('true')));
    expect(credentials.calls).toBe(1);
    expect(new Set(keys(server))).toEqual(new Set(['AKIA1']));
    expect(server.requests).toHaveLength(20);
  });

  it.each([
    ['a Date', date => date],
    ['a text', date => date.toISOString()],
    ['a number', date => date.getTime()],
  ])('is asked again before its credentials expire, which %s says', async (_, write) => {
    const credentials = counted(call => write(later(call < 3 ? 4_000 : 3_600_000)));
    const { sandbox, server } = await wireSandbox(answering(), { credentials });
    for (let n = 0; n < 5; n += 1) await sandbox.executeCommand('true');
    expect(keys(server)).toEqual(['AKIA1', 'AKIA2', 'AKIA3', 'AKIA3', 'AKIA3']);
    expect(server.requests[1].headers['x-amz-security-token']).toBe('token-2');
  });

  it('is asked once, where nothing says when its credentials expire', async () => {
    const credentials = counted(() => undefined);
    const { sandbox, server } = await wireSandbox(answering(), { credentials });
    for (let n = 0; n < 3; n += 1) await sandbox.executeCommand('true');
    expect(keys(server)).toEqual(['AKIA1', 'AKIA1', 'AKIA1']);
  });

  it('is asked again after it threw, and what it threw is said', async () => {
    let calls = 0;
    const credentials = async () => {
      calls += 1;
      if (calls === 1) throw new Error('the vault is closed');
      return key(calls);
    };
    const { sandbox, server } = await wireSandbox(answering(), { credentials });
    const error = await sandbox.executeCommand('true').catch(thrown => thrown);
    expect(error).toMatchObject({ code: 'CREDENTIALS_MISSING', mayHaveRun: false });
    expect(error.message).toContain('the vault is closed');
    expect(await sandbox.executeCommand('true')).toMatchObject({ success: true });
    expect(keys(server)).toEqual(['AKIA2']);
  });

  it('serves fifty sandboxes, whose thousand commands reuse their connections', async () => {
    const AT_ONCE = 50;
    const credentials = counted(() => later(3_600_000));
    const { sandbox, server } = await wireSandbox(answering(), { credentials });
    const { agentRuntimeArn } = sandbox;
    const sandboxes = Array.from(
      { length: 50 },
      () => new AgentCoreRuntimeSandbox({ agentRuntimeArn, endpoint: server.endpoint, credentials }),
    );
    const commands = Array.from({ length: 20 }, () => sandboxes).flat();
    let successes = 0;
    const worker = async () => {
      for (let next = commands.pop(); next; next = commands.pop()) {
        const { success } = await next.executeCommand('true');
        successes += Number(success);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(successes).toBe(1000);
    expect(server.requests).toHaveLength(1000);
    expect(credentials.calls).toBe(1);
    // A connection comes back a moment after its command's end: a busy machine makes some more.
    expect(server.connections()).toBeLessThan(4 * AT_ONCE);
    expect(new Set(server.requests.map(({ headers }) => headers['x-amzn-bedrock-agentcore-runtime-session-id'])).size).toBe(50);
  });
});

it('requests say whose they are', async () => {
  const { sandbox, server } = await wireSandbox(answering());
  await sandbox.executeCommand('true');
  await sandbox.stopRuntimeSession();
  expect(server.requests).toHaveLength(2);
  for (const { headers } of server.requests) {
    expect(headers['user-agent'].split(' ')).toContain(`app/mastra-agentcore-${version}`);
  }
});
