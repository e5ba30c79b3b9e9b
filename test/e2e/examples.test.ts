import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { example, examples, ofType } from './examples/files';
import { repository } from '../../tooling/repository';

describe('the examples', () => {
  it('use every node of the package', () => {
    const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      'node-red': { nodes: object };
    };
    const used = new Set(examples.flatMap(({ nodes }) => nodes.map(({ type }) => type)));
    for (const name of Object.keys(manifest['node-red'].nodes)) {
      assert.ok(used.has(`device-cloud-${name}`), name);
    }
  });

  it('fit into the canvas of a window that is 1,280 px wide', () => {
    for (const { name, nodes } of examples) {
      for (const { id, name: group, x, w } of ofType(nodes, 'group')) {
        const right = Number(x) + Number(w);
        assert.ok(right <= 760, `${name}: the group "${String(group)}" ends at ${right}`);
        for (const node of nodes.filter(({ g }) => g === id)) {
          const inside = Number(node['x']) > Number(x) && Number(node['x']) < right - 20;
          assert.ok(inside, `${name}: "${String(node['name'])}" is not inside its group`);
        }
      }
      const alone = nodes.filter(({ x, g, type }) => x !== undefined && !g && type !== 'group');
      for (const node of alone) assert.equal(node.type, 'comment', `${name}: not in a group`);
    }
  });

  it('share no node ids, so that all of them can be imported side by side', () => {
    const nodes = examples.flatMap((each) => each.nodes);
    const shared = ['ui-base', 'device-cloud-app'];
    const ids = nodes.filter(({ type }) => !shared.includes(type)).map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    // A second import finds the application and the dashboard of the first; those with a book are their own.
    const apps = ofType(nodes, 'device-cloud-app').filter(({ book }) => book === undefined);
    for (const same of [ofType(nodes, 'ui-base'), apps]) {
      for (const one of same) assert.deepEqual(one, same[0]);
    }
  });

  for (const { name, nodes } of examples) {
    it(`${name}: says what it shows, and runs on the simulator`, () => {
      const [comment, ...others] = ofType(nodes, 'comment');
      assert.deepEqual(others, []);
      assert.match(String(comment?.['name']), /\w+ \w+/);
      assert.match(String(comment?.['info']), /\*\*Try it\.\*\*[^]*simulator/);
      const [tab] = ofType(nodes, 'tab');
      assert.equal(tab?.['label'], name.replace(/^\d\d /, ''));
      assert.notEqual(tab['info'], '');
      const apps = ofType(nodes, 'device-cloud-app');
      assert.deepEqual(
        apps.map(({ service }) => service),
        ['simulator'],
      );
      for (const node of nodes.filter(({ x }) => x !== undefined)) {
        assert.notEqual(node['name'], '', `a ${node.type} without a name`);
      }
      assert.doesNotMatch(JSON.stringify(nodes), /credentials|appkey|devkey/i);
    });
  }

  it('are listed in docs/use/examples.md, in both languages', () => {
    for (const page of ['examples.md', 'examples.zh-CN.md']) {
      const table = readFileSync(join(repository, 'docs', 'use', page), 'utf8');
      for (const { name } of examples) assert.ok(table.includes(`| ${name} `), name);
    }
  });

  it('of the cookbook have a recipe with a picture, and at most eight nodes', () => {
    const page = readFileSync(join(repository, 'docs', 'use', 'cookbook.md'), 'utf8');
    const recipes = page.split(/^## /m).slice(1);
    assert.ok(recipes.length >= 13);
    for (const recipe of recipes) {
      const [, number = '', file = ''] =
        /cookbook-(\d\d)\.png[^]*?examples\/([^)]+)\.json/.exec(recipe) ?? [];
      const { name, nodes } = example(decodeURI(file));
      assert.ok(name.startsWith(number), name);
      const placed = nodes.filter(
        ({ x, type }) => x !== undefined && !/^(group|comment)$/.test(type),
      );
      assert.ok(placed.length <= 8, `${name}: ${placed.length} nodes`);
    }
  });
});
