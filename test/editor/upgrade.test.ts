import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOurs, saved } from '../e2e/harness/saved';
import { exported } from '../../tooling/editor/dialog';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { repository } from '../../tooling/repository';
import { world } from './world';

/** Defaults that are others by now, for nodes that are new: what was saved stays as it was. */
const CHANGED_DEFAULTS: Record<string, object> = {
  'device-cloud-app': { historyEncoding: 'auto' },
  'device-cloud-push': { timeout: 12 },
};

/** A new node begins with the picker; what a saved one leaves out is `msg.chipid` as before. */
const PICKER = { chipid: '', chipidType: 'str' };

interface NewNode {
  inputs: number;
  outputs: number;
  defaults: Record<string, unknown>;
}

describe('the editor, given flows of version 1.0', () => {
  const here = world(() => saved.nodes);

  it('keeps every property of every node, and finds no errors', async () => {
    const nodes = saved.nodes.filter(isOurs);
    assert.ok(nodes.length > 60);
    for (const node of nodes) {
      // What somebody wrote by hand has more properties after it has been in the editor.
      const kept = (await exported(here.editor, node.id)) as Record<string, unknown>;
      const same = node.id.endsWith('by-hand')
        ? Object.fromEntries(Object.keys(node).map((name) => [name, kept[name]]))
        : kept;
      assert.deepEqual(same, node);
      const valid = await here.editor.run(`RED.nodes.node('${node.id}').valid`);
      // An application has no keys here: they are not in an export.
      if (node.type !== 'device-cloud-app') assert.equal(valid, true, node.id);
    }
  });

  it('has the same inputs, outputs and defaults for a new node', async () => {
    const now = await here.editor.run<Record<string, NewNode>>(`(() => {
      const types = RED.nodes.registry.getNodeTypes().filter((type) => type.startsWith('device-cloud-'));
      return Object.fromEntries(types.sort().map((type) => {
        const { inputs = 0, outputs = 0, defaults, credentials = {} } = RED.nodes.getType(type);
        const values = Object.entries(defaults).map(([name, { value }]) => [name, value]);
        return [type, { inputs, outputs, defaults: Object.fromEntries(values), credentials: Object.keys(credentials) }];
      }));
    })()`);
    for (const [type, then] of Object.entries(saved.newNodes)) {
      const { defaults, ...rest } = now[type]!;
      // A later version may have more properties, and none less.
      const names = Object.keys(then.defaults);
      const shared = Object.fromEntries(names.map((name) => [name, defaults[name]]));
      const picker = 'chipid' in then.defaults ? PICKER : {};
      const due = { ...then, defaults: { ...then.defaults, ...picker, ...CHANGED_DEFAULTS[type] } };
      assert.deepEqual({ ...rest, defaults: shared }, due, type);
    }
  });
});

describe('the editor, given flows of version 0.9', () => {
  const nodes = JSON.parse(
    readFileSync(join(repository, 'test', 'fixtures', 'flows-0.9', 'flows.json'), 'utf8'),
  ) as FlowNode[];
  const here = world(() => nodes);

  it('keeps every property of every node, and finds no errors', async () => {
    const ours = nodes.filter(isOurs);
    assert.equal(new Set(ours.map(({ type }) => type)).size, 16);
    for (const node of ours) {
      assert.equal(node['version'], 1, node.id);
      assert.deepEqual(await exported(here.editor, node.id), node);
      const valid = await here.editor.run(`RED.nodes.node('${node.id}').valid`);
      // Credentials are not in an export.
      if (!/-(app|cluster)$/.test(node.type)) assert.equal(valid, true, node.id);
    }
  });
});
