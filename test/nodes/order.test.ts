import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { call, send } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describe('the order of commands', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(first: object, second: object = first, app: object = {}): Promise<void> {
    cloud = await startCloud({ answerDelay: 5, offlineAfter: 60_000 });
    const nodes = [node('push', { id: 'a', ...first }), node('push', { id: 'b', ...second })];
    await load([cloudApp(cloud, app), ...nodes, node('gpio')]);
  }
  const texts = (device = chipid) => cloud.device(device).received.map(({ text }) => text);

  it('is that of arrival, one at a time, from any node', async () => {
    await start({});
    const sent = numbers(20).map((n) => send(n % 3 === 0 ? 'a' : 'b', { chipid, payload: n }));
    await Promise.all(sent);
    assert.deepEqual(texts(), numbers(20).map(String));
    assert.equal(cloud.device(chipid).maxInFlight, 1);
  });

  it('holds between nodes that name the device as a number and as text', async () => {
    await start({}, { chipid, chipidType: 'str' });
    await Promise.all(
      numbers(20).map((n) => send(n % 2 ? 'a' : 'b', { chipid: 10000001, payload: n })),
    );
    assert.deepEqual(texts(), numbers(20).map(String));
    assert.equal(cloud.device(chipid).maxInFlight, 1);
  });

  it('holds between numbers with and without leading zeros', async () => {
    await start({}, { chipid: `00${chipid}`, chipidType: 'str' });
    await Promise.all(numbers(20).map((n) => send(n % 2 ? 'a' : 'b', { chipid, payload: n })));
    assert.deepEqual(texts(), numbers(20).map(String));
    assert.equal(cloud.device(chipid).maxInFlight, 1);
    assert.equal((await call('b', { payload: 'x' })).chipid, chipid);
  });

  it('holds between pushes over HTTP and over the channel', async () => {
    await start({}, { transport: 'channel' });
    await Promise.all(numbers(20).map((n) => send(n % 2 ? 'a' : 'b', { chipid, payload: n })));
    await until(() => texts().length === 20, 'all are received');
    assert.deepEqual([...texts()].sort(), numbers(20).map(String).sort());
    const over = (via: string) =>
      cloud
        .device(chipid)
        .received.filter((each) => each.via === via)
        .map(({ text }) => text);
    assert.deepEqual(
      over('open-api'),
      numbers(20)
        .filter((n) => n % 2)
        .map(String),
    );
    assert.deepEqual(
      over('channel'),
      numbers(20)
        .filter((n) => n % 2 === 0)
        .map(String),
    );
  });

  const TYPED: [what: string, properties: object][] = [
    // The first messages take far longer to evaluate than the last ones.
    ['an expression', { chipid: '($sum([1..(21-payload)*500]); device)', chipidType: 'jsonata' }],
    ['the flow', { chipid: 'device', chipidType: 'flow' }],
    [
      'a payload of an expression',
      {
        message: '($sum([1..(21-payload)*500]); payload)',
        messageType: 'jsonata',
        chipid: 'device',
      },
    ],
  ];
  for (const [what, properties] of TYPED) {
    it(`holds when the values come from ${what}`, async () => {
      await start(properties);
      helper.getNode('a')!.context().flow.set('device', chipid);
      await Promise.all(numbers(20).map((n) => send('a', { device: chipid, payload: n })));
      assert.deepEqual(texts(), numbers(20).map(String));
      assert.equal(cloud.device(chipid).maxInFlight, 1);
    });
  }
});
