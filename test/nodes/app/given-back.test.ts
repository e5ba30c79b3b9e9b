import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Node, NodeAPI } from 'node-red';
import { Keeper } from '../../../nodes/app/waiting';
import { until } from '../../tooling/until';
import { MemoryPort, memoryStore } from '../../support/memory-store';

const COUNT = 100;
const WHAT = { what: { plan: { call: 'push', args: [] }, isMany: false, msg: {} } };

describe('commands that have waited over a restart', () => {
  const events = new EventEmitter();
  let port: MemoryPort;
  let lines: string[];
  let keeper: Keeper;
  const keep = (order: number, entry: object): void => {
    const command = { order, left: 1, at: 1, node: 'push', ...entry };
    port.kept.set(`command:1:${order}`, JSON.stringify(command));
  };
  /** The orders of those that a node is given. */
  const register = (given: number[], onGiven?: () => void): (() => void) =>
    keeper.register({ id: 'push', type: 'push' } as Node, {}, ({ order }) => {
      given.push(order);
      onGiven?.();
    });

  beforeEach(() => {
    port = new MemoryPort();
    lines = [];
    const nodes = { eachNode: () => undefined, getNode: () => null };
    const log = { warn: (line: string) => lines.push(line) };
    const store = memoryStore(port);
    keeper = new Keeper({ events, nodes, log } as unknown as NodeAPI, { id: 'app' } as Node, {
      ...{ store, sharing: () => undefined, isUsable: () => true },
      ...{ application: () => 'one', titleOf: String },
    });
  });
  afterEach(() => keeper.close());

  it('are given back in slices, each once; a deploy in between leaves the others waiting until it is done', async () => {
    for (let order = 1; order <= COUNT; order++) keep(order, { what: WHAT, isBegun: true });
    const given: number[] = [];
    const leave = register(given, () => {
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
    register(given);
    events.emit('flows:started');
    await keeper.ready;
    const orders = Array.from({ length: COUNT }, (_, index) => index + 1);
    assert.deepEqual([given, lines], [orders, []]);
  });

  it('cost themselves alone if they are malformed', async () => {
    const end = { error: { code: 'OF_A_NEWER_VERSION', message: 'OF_A_NEWER_VERSION: It ended.' } };
    keep(1, {});
    keep(2, { what: { what: { plan: 5 } } });
    keep(3, { what: WHAT });
    keep(4, { what: WHAT, node: 'removed', isBegun: true, end });
    keep(5, { what: WHAT });
    // It has succeeded: nothing was cancelled.
    keep(6, { what: WHAT, node: 'removed', isBegun: true, end: { value: {} } });
    const given: number[] = [];
    register(given);
    events.emit('flows:started');
    await keeper.ready;
    assert.deepEqual(given, [3, 5]);
    assert.equal(lines.length, 3);
    await until(() => port.kept.size === 2, 'they are removed');
  });
});
