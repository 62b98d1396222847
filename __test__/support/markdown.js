/** Pages of Markdown, taken apart: fenced blocks with the comment above them, headings, links. */

/**
 * @param {string} text a page
 */
export function parse(text) {
  const blocks = [];
  const prose = [];
  let block;
  let note;
  for (const [index, line] of text.split('\n').entries()) {
    if (block) {
      if (line.trim() === block.fence) {
        blocks.push({ ...block, code: block.lines.join('\n') });
        block = undefined;
      } else {
        block.lines.push(line);
      }
      continue;
    }
    const opening = /^(`{3,})(\S*)/.exec(line);
    if (opening) {
      block = { fence: opening[1], language: opening[2], line: index + 1, note, lines: [] };
      note = undefined;
      continue;
    }
    const comment = /^<!-- (.+) -->$/.exec(line);
    if (comment) note = comment[1];
    else if (line.trim() !== '') note = undefined;
    prose.push(line);
  }
  if (block) throw new Error(`the block of line ${block.line} has no end`);
  return { blocks, anchors: anchors(prose), links: links(prose) };
}

/** Headings' anchors, as GitHub makes them: a repeated one is numbered. */
function anchors(prose) {
  const found = new Map();
  const all = new Set();
  for (const line of prose) {
    const heading = /^#{1,6} (.+)$/.exec(line)?.[1];
    if (!heading) continue;
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const count = found.get(slug) ?? 0;
    found.set(slug, count + 1);
    all.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return all;
}

/** Targets of links, but for those inside code. */
function links(prose) {
  const text = prose.join('\n').replaceAll(/`[^`\n]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target);
}
