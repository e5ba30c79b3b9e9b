import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { llmsText } from '../docs/site/llms.mjs';
import { root, run } from './npm.mjs';
import { fail } from './setup.mjs';

/*
 * `npm run tables` writes the tables of nodes in the README and of examples in docs/use/recipes.md, each also in Chinese, and
 * the links to the nodes' helps in docs/README.md and, for programs, `llms.txt`. What a node does is the `summary` of its texts; what an example shows is the
 * description of its tab, in both languages.
 */

const read = (path) => readFileSync(join(root, path), 'utf8');
const nodes = Object.keys(JSON.parse(read('package.json'))['node-red'].nodes);
const isConfiguration = (node) => !read(`nodes/${node}/${node}.html`).includes('<!-- app-row -->');

const row = (...cells) => `| ${cells.join(' | ')} |\n`;

/** In the order of the palette, and those that configure others last. */
const inOrder = [
  ...nodes.filter((node) => !isConfiguration(node)),
  ...nodes.filter(isConfiguration),
];

const nodeRows = (language) =>
  inOrder.map((node) => {
    const { summary } = JSON.parse(read(`nodes/${node}/locales/${language}.json`));
    return row(`\`device-cloud-${node}\``, summary);
  });

/** The examples in the order of the import menu, whose folders begin with a number for that. */
const examples = readdirSync(join(root, 'examples'), { recursive: true })
  .filter((path) => path.endsWith('.json'))
  .sort((a, b) => a.localeCompare(b))
  .map((path) => ({
    title: dirname(path).replace(/^\d+ /, ''),
    name: basename(path, '.json'),
    flow: JSON.parse(read(join('examples', path))),
  }));

/** A sentence with more words than this ends at its first comma or colon after six words. */
const MOST_WORDS = 15;
const SIX_WORDS = /^((?:\S+ ){5,}?\S+)[,:] .*$/;

const shorten = (sentence) =>
  sentence.split(' ').length > MOST_WORDS ? sentence.replace(SIX_WORDS, '$1.') : sentence;

/** The first sentence of a description, and what the example needs: its tab has the rest. */
function brief(text) {
  const [first, ...others] = text.replaceAll('\n', ' ').split(/(?<=\.) |(?<=。)/);
  return [shorten(first), ...others.filter((sentence) => /^(It needs|需要)/.test(sentence))];
}

function exampleRow({ name, flow }, paragraph, between) {
  const { info } = flow.find(({ type }) => type === 'tab');
  const text = info.split('\n\n')[paragraph];
  if (!text) throw new Error(`${name}: its tab has no description in each language.`);
  return row(name, brief(text).join(between));
}

/** A table for each folder of the import menu, which is what its first column is called. */
function writeExamples(page, paragraph, between) {
  for (const title of new Set(examples.map((each) => each.title))) {
    const rows = examples.filter((each) => each.title === title);
    write(
      page,
      title,
      rows.map((each) => exampleRow(each, paragraph, between)),
    );
  }
}

/** The helps of the nodes as pages, by what the palette calls them. */
const helpLinks = () =>
  inOrder.map((node) => {
    const { paletteLabel } = JSON.parse(read(`nodes/${node}/locales/en-US.json`));
    return `[${paletteLabel}](../nodes/${node}/locales/en-US.md)`;
  });

/** Puts a text in place of the one that the pattern finds after its first group. */
function put(page, pattern, text) {
  const old = read(page);
  if (!pattern.test(old)) throw new Error(`${page} has nothing like ${pattern}.`);
  writeFileSync(
    join(root, page),
    old.replace(pattern, (_, first) => first + text),
  );
  run(process.execPath, ['node_modules/oxfmt/bin/oxfmt', page]);
}

/** Puts rows in place of the ones between the head of a table and the text after it. */
const write = (page, head, rows) =>
  put(page, new RegExp(`(^\\| ${head}.*\\n\\|[ |-]*\\n)(?:\\|.*\\n)*`, 'm'), rows.join(''));

try {
  write('README.md', 'node', nodeRows('en-US'));
  write('README.zh-CN.md', '节点', nodeRows('zh-CN'));
  put('docs/README.md', /(here it is as pages:\n)(?:\[.*\n)*/, `${helpLinks().join(',\n')}.\n`);
  writeExamples('docs/use/recipes.md', 0, ' ');
  writeExamples('docs/use/recipes.zh-CN.md', 1, '');
  writeFileSync(join(root, 'llms.txt'), llmsText(inOrder));
} catch (error) {
  fail(error);
}
