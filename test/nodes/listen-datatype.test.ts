import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { arrivedAt, type Caught } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

describe('the payload of a listener', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(properties: object): Promise<void> {
    cloud = await startCloud();
    await load([cloudApp(cloud), node('listen', { chipids: [chipid], ...properties })]);
    await until(() => cloud.channels(chipid) === 1, 'the channel is open');
  }

  for (const [datatype, payload] of [
    [undefined, { a: 1 }],
    ['utf8', '{"a":1}'],
  ] as const)
    it(`is ${datatype ?? 'detected by default'}`, async () => {
      await start({ datatype });
      cloud.upload(chipid, '{"a":1}');
      await until(() => arrivedAt('out').length === 1, 'it is emitted');
      assert.deepEqual(arrivedAt('out')[0]?.payload, payload);
    });

  it('goes to the Catch node as bytes when it should be JSON and is not', async () => {
    await start({ datatype: 'json' });
    cloud.upload(chipid, 'no JSON');
    cloud.upload(chipid, '{"good":true}');
    await until(() => arrivedAt('out').length === 1, 'the good one is emitted');
    await until(() => arrivedAt('caught').length === 1, 'the bad one is caught');
    const caught = arrivedAt('caught')[0] as Caught;
    assert.equal(caught.error.code, 'INVALID_RESPONSE');
    assert.match(caught.error.message, /10000001/);
    assert.deepEqual(caught.payload, Buffer.from('no JSON'));
    assert.equal(caught.topic, chipid);
    assert.deepEqual(arrivedAt('out')[0]?.payload, { good: true });
  });
});
