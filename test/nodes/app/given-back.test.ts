import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Node, NodeAPI } from 'node-red';
import { Keeper } from '../../../nodes/app/waiting';
import { SavedCalls } from '../../../src/commands/saved-call';
import { until } from '../../tooling/until';
import { MemoryPort, memoryStore } from '../../support/memory-store';

const COUNT = 100;

describe('commands that have waited over a restart', () => {
  it('are given back in slices, each once; a deploy in between leaves the others waiting until it is done', async () => {
    const port = new MemoryPort();
    for (let order = 1; order <= COUNT; order++) {
      const what = { what: { plan: { call: 'push', args: [] }, isMany: false, msg: {} } };
      const command = { what, order, left: 1, at: 1, node: 'push', isBegun: true };
      port.kept.set(`command:1:${order}`, JSON.stringify(command));
    }
    const events = new EventEmitter();
    const nodes = { eachNode: () => undefined, getNode: () => null };
    const RED = { events, nodes, log: { warn: assert.fail } } as unknown as NodeAPI;
    const node = { id: 'app' } as Node;
    const store = memoryStore(port);
    const keeper = new Keeper(RED, node, {
      ...{ store, calls: new SavedCalls(store), sharing: () => undefined, isUsable: () => true },
      ...{ application: () => 'one', titleOf: String },
    });
    const given: number[] = [];
    const leave = keeper.register({ id: 'push', type: 'push' } as Node, {}, ({ order }) => {
      given.push(order);
      // As what a node does with it.
      for (const end = performance.now() + 1; performance.now() < end;);
    });
    events.emit('flows:started');
    await until(() => given.length > 0, 'the first ones are given back');
    assert.ok(given.length < COUNT);
    events.emit('flows:stopping');
    leave();
    const before = given.length;
    await nextTurn();
    await nextTurn();
    assert.deepEqual([given.length, keeper.ready === undefined], [before, false]);
    keeper.register({ id: 'push', type: 'push' } as Node, {}, ({ order }) => given.push(order));
    events.emit('flows:started');
    await keeper.ready;
    assert.deepEqual(
      given,
      Array.from({ length: COUNT }, (_, index) => index + 1),
    );
    keeper.close();
  });

  it('cost themselves alone if they are malformed', async () => {
    const port = new MemoryPort();
    const command = { left: 1, at: 1, node: 'push' };
    const what = { what: { plan: { call: 'push', args: [] }, isMany: false, msg: {} } };
    const end = { error: { code: 'OF_A_NEWER_VERSION', message: 'OF_A_NEWER_VERSION: It ended.' } };
    const entries = [
      { order: 1 },
      { order: 2, what: { what: { plan: 5 } } },
      { order: 3, what },
      { order: 4, what, node: 'removed', isBegun: true, end },
      // It has succeeded: nothing was cancelled.
      { order: 6, what, node: 'removed', isBegun: true, end: { value: {} } },
      { order: 5, what },
    ];
    for (const entry of entries)
      port.kept.set(`command:1:${entry.order}`, JSON.stringify({ ...command, ...entry }));
    const events = new EventEmitter();
    const lines: string[] = [];
    const log = { warn: (line: string) => lines.push(line) };
    const nodes = { eachNode: () => undefined, getNode: () => null };
    const RED = { events, nodes, log } as unknown as NodeAPI;
    const store = memoryStore(port);
    const keeper = new Keeper(RED, { id: 'app' } as Node, {
      ...{ store, calls: new SavedCalls(store), sharing: () => undefined, isUsable: () => true },
      ...{ application: () => 'one', titleOf: String },
    });
    const given: number[] = [];
    keeper.register({ id: 'push', type: 'push' } as Node, {}, ({ order }) => given.push(order));
    events.emit('flows:started');
    await keeper.ready;
    assert.deepEqual(given, [3, 5]);
    assert.equal(lines.length, 3);
    await until(() => port.kept.size === 2, 'they are removed');
    keeper.close();
  });
});
