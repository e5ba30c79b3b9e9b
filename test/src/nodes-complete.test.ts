import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../tooling/repository';
import { examples } from '../e2e/examples/files';

const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  'node-red': { nodes: object; plugins: object };
};
const nodes = Object.keys(manifest['node-red'].nodes);
const isAction = (name: string): boolean => !['app', 'type'].includes(name);

/** The cells of the row of a table that begins with a text. */
const cellsOf = (page: string, first: string): string[] => {
  const row = read(page)
    .split('\n')
    .find((line) => line.startsWith(`| ${first} `));
  assert.ok(row, `${page} has no row of ${first}: npm run tables`);
  return row
    .split('|')
    .slice(1)
    .map((cell) => cell.trim());
};

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

    it(`${name}: the README's table, as \`npm run tables\` writes it, and the tables of the tests`, () => {
      for (const [readme, language] of [
        ['README.md', 'en-US'],
        ['README.zh-CN.md', 'zh-CN'],
      ] as const) {
        const { summary } = JSON.parse(read(`nodes/${name}/locales/${language}.json`)) as {
          summary: string;
        };
        assert.equal(cellsOf(readme, `\`device-cloud-${name}\``)[1], summary);
      }
      if (!isAction(name)) return;
      const path = 'tooling/node-red/nodes.ts';
      const entries = read(path).match(new RegExp(`^ {2}'?${name}'?: (?:\\{|[A-Z_]+,)`, 'gm'));
      assert.equal(entries?.length, 2, `${path} has no defaults, or no sample, of ${name}`);
    });
  }

  it('the index of the pages leads to its help, as `npm run tables` writes it', () => {
    for (const name of nodes)
      assert.ok(read('docs/README.md').includes(`(../nodes/${name}/locales/en-US.md)`), name);
  });

  it('so has each example: its rows, as `npm run tables` writes them', () => {
    for (const { name, nodes } of examples) {
      const { info } = nodes.find(({ type }) => type === 'tab') as { info?: string };
      const [english, chinese] = info?.split('\n\n') ?? [];
      assert.equal(cellsOf('docs/use/recipes.md', name)[1], english);
      assert.equal(cellsOf('docs/use/recipes.zh-CN.md', name)[1], chinese);
    }
  });
});
