import assert from 'node:assert/strict';
import type { PushRecord, SyncRecord, UploadRecord } from '../../src/types';
import type { Simulator } from '../../src/simulator';
import { inTimeZone } from '../tooling/time-zone';
import { cloudApp, load, node } from './support/flow';
import { call, fail } from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';

const JSON_BODY = '{"t":21.5}';
const BINARY = Buffer.from([0xff, 0x00, 0xfe]);

describe('the history node', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(properties: object = {}, encoding?: 'text' | 'base64'): Promise<void> {
    cloud = await startCloud(encoding ? { historyEncoding: encoding } : {});
    await load([cloudApp(cloud), node('history', properties)]);
  }
  const bodies = async (): Promise<unknown[]> => {
    const { payload } = await call('history', { chipid });
    return (payload as { body: unknown }[]).map(({ body }) => body);
  };

  it("emits a device's uploads as the service sends them", async () => {
    await start();
    cloud.upload(chipid, JSON_BODY);
    cloud.upload('10000002', 'of another device');
    cloud.upload(chipid, 'text');
    const msg = { chipid: 10000001, payload: 'old', topic: 't' };
    const { _msgid, payload, ...out } = await call('history', msg);
    assert.ok(_msgid);
    assert.deepEqual(out, { chipid, topic: 't', statusCode: 200 });
    const records = payload as UploadRecord[];
    assert.deepEqual(
      records.map(({ create_time, ...record }) => {
        assert.match(create_time, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
        return record;
      }),
      [
        { body: JSON_BODY, app: 'Simulator', id: 1, dev: chipid },
        { body: 'text', app: 'Simulator', id: 3, dev: chipid },
      ],
    );
  });

  it('reads the commands that were pushed to a device', async () => {
    cloud = await startWith(node('history', { operation: 'pushes' }), node('push'));
    await call('push', { chipid, payload: 'hello' });
    const out = await call('history', { chipid });
    const [record, ...rest] = out.payload as PushRecord[];
    assert.deepEqual(rest, []);
    assert.equal(record?.body, 'hello');
    assert.equal(record.msgtype, 'MSG');
    assert.equal(out['chipid'], chipid);
  });

  it('reads all uploads between two days, without a device on the message', async () => {
    await start({ operation: 'sync' });
    cloud.upload('10000001', 'one');
    cloud.upload('10000002', 'two');
    const day = 24 * 60 * 60 * 1000;
    const msg = { begin: Date.now() - day, end: new Date(Date.now() + day) };
    const out = await call('history', msg);
    const records = out.payload as SyncRecord[];
    assert.deepEqual(
      records.map((record) => [record.chipid, record.body]),
      [
        ['10000001', 'one'],
        ['10000002', 'two'],
      ],
    );
    assert.ok(!('chipid' in out));
    assert.equal(out['statusCode'], 200);
  });

  it('decodes bodies that are text', async () => {
    await start({ datatype: 'auto-detect' });
    cloud.upload(chipid, JSON_BODY);
    cloud.upload(chipid, '[1]');
    cloud.upload(chipid, '17');
    assert.deepEqual(await bodies(), [{ t: 21.5 }, [1], '17']);
  });

  it('decodes bodies in Base64 if the application says so', async () => {
    await start({ datatype: 'auto-detect' }, 'base64');
    cloud.upload(chipid, JSON_BODY);
    cloud.upload(chipid, 'grün');
    cloud.upload(chipid, BINARY);
    assert.deepEqual(await bodies(), [{ t: 21.5 }, 'grün', BINARY]);
  });

  it('names the record whose body cannot be decoded', async () => {
    await start({ datatype: 'json' }, 'text');
    cloud.upload(chipid, JSON_BODY);
    cloud.upload(chipid, 'no JSON');
    const { error } = await fail('history', { chipid }, 'INVALID_RESPONSE');
    assert.match(error.message, /record 2 is not JSON/);
  });

  it('accepts dates from an expression', async () => {
    const begin = { begin: '$fromMillis(from)', beginType: 'jsonata' };
    await start({ operation: 'sync', ...begin, end: 'period.end', endType: 'msg' });
    // The earlier one of its days here and in Beijing.
    const from = Date.UTC(2024, 1, 29, 11, 34);
    await inTimeZone('UTC', () => call('history', { from, period: { end: '20240301' } }));
    // Of an empty history, the end day is requested once more.
    assert.equal(cloud.requests.at(-2)?.path, '/openapi/sync/20240229/20240301/');
  });
});
