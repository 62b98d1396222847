/** Certificates of a test's own, made by the `openssl` command while it runs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const CONFIG = `
[req]
distinguished_name = name
prompt = no
x509_extensions = authority
[name]
CN = a test
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[ca]
default_ca = own
[own]
database = index
serial = serial
new_certs_dir = .
certificate = authority.pem
private_key = authority.key
default_md = sha256
default_days = 2
unique_subject = no
policy = any
[any]
commonName = supplied
`;
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-config', 'config'];

/** A certificate authority: `file` is its certificate, `issue` signs those of servers. */
export function certificateAuthority() {
  const folder = mkdtempSync(join(tmpdir(), 'authority-'));
  const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  writeFileSync(join(folder, 'config'), CONFIG);
  writeFileSync(join(folder, 'index'), '');
  writeFileSync(join(folder, 'serial'), '1000\n');
  openssl('req', '-x509', ...KEY, '-days', '2', '-keyout', 'authority.key', '-out', 'authority.pem');
  let issued = 0;
  return {
    folder,
    file: join(folder, 'authority.pem'),
    /**
     * @param {string[]} names such as `DNS:localhost`
     * @param {string[]} [validity] of `openssl ca`
     */
    issue(names = ['DNS:localhost', 'IP:127.0.0.1'], validity = []) {
      const name = `server-${(issued += 1)}`;
      const extensions = `subjectAltName = ${names}\nbasicConstraints = CA:FALSE\nauthorityKeyIdentifier = keyid\n`;
      writeFileSync(join(folder, 'extensions'), extensions);
      openssl('req', '-new', ...KEY, '-keyout', `${name}.key`, '-out', `${name}.csr`);
      const files = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', 'extensions'];
      openssl('ca', '-batch', '-notext', '-config', 'config', ...files, ...validity);
      return {
        key: readFileSync(join(folder, `${name}.key`)),
        cert: readFileSync(join(folder, `${name}.pem`)),
      };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
