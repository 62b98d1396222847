/**
 * `npm run docs:api`: writes docs/api.md from the published declarations. With `--check`,
 * writes nothing and fails if the page is not what would be written.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const PAGE = 'docs/api.md';
const ENTRIES = [
  ['mastra-agentcore', 'index.d.ts'],
  ['mastra-agentcore/native', 'native.d.ts'],
  ['mastra-agentcore/local', 'local.d.ts'],
];

/** The page, as text. */
export function apiPage() {
  const sections = ENTRIES.map(([name, file]) => section(name, file));
  return [
    '# API',
    '<!-- Written by `npm run docs:api` from the .d.ts files. Do not edit. -->',
    'All exports with their types, as the `.d.ts` files declare them. What the options mean in' +
      ' use is in [Options](options.md).',
    ...sections.flat(),
  ].join('\n\n').concat('\n');
}

/**
 * @param {string} name what users import
 * @param {string} file its declarations
 */
function section(name, file) {
  const source = ts.createSourceFile(file, readFileSync(`${root}${file}`, 'utf8'), ts.ScriptTarget.ES2022, true);
  const intro = lead(source);
  const parts = [`## ${name}`, ...(intro ? [intro] : [])];
  const passedOn = [];
  for (const statement of source.statements) {
    if (ts.isExportDeclaration(statement)) passedOn.push(statement);
    else if (isExported(statement)) parts.push(...declaration(statement, source));
  }
  const again = passedOn.flatMap(statement => exportedAgain(statement));
  if (again.length > 0) parts.push('### Also exported here', again.join('\n'));
  return parts;
}

/** The comment that opens a file. */
function lead(source) {
  const [comment] = ts.getLeadingCommentRanges(source.text, 0) ?? [];
  return comment ? plain(source.text.slice(comment.pos, comment.end)) : '';
}

/** @param {ts.Statement} statement */
function isExported(statement) {
  return ts.canHaveModifiers(statement)
    ? Boolean(ts.getModifiers(statement)?.some(each => each.kind === ts.SyntaxKind.ExportKeyword))
    : false;
}

/** One declaration: its own comment as prose, its text as code, members with their comments. */
function declaration(statement, source) {
  const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations[0] : statement;
  const doc = ts.getJSDocCommentsAndTags(statement).find(ts.isJSDoc);
  const prose = doc ? plain(doc.getText(source)) : '';
  const code = statement.getText(source).replace(/^export (declare )?/, '');
  return [`### ${declared.name.getText(source)}`, ...(prose ? [prose] : []), `\`\`\`typescript\n${code}\n\`\`\``];
}

/** @param {ts.ExportDeclaration} statement */
function exportedAgain(statement) {
  const from = statement.moduleSpecifier?.getText().slice(1, -1);
  const home = ENTRIES.find(([, file]) => `./${file.replace('.d.ts', '.js')}` === from)?.[0];
  return statement.exportClause.elements.map(({ name }) =>
    home ? `- \`${name.text}\`: see [${home}](#${slug(home)})` : `- \`${name.text}\`, of \`@mastra/core/workspace\``,
  );
}

/** A heading's anchor, as GitHub makes it. */
function slug(heading) {
  return heading.toLowerCase().replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-');
}

/** A doc comment as Markdown: no stars; a `@throws` in a line of its own. */
function plain(comment) {
  const text = comment
    .replace(/^\/\*\*?/, '')
    .replace(/\*\/$/, '')
    .split('\n')
    .map(line => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
  return text
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .replaceAll(/^@throws (.+(?:\n(?!@).+)*)/gm, '- Throws: $1');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = apiPage();
  if (!process.argv.includes('--check')) {
    writeFileSync(`${root}${PAGE}`, page);
  } else if (readFileSync(`${root}${PAGE}`, 'utf8') !== page) {
    console.error(`${PAGE} is not what the .d.ts files say: run npm run docs:api`);
    process.exitCode = 1;
  }
}
