import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatFile, root } from './npm.mjs';
import { fail } from './setup.mjs';

/*
 * `npm run tables` writes the tables of nodes in the README and of examples in docs/use/examples.md, each also in Chinese. What
 * a node does is the `summary` of its texts; what an example shows is the description of its tab, in both languages.
 */

const read = (path) => readFileSync(join(root, path), 'utf8');
const nodes = Object.keys(JSON.parse(read('package.json'))['node-red'].nodes);
const examples = readdirSync(join(root, 'examples'))
  .sort()
  .map((file) => ({ name: file.replace('.json', ''), flow: JSON.parse(read(`examples/${file}`)) }));
const isConfiguration = (node) => !read(`nodes/${node}/${node}.html`).includes('<!-- app-row -->');

const row = (...cells) => `| ${cells.join(' | ')} |\n`;

/** In the order of the palette, and those that configure others last. */
const nodeRows = (language) =>
  [...nodes.filter((node) => !isConfiguration(node)), ...nodes.filter(isConfiguration)].map(
    (node) => {
      const { summary } = JSON.parse(read(`nodes/${node}/locales/${language}.json`));
      return row(`\`device-cloud-${node}\``, summary);
    },
  );

function exampleRow({ name, flow }, paragraph, comma) {
  const { info } = flow.find(({ type }) => type === 'tab');
  const text = info.split('\n\n')[paragraph];
  if (!text) throw new Error(`${name}: its tab has no description in each language.`);
  const used = nodes.filter((node) => flow.some(({ type }) => type === `device-cloud-${node}`));
  const names = used.filter((node) => node !== 'app').map((node) => `\`${node}\``);
  return row(name, text.replaceAll('\n', ' '), names.join(comma));
}
const exampleRows = (paragraph, comma) =>
  examples.map((each) => exampleRow(each, paragraph, comma));

/** Puts rows in place of the ones between the head of a table and the text after it. */
function write(page, head, rows) {
  const text = read(page);
  const table = new RegExp(`(^\\| ${head}.*\\n\\|[ |-]*\\n)(?:\\|.*\\n)*`, 'm');
  if (!table.test(text)) throw new Error(`${page} has no table that begins with "${head}".`);
  writeFileSync(
    join(root, page),
    text.replace(table, (_, first) => first + rows.join('')),
  );
  formatFile(join(root, page));
}

try {
  write('README.md', 'node', nodeRows('en-US'));
  write('README.zh-CN.md', '节点', nodeRows('zh-CN'));
  write('docs/use/examples.md', 'example', exampleRows(0, ', '));
  write('docs/use/examples.zh-CN.md', '示例', exampleRows(1, '、'));
} catch (error) {
  fail(error);
}
