import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { send } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

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
