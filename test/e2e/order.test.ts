import assert from 'node:assert/strict';
import { ONE, THREE, TWO, fixture } from './harness/fixture';
import { until } from '../../tooling/until';
import { around } from './harness/flows';
import { app, node } from '../../tooling/node-red/nodes';

describe('commands to devices in a real Node-RED', () => {
  const here = fixture(
    (simulator) => [
      app(simulator),
      ...around('push', node('push', { timeout: '30' })),
      ...around('other', node('push', { timeout: '30' })),
      ...around('jsonata', node('push', { chipid: '$number(device)', chipidType: 'jsonata' })),
    ],
    { simulator: { offlineAfter: 20_000 } },
  );

  const numbers = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i));
  const texts = (chipid: string): string[] =>
    here.simulator.device(chipid).received.map(({ text }) => text);

  it('arrive in the order of the messages, one at a time', async () => {
    const wanted = numbers(20);
    await here.red.inject('push', ...wanted.map((payload) => ({ chipid: ONE, payload })));
    await here.red.waitFor('push', 'complete', 20);
    assert.deepEqual(texts(ONE), wanted);
    assert.equal(here.simulator.device(ONE).maxInFlight, 1);
  });

  it('keep their order when the device has to be worked out first', async () => {
    const wanted = numbers(20);
    await here.red.inject('jsonata', ...wanted.map((payload) => ({ device: TWO, payload })));
    await here.red.waitFor('jsonata', 'complete', 20);
    assert.deepEqual(texts(TWO), wanted);
  });

  it('wait for each other across nodes, while another device is served beside them', async () => {
    const [one, two] = [here.simulator.device(ONE), here.simulator.device(TWO)];
    here.simulator.delay(ONE, 1000);
    here.simulator.delay(TWO, 1000);
    await here.red.inject('push', { chipid: ONE, payload: 'a' }, { chipid: TWO, payload: 'a' });
    await here.red.inject('other', { chipid: ONE, payload: 'b' }, { chipid: TWO, payload: 'b' });
    await until(() => one.inFlight === 1 && two.inFlight === 1, 'both devices are busy');
    await here.red.waitFor('other', 'complete', 2);
    assert.deepEqual([one.maxInFlight, two.maxInFlight], [1, 1]);
    assert.deepEqual([texts(ONE).slice(-2), texts(TWO).slice(-2)], [['a', 'b'], ['a', 'b']]); // prettier-ignore
    here.simulator.delay(undefined, 1);
  });

  it('are refused from the 102nd on: one on its way and 100 waiting', async () => {
    const before = (await here.red.results('push', 'complete')).length;
    here.simulator.delay(THREE, 1000);
    await here.red.inject('push', ...numbers(102).map((payload) => ({ chipid: THREE, payload })));
    const [refused] = await here.red.waitFor('push', 'error');
    assert.equal(refused!.error!.code, 'QUEUE_FULL');
    assert.equal(refused!.payload, '101');
    here.simulator.delay(THREE, 0);
    await here.red.waitFor('push', 'complete', before + 101);
    assert.deepEqual(texts(THREE), numbers(101));
    assert.equal((await here.red.results('push', 'error')).length, 1);
  });
});
