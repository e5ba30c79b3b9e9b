import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../tooling/repository';
import { examples } from '../e2e/examples/files';
import { NODES, read } from './support/catalogues';

const manifest = JSON.parse(read('package.json')) as {
  'node-red': { nodes: object };
};
const named = Object.keys(manifest['node-red'].nodes);
const isAction = (name: string): boolean => !['app', 'type', 'cluster'].includes(name);

/** Whether a page has a row that begins with a text. */
const hasRow = (page: string, first: string): boolean => read(page).includes(`\n| ${first} `);

/** The parts of a node that no build and no other test would miss. */
describe('each node has all that CONTRIBUTING asks for', () => {
  it('has a folder if package.json names it', () => {
    assert.deepEqual(
      named.filter((name) => !NODES.includes(name)),
      [],
    );
  });

  for (const name of NODES) {
    it(`${name}: its files, its rows as \`npm run tables\` writes them, its entries`, () => {
      const folder = `nodes/${name}`;
      const missing = [
        ...['.runtime.ts', '.config.ts', '.editor.ts', '.html'].map(
          (end) => `${folder}/${name}${end}`,
        ),
        ...['en-US', 'zh-CN'].flatMap((language) =>
          ['json', 'md'].map((end) => `${folder}/locales/${language}.${end}`),
        ),
        `icons/device-cloud-${name}.svg`,
        `test/nodes/${name}.test.ts`,
      ].filter((path) => !existsSync(join(repository, path)));
      if (!named.includes(name)) missing.push('package.json: its line in node-red.nodes');
      for (const readme of ['README.md', 'README.zh-CN.md'])
        if (!hasRow(readme, `\`device-cloud-${name}\``)) missing.push(`${readme}: its row`);
      if (!read('docs/README.md').includes(`(../nodes/${name}/locales/en-US.md)`))
        missing.push('docs/README.md: the way to its help');
      const path = 'test/tooling/node-red/nodes.ts';
      const entries = read(path).match(new RegExp(`^ {2}'?${name}'?: (?:\\{|[A-Z_]+,)`, 'gm'));
      if (isAction(name) && entries?.length !== 2)
        missing.push(`${path}: its defaults, its sample`);
      assert.deepEqual(missing, []);
    });
  }

  it('so has each example, its rows, as `npm run tables` writes them', () => {
    for (const { name } of examples) {
      for (const page of ['docs/use/recipes.md', 'docs/use/recipes.zh-CN.md'])
        assert.ok(hasRow(page, name), `${page}: ${name}`);
    }
  });
});
