import assert from 'node:assert/strict';
import type { NodeMessage } from 'node-red';
import type { UploadRecord } from '../../src/types';
import type { Simulator } from '../../src/simulator';
import { httpService, json } from '../tooling/servers/http-service';
import { cloudApp, coreNode, load, node } from './support/flow';
import { arrive, arrivedAt, call, send } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

interface Split extends NodeMessage {
  record: UploadRecord;
  parts: { id: string; type: string; len: number; index: number; count: number; parts?: object };
}

describe('the history node, with one message per record', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(properties: object = {}): Promise<void> {
    cloud = await startCloud();
    for (const body of ['{"n":1}', '{"n":2}', '{"n":3}']) cloud.upload(chipid, body);
    const history = node('history', { split: true, ...properties });
    await load([cloudApp(cloud), history, coreNode('join', { mode: 'auto' })]);
  }

  it('sends each record with its body as payload, and calls done once', async () => {
    await start({ datatype: 'json' });
    const { error } = await send('history', { chipid, topic: 't', deep: { a: 1 } });
    assert.equal(error, undefined);
    const messages = (await arrive(3)) as Split[];
    assert.deepEqual(
      messages.map(({ payload }) => payload),
      [{ n: 1 }, { n: 2 }, { n: 3 }],
    );
    for (const [index, message] of messages.entries()) {
      assert.equal(message.record.id, index + 1);
      assert.equal(message.record.dev, chipid);
      assert.equal(message.record.body, JSON.stringify({ n: index + 1 }));
      assert.equal(message['chipid'], chipid);
      assert.equal(message['statusCode'], 200);
      assert.equal(message.topic, 't');
      assert.deepEqual(message['deep'], { a: 1 });
      const { id } = messages[0]!.parts;
      assert.deepEqual(message.parts, { id, type: 'array', len: 1, index, count: 3 });
    }
    await until(() => arrivedAt('completed').length > 0, 'the Complete node fires');
    assert.equal(arrivedAt('completed').length, 1);
  });

  for (const [historyZone, create_time, timestamp] of [
    [undefined, '2027-01-31 08:00:00', Date.UTC(2027, 0, 31)],
    ['-03:30', '2027-01-31 08:00:00', Date.UTC(2027, 0, 31, 11, 30)],
    ['+00:00', null, undefined],
  ] as const) {
    it(`emits the time ${create_time} in the zone ${historyZone ?? 'of the service'}`, async () => {
      const service = await httpService(json([{ id: 1, body: 'x', create_time }]));
      const app = cloudApp({ ...service, appid: '1' }, { historyZone });
      await load([app, node('history', { split: true })]);
      await send('history', { chipid, timestamp: 'of the message' });
      const [message] = await arrive(1);
      assert.equal(message?.['timestamp'], timestamp);
    });
  }

  it('copies nothing that is replaced, such as a large payload, for each record', async () => {
    await start();
    let copied = 0;
    const large = {
      get body() {
        copied++;
        return 'large';
      },
    };
    await send('history', { chipid, payload: large, record: large });
    await arrive(3);
    // A Complete node copies the message, too.
    assert.ok(copied <= 1, `it was copied ${copied} times`);
  });

  it('sends a sequence that a join node puts together, and keeps the parts of one that the message itself belongs to', async () => {
    await start({ wires: [['join']] });
    const parts = { id: 'outer', type: 'array', len: 1, index: 4, count: 9 };
    const out = await call('history', { chipid, parts });
    assert.deepEqual([out.payload, out['parts']], [['{"n":1}', '{"n":2}', '{"n":3}'], parts]);
  });

  it('sends nothing if there is no record, and calls done', async () => {
    await start();
    const { error } = await send('history', { chipid: '10000002' });
    assert.equal(error, undefined);
    await until(() => arrivedAt('completed').length === 1, 'the Complete node fires');
    assert.deepEqual(arrivedAt('out'), []);
  });
});
