import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoFlows, examples, ofType } from './examples/files';
import type { FlowNode } from '../tooling/node-red/nodes';
import { repository } from '../tooling/repository';

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
    for (const { name, nodes } of [...examples, { name: 'the demo', nodes: demoFlows }]) {
      for (const { id, name: group, x, w } of ofType(nodes, 'group')) {
        const right = Number(x) + Number(w);
        assert.ok(right <= 760, `${name}: the group "${String(group)}" ends at ${right}`);
        for (const node of nodes.filter(({ g }) => g === id)) {
          const inside = Number(node['x']) > Number(x) && Number(node['x']) < right - 20;
          assert.ok(inside, `${name}: "${String(node['name'])}" is not inside its group`);
        }
      }
      const tabs = new Set(ofType(nodes, 'tab').map(({ id }) => id));
      // A subflow has a canvas of its own.
      const alone = nodes.filter(
        ({ x, g, z, type }) => x !== undefined && !g && type !== 'group' && tabs.has(String(z)),
      );
      for (const node of alone) assert.equal(node.type, 'comment', `${name}: not in a group`);
    }
  });

  it('name the configurations of each subflow themselves: the dialog does not show those of the template, and takes them away', () => {
    for (const { name, nodes } of examples)
      for (const template of ofType(nodes, 'subflow')) {
        const named = (node: FlowNode) => (node['env'] ?? []) as { name: string; value: string; ui?: { type: string } }[]; // prettier-ignore
        const wanted = named(template).filter(({ ui }) => ui?.type === 'conf-types');
        for (const room of ofType(nodes, `subflow:${template.id}`))
          for (const { name: property } of wanted) {
            const value = named(room).find((each) => each.name === property)?.value;
            assert.ok(nodes.some(({ id }) => id === value), `${name}: ${String(room['name'])} has no ${property}`); // prettier-ignore
          }
      }
  });

  it('share no node ids, so that all of them can be imported side by side', () => {
    const nodes = examples.flatMap((each) => each.nodes);
    const shared = new Map<string, FlowNode>();
    const ids = new Set<string>();
    for (const node of nodes) {
      const isConfiguration = node['x'] === undefined && node.type !== 'tab';
      // Whatever has the same name is the same: a second import finds the one of the first.
      const key = JSON.stringify([node.type, node['name'], node['modules']]);
      const first = isConfiguration ? shared.get(key) : undefined;
      assert.ok(first !== undefined || !ids.has(node.id), `${key}: ${node.id}`);
      if (first) assert.deepEqual(node, first);
      else if (isConfiguration) shared.set(key, node);
      ids.add(node.id);
    }
  });

  it('draw charts at the time of the upload, of messages with no more than is drawn', () => {
    const drawing = [...examples.map(({ nodes }) => nodes), demoFlows].filter(
      (nodes) => ofType(nodes, 'ui-chart').length > 0,
    );
    assert.ok(drawing.length >= 3);
    for (const nodes of drawing) {
      for (const chart of ofType(nodes, 'ui-chart')) {
        const { xAxisPropertyType, xAxisProperty, yAxisProperty, category } = chart;
        assert.deepEqual([xAxisPropertyType, xAxisProperty], ['msg', 'timestamp']);
        assert.deepEqual([category, yAxisProperty], ['topic', 'payload']);
        const before = nodes.filter(({ wires }) =>
          (wires as string[][])?.flat().includes(chart.id),
        );
        assert.deepEqual(
          before.map(({ name }) => name).filter((name) => name !== 'Empty the chart'),
          ['For the chart'],
        );
      }
    }
  });

  it('name only examples that there are', () => {
    for (const { name, nodes } of examples) {
      const info = String(ofType(nodes, 'comment')[0]?.['info']);
      for (const [, other = ''] of info.matchAll(/examples? \*([^*]+)\*/g)) {
        assert.ok(
          examples.some((each) => each.name === other),
          `${name} names ${other}`,
        );
      }
    }
  });

  for (const { name, nodes } of examples) {
    it(`${name}: says what it shows, and runs on the simulator`, () => {
      const [comment, ...others] = ofType(nodes, 'comment');
      assert.deepEqual(others, []);
      assert.match(String(comment?.['name']), /\w+ \w+/);
      assert.match(String(comment?.['info']), /\*\*Try it\.\*\*[^]*simulator/);
      const [tab] = ofType(nodes, 'tab');
      assert.equal(tab?.['label'], name);
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
});
