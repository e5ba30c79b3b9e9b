import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../tooling/repository';

const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
const manifest = JSON.parse(read('package.json')) as {
  'node-red': { nodes: object; plugins: object };
};
const nodes = Object.keys(manifest['node-red'].nodes);
const isAction = (name: string): boolean => !['app', 'cluster', 'type'].includes(name);

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

    it(`${name}: the README's table, and the tables of the tests`, () => {
      assert.ok(
        read('README.md').includes(`| \`device-cloud-${name}\``),
        'the README, "The nodes"',
      );
      if (!isAction(name)) return;
      const path = 'tooling/node-red/nodes.ts';
      const entries = read(path).match(new RegExp(`^ {2}'?${name}'?: (?:\\{|[A-Z_]+,)`, 'gm'));
      assert.equal(entries?.length, 2, `${path} has no defaults, or no sample, of ${name}`);
    });
  }
});
