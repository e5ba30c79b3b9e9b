import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/npm.mjs';

/* The help of the nodes, as pages. The help is written once, for the sidebar of the editor. */

const read = (...path) => readFileSync(join(root, ...path), 'utf8');

/** The names of the nodes, in the order of the palette. */
export const nodeNames = () => Object.keys(JSON.parse(read('package.json'))['node-red'].nodes);

/** The word of the palette for a node. */
export const nodeLabel = (name, language) =>
  JSON.parse(read('nodes', name, 'locales', `${language}.json`)).paletteLabel;

/** A property as Node-RED's help writes it: `: payload (string) : text`; in italics if it is optional. */
const PROPERTY = /^: (_?)(.+?)\1 \((.+?)\) : /gm;

/** The page of a node, as Markdown whose links are those of its file. */
export function helpPage(name, language) {
  const isChinese = language === 'zh-CN';
  const help = read('nodes', name, 'locales', `${language}.md`)
    .replaceAll('\r\n', '\n')
    .replace(PROPERTY, (_all, optional, property, type) => {
      const also = optional ? (isChinese ? '，可选' : ', optional') : '';
      return `- \`${property}\` (${type}${also}): `;
    })
    // The page has the title: its parts are one level higher than in the sidebar.
    .replace(/^#(#{2,3} )/gm, '$1');
  return `# ${nodeLabel(name, language)}\n\n\`device-cloud-${name}\`\n\n${help}`;
}
