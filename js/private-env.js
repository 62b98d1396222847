/**
 * The option `privateEnv`: values of variables that stand in no command's text. The session makes
 * a key pair; values are encrypted for it (AES-256-CTR under a fresh key, that with RSA-OAEP), so
 * that what the service may record of a command holds only what the session itself can read.
 *
 * Needs `openssl` in the image.
 */
import { constants, createCipheriv, createHash, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import binding from './addon.js';

/** @type {import('./binding.cjs').BindingError} */
const OPENSSL_MISSING = {
  name: 'ToolMissing',
  code: 'TOOL_MISSING',
  message:
    "privateEnv needs openssl in the session's image, and there is none: install the tool that is named in the image, or leave privateEnv out",
  retryable: false,
  mayHaveRun: false,
};

/** Fresh for each message, so that the counter may start from zero. */
const ZERO = Buffer.alloc(16);

export class PrivateEnv {
  #keyFile;
  /** @type {Promise<import('node:crypto').KeyObject> | undefined} */
  #publicKey;

  /** @param {string} runtimeSessionId */
  constructor(runtimeSessionId) {
    const name = createHash('sha256').update(runtimeSessionId).digest('hex').slice(0, 32);
    this.#keyFile = `.mastra-agentcore-key-${name}`;
  }

  /**
   * Encrypts for the session.
   *
   * @param {[string, string][]} hidden
   * @param {import('./engine.js').Engine} engine
   */
  async seal(hidden, engine) {
    const publicKey = await this.#key(engine);
    const key = randomBytes(32);
    const cipher = createCipheriv('aes-256-ctr', key, ZERO);
    const text = Buffer.concat([cipher.update(words(hidden)), cipher.final()]);
    const wrapped = publicEncrypt(
      { key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
      Buffer.from(key.toString('hex')),
    );
    return {
      names: hidden.map(([name]) => name),
      keyFile: this.#keyFile,
      key: wrapped.toString('base64'),
      words: text.toString('base64'),
      failed: `mastra-agentcore-private-unreadable-${binding.randomUuid()}`,
    };
  }

  /** The session has another key: ask for it again. */
  forget() {
    this.#publicKey = undefined;
  }

  /** All commands wait for one: no single one's signal ends it. */
  #key(engine) {
    const key = (this.#publicKey ??= this.#ask(engine));
    // One that failed is not kept.
    key.catch(() => {
      if (this.#publicKey === key) this.#publicKey = undefined;
    });
    return key;
  }

  async #ask(engine) {
    const file = `"\${TMPDIR:-/tmp}/${this.#keyFile}"`;
    const result = await engine.script(
      `command -v openssl >/dev/null || exit 3
umask 077
[ -s ${file} ] || {
  openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out ${file}.$$ 2>/dev/null || exit 4
  ln ${file}.$$ ${file} 2>/dev/null
  rm -f ${file}.$$
}
openssl pkey -in ${file} -pubout`,
      { idempotent: true },
    );
    if (result.exitCode === 3) throw engine.failure(OPENSSL_MISSING);
    if (result.exitCode !== 0) {
      throw engine.failure({
        ...OPENSSL_MISSING,
        message: `privateEnv: the session could not make a key (exit code ${result.exitCode}): ${result.stderr.trim()}`,
      });
    }
    return createPublicKey(result.stdout);
  }
}

/** Quoted words for the session's shell. @param {[string, string][]} hidden */
function words(hidden) {
  return hidden.map(([name, value]) => binding.quote(`${name}=${value}`)).join(' ');
}
