/** What is said when the addon cannot be loaded. Read only then. */
'use strict';

// As in package.json and npm/; a test compares them.
const SUPPORTED = [
  'linux-x64-gnu',
  'linux-arm64-gnu',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'win32-x64-msvc',
];

/** The C library: what it is called in a package's name, and to people. */
function libc() {
  if (process.platform === 'win32') return { suffix: '-msvc' };
  if (process.platform !== 'linux') return { suffix: '' };
  const report = /** @type {any} */ (process.report);
  report.excludeNetwork = true;
  const { header, sharedObjects } = report.getReport();
  const glibc = header.glibcVersionRuntime;
  if (glibc) return { suffix: '-gnu', shown: `glibc ${glibc}` };
  const musl = sharedObjects.some(file => /libc\.musl-|ld-musl-/.test(file));
  return musl ? { suffix: '-musl', shown: 'musl' } : { suffix: '-gnu', shown: 'an unknown C library' };
}

/** The generated loader's reasons, in its order, without those about WebAssembly. */
function reasons(error) {
  const found = [];
  for (let each = error.cause ?? error; each instanceof Error; each = each.cause) {
    const [line] = String(each.message).split('\n', 1);
    if (!/wasi|wasm/i.test(line)) found.unshift(line);
  }
  return found;
}

/**
 * @param {Error} error what the generated loader threw
 * @returns {Error & { code: string }}
 */
module.exports = function loadError(error) {
  const { suffix, shown } = libc();
  const platform = `${process.platform}-${process.arch}${suffix}`;
  const machine = [`${process.platform} ${process.arch}`, shown, `Node.js ${process.version}`];
  // An ES module made by a bundler has no __dirname.
  const directory = typeof __dirname === 'undefined' ? "the bundle's directory" : __dirname;
  const override = process.env.NAPI_RS_NATIVE_LIBRARY_PATH;
  const lines = [
    'mastra-agentcore: the native addon could not be loaded.',
    `  platform:   ${machine.filter(Boolean).join(', ')}`,
    override
      ? `  looked for: ${override} (NAPI_RS_NATIVE_LIBRARY_PATH)`
      : `  looked for: mastra-agentcore.${platform}.node in ${directory}, and the package mastra-agentcore-${platform}`,
    ...reasons(error).map(reason => `  because:    ${reason}`),
  ];
  if (override) {
    lines.push('Correct NAPI_RS_NATIVE_LIBRARY_PATH, or unset it to use the installed package.');
  } else if (SUPPORTED.includes(platform)) {
    lines.push(
      'Install again on this platform, with optional dependencies: remove node_modules and, if it was',
      'made on another platform, the lock file; then `npm install --include=optional`. For a bundler,',
      'mastra-agentcore is external.',
    );
  } else {
    lines.push(`There is no package for this platform. Supported are ${SUPPORTED.join(', ')}.`);
  }
  lines.push('Or build it from source, with Rust: `npm run build` in a clone.');
  return Object.assign(new Error(lines.join('\n'), { cause: error }), { code: 'ADDON_NOT_LOADED' });
};
