import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../tooling/repository';
import { examples } from '../e2e/examples/files';

const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  'node-red': { nodes: object; plugins: object };
};
const nodes = Object.keys(manifest['node-red'].nodes);
const isAction = (name: string): boolean => !['app', 'type', 'cluster'].includes(name);

/** Whether a page has a row that begins with a text. */
const hasRow = (page: string, first: string): boolean => read(page).includes(`\n| ${first} `);

/** The parts of a node that no build and no other test would miss. */
describe('each node has all that CONTRIBUTING asks for', () => {
  it('is in package.json if it has a folder, and the other way round', () => {
    const folders = readdirSync(join(repository, 'nodes')).filter(
      (name) => !['common', 'tsconfig.json'].includes(name),
    );
    const plugins = Object.keys(manifest['node-red'].plugins);
    assert.deepEqual(folders.sort(), [...nodes, ...plugins].sort());
  });

  for (const name of nodes) {
    it(`${name}: its files, its icon, its test`, () => {
      const folder = `nodes/${name}`;
      for (const path of [
        ...['.runtime.ts', '.config.ts', '.editor.ts', '.html'].map(
          (end) => `${folder}/${name}${end}`,
        ),
        ...['en-US', 'zh-CN'].flatMap((language) =>
          ['json', 'md'].map((end) => `${folder}/locales/${language}.${end}`),
        ),
        `icons/device-cloud-${name}.svg`,
        `test/nodes/${name}.test.ts`,
      ]) {
        assert.ok(existsSync(join(repository, path)), `${path} is missing`);
      }
    });

    it(`${name}: its row in the READMEs, as \`npm run tables\` writes it, and in the tables of the tests`, () => {
      for (const readme of ['README.md', 'README.zh-CN.md'])
        assert.ok(hasRow(readme, `\`device-cloud-${name}\``), readme);
      if (!isAction(name)) return;
      const path = 'test/tooling/node-red/nodes.ts';
      const entries = read(path).match(new RegExp(`^ {2}'?${name}'?: (?:\\{|[A-Z_]+,)`, 'gm'));
      assert.equal(entries?.length, 2, `${path} has no defaults, or no sample, of ${name}`);
    });
  }

  it('the index of the pages leads to its help, as `npm run tables` writes it', () => {
    for (const name of nodes)
      assert.ok(read('docs/README.md').includes(`(../nodes/${name}/locales/en-US.md)`), name);
  });

  it('so has each example: its rows, as `npm run tables` writes them', () => {
    for (const { name } of examples) {
      for (const page of ['docs/use/recipes.md', 'docs/use/recipes.zh-CN.md'])
        assert.ok(hasRow(page, name), `${page}: ${name}`);
    }
  });
});
