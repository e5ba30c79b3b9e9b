import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../../scripts/npm.mjs';
import { helpPage, nodeLabel } from './help.mjs';

/*
 * `llms.txt`: all nodes with their properties and messages on one page, for programs that write flows. It is made from
 * docs/site/llms.md, the built `x.config.js`, the comments of the sources and the English helps.
 */

const require = createRequire(import.meta.url);
const read = (path) => readFileSync(join(root, path), 'utf8');

/** What the comments before the properties of a file say. */
function commentsOf(path) {
  const found = read(path).matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n +(\w+):/g);
  return new Map(
    [...found].map(([, text, name]) => [name, text.replace(/\s*\n\s*\* ?/g, ' ').trim()]),
  );
}

function properties(node) {
  const { DEFAULTS, CHOICES = {} } = require(join(root, `dist/nodes/${node}/${node}.config.js`));
  const own = commentsOf(`nodes/${node}/${node}.config.ts`);
  const shared = commentsOf('nodes/common/shared.config.ts');
  return Object.entries(DEFAULTS).map(([name, value]) => {
    const words = CHOICES[name]?.map((word) => `\`${word}\``).join(', ');
    const text = own.get(name) ?? shared.get(name) ?? '';
    const says = [words && `One of ${words}.`, text].filter(Boolean).join(' ');
    return `- \`${name}\`, default \`${JSON.stringify(value)}\`${says ? `: ${says}` : ''}\n`;
  });
}

/** The help as a part of the page: without its examples, and without addresses of links. */
const help = (node) =>
  helpPage(node, 'en-US')
    .replace(/\n## References\n[\s\S]*$/, '\n')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^#.*\n+/, '')
    .replace(/^#/gm, '##')
    .trim();

/** @param nodes the names of the nodes, in their order */
export const llmsText = (nodes) =>
  [
    read('docs/site/llms.md'),
    ...nodes.map(
      (node) =>
        `\n## ${nodeLabel(node, 'en-US')}\n\n${help(node)}\n\n### Properties\n\n${properties(node).join('')}`,
    ),
  ].join('');
