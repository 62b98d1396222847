/**
 * What the session's image has: asked once, because minimal images have neither base64 nor gzip.
 * And how bytes are made text and back with it.
 */

const PROBE = `for t in base64 cat chmod dd gzip ln mkdir mkfifo mv od openssl readlink rm sha256sum tail tr wc; do
  command -v $t >/dev/null 2>&1 && echo $t
done
[ "$(echo aGk= | base64 -d 2>/dev/null)" = hi ] && echo base64-decodes
[ "$(printf 123456789 | base64 -w 4 2>/dev/null | wc -l)" -ge 2 ] && echo base64-wraps
sleep 0.01 2>/dev/null && echo sleeps-briefly
exit 0`;

/** @type {WeakMap<object, Promise<Tools>>} */
const known = new WeakMap();

/**
 * @param {import('./engine.js').Engine} engine
 * @returns {Promise<Tools>}
 */
export function toolsOf(engine) {
  let tools = known.get(engine);
  if (!tools) {
    tools = probe(engine);
    known.set(engine, tools);
    // One that failed is not kept.
    tools.catch(() => known.delete(engine));
  }
  return tools;
}

async function probe(engine) {
  const { stdout, exitCode, stderr } = await engine.script(PROBE, { idempotent: true });
  if (exitCode !== 0) {
    throw engine.failure({
      name: 'ToolMissing',
      code: 'TOOL_MISSING',
      message: `the session's shell could not look for its tools (exit code ${exitCode}): ${stderr.trim()}`,
      retryable: false,
      mayHaveRun: false,
    });
  }
  return new Tools(engine, new Set(stdout.split('\n')));
}

export class Tools {
  #engine;
  #names;

  /**
   * @param {import('./engine.js').Engine} engine
   * @param {Set<string>} names
   */
  constructor(engine, names) {
    this.#engine = engine;
    this.#names = names;
  }

  /** @param {string} name */
  has(name) {
    return this.#names.has(name);
  }

  /**
   * Refuses what cannot work without these.
   *
   * @param {string} what needs them
   * @param {string[]} names
   */
  need(what, ...names) {
    const missing = names.filter(name => !this.has(name));
    if (missing.length === 0) return;
    throw this.#engine.failure({
      name: 'ToolMissing',
      code: 'TOOL_MISSING',
      message: `${what} needs ${missing.join(', ')} in the session's image: install the tool that is named in the image`,
      retryable: false,
      mayHaveRun: false,
    });
  }

  /** How many bytes go into one command. */
  get chunk() {
    return this.#decoder === 'octal' ? 12_000 : 48_000;
  }

  get #decoder() {
    if (this.has('base64-decodes')) return 'base64 -d';
    return this.has('openssl') ? 'openssl base64 -d -A' : 'octal';
  }

  /**
   * The command that prints `bytes`.
   *
   * @param {Buffer} bytes
   */
  print(bytes) {
    if (this.#decoder !== 'octal') return `echo ${bytes.toString('base64')} | ${this.#decoder}`;
    let text = '';
    for (const byte of bytes) text += `\\${byte.toString(8).padStart(3, '0')}`;
    return `printf "${text}"`;
  }

  /** The filter that makes lines of text of bytes, each of which `decode` takes alone. */
  get encoder() {
    if (this.has('base64-wraps')) return 'base64 -w 49152';
    if (this.has('base64')) return 'base64';
    return this.has('openssl') ? 'openssl base64' : 'od -An -v -tx1';
  }

  /** The filter that makes one line. */
  get lineEncoder() {
    if (this.has('base64-wraps')) return 'base64 -w 0';
    return this.has('openssl') && !this.has('base64') ? 'openssl base64 -A' : `${this.encoder} | tr -d " \\n"`;
  }

  /** @param {string} line of the encoder */
  decode(line) {
    const hexadecimal = !this.has('base64') && !this.has('openssl');
    return hexadecimal ? Buffer.from(line.replaceAll(' ', ''), 'hex') : Buffer.from(line, 'base64');
  }
}

/** Makes lines of the pieces that a callback is given. */
export class LineSplitter {
  #rest = '';
  #onLine;

  /** @param {(line: string) => void} onLine */
  constructor(onLine) {
    this.#onLine = onLine;
  }

  /** @param {string} text */
  push(text) {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#onLine(line);
  }

  /** What broke off counts for nothing. */
  reset() {
    this.#rest = '';
  }
}
