import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { arrivedAt, type Caught } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

const BINARY = Buffer.from([0xff, 0x00, 0xfe]);

/** What becomes of uploads, by the output that the node is set to. */
const OUTPUTS: Record<string, [upload: string | Buffer, payload: unknown][]> = {
  'auto-detect': [
    ['{"t":21.5}', { t: 21.5 }],
    [' [1, 2] ', [1, 2]],
    ['grün 😀', 'grün 😀'],
    ['17', '17'],
    ['"x"', '"x"'],
    ['null', 'null'],
    ['{"broken"', '{"broken"'],
    ['', ''],
    [BINARY, BINARY],
  ],
  buffer: [
    ['{"t":1}', Buffer.from('{"t":1}')],
    [BINARY, BINARY],
    ['', Buffer.alloc(0)],
  ],
  utf8: [
    ['{"t":1}', '{"t":1}'],
    ['grün', 'grün'],
  ],
  json: [
    ['{"t":1}', { t: 1 }],
    ['17', 17],
    ['null', null],
    ['"x"', 'x'],
  ],
  base64: [
    ['{"t":1}', Buffer.from('{"t":1}').toString('base64')],
    [BINARY, '/wD+'],
  ],
};

describe('the payload of a listener', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(properties: object): Promise<void> {
    cloud = await startCloud();
    await load([cloudApp(cloud), node('listen', { chipids: [chipid], ...properties })]);
    await until(() => cloud.channels(chipid) === 1, 'the channel is open');
  }

  for (const [datatype, uploads] of Object.entries(OUTPUTS)) {
    it(`has the form ${datatype}`, async () => {
      await start({ datatype });
      for (const [upload] of uploads) cloud.upload(chipid, upload);
      await until(() => arrivedAt('out').length === uploads.length, 'all are emitted');
      assert.deepEqual(
        arrivedAt('out').map(({ payload }) => payload),
        uploads.map(([, payload]) => payload),
      );
    });
  }

  it('is detected by default', async () => {
    await start({});
    cloud.upload(chipid, '{"a":1}');
    await until(() => arrivedAt('out').length === 1, 'it is emitted');
    assert.deepEqual(arrivedAt('out')[0]?.payload, { a: 1 });
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

  it('is replaced by one clear error if JSON is nested too deeply', async () => {
    await start({ datatype: 'json' });
    cloud.upload(chipid, '['.repeat(2500) + ']'.repeat(2500));
    await until(() => arrivedAt('caught').length === 1, 'it is caught');
    const { error } = arrivedAt('caught')[0] as Caught;
    assert.match(error.message, /device 10000001 is nested deeper than 100 levels.*auto-detect/);
  });
});
