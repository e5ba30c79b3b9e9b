import assert from 'node:assert/strict';
import { ONE, THREE, TWO, fixture } from './harness/fixture';
import { around, date } from './harness/flows';
import { app, node } from '../../tooling/node-red/nodes';

type Row = Record<string, unknown>;

describe('reads in a real Node-RED', () => {
  const here = fixture((simulator) => [
    app(simulator),
    ...around('list', node('devices')),
    ...around('record', node('devices', { operation: 'app' })),
    ...around('uploads', node('history')),
    ...around('split', node('history', { split: true, datatype: 'json' })),
    ...around('fresh', node('history', { incremental: true })),
    ...around('pushes', node('history', { operation: 'pushes' })),
    ...around('sync', node('history', { operation: 'sync' })),
    ...around('push', node('push')),
  ]);

  const rows = async (name: string, message = {}): Promise<Row[]> =>
    (await here.red.ask(name, message)).sent[0]!.payload as Row[];

  it('lists the devices that are online', async () => {
    here.simulator.switchOff(TWO);
    assert.deepEqual(
      (await rows('list')).map((device) => device['chipid']),
      [10000001, 10000003],
    );
    here.simulator.switchOn(TWO);
  });

  it("reads the application's record", async () => {
    const { sent } = await here.red.ask('record', {});
    const { name, online } = sent[0]!.payload as { name: string; online: Row[] };
    assert.equal(name, here.simulator.appName);
    assert.equal(online.length, 3);
    assert.equal(sent[0]!['statusCode'], 200);
  });

  it("reads a device's uploads", async () => {
    here.simulator.upload(ONE, 'first');
    here.simulator.upload(TWO, 'of another');
    here.simulator.upload(ONE, 'second');
    const records = await rows('uploads', { chipid: ONE });
    assert.deepEqual(
      records.map((record) => [record['body'], record['dev']]),
      [
        ['first', ONE],
        ['second', ONE],
      ],
    );
  });

  it('sends one message for each record, with parts', async () => {
    here.simulator.upload(THREE, { t: 1 });
    here.simulator.upload(THREE, { t: 2 });
    const { sent } = await here.red.ask('split', { chipid: THREE, topic: 'kept' });
    assert.deepEqual(
      sent.map((message) => [message.payload, message['topic'], message['chipid']]),
      [
        [{ t: 1 }, 'kept', THREE],
        [{ t: 2 }, 'kept', THREE],
      ],
    );
    const parts = sent.map((message) => message['parts'] as Row);
    assert.deepEqual(
      parts.map(({ index, count }) => [index, count]),
      [
        [0, 2],
        [1, 2],
      ],
    );
    assert.equal(parts[0]!['id'], parts[1]!['id']);
    assert.equal((sent[0]!['record'] as Row)['dev'], THREE);
  });

  it('sends only the records that are new since the last time', async () => {
    const bodies = async (): Promise<unknown[]> =>
      (await here.red.ask('fresh', { chipid: TWO })).sent.flatMap((message) =>
        (message.payload as Row[]).map((record) => record['body']),
      );
    here.simulator.upload(TWO, 'a');
    assert.equal((await bodies()).at(-1), 'a');
    here.simulator.upload(TWO, 'b');
    assert.deepEqual(await bodies(), ['b']);
    assert.deepEqual(await bodies(), []);
  });

  it('reads what was pushed to a device', async () => {
    await here.red.ask('push', { chipid: THREE, payload: 'hello' });
    const [record] = await rows('pushes', { chipid: THREE });
    assert.deepEqual(
      [record!['body'], record!['msgtype'], record!['dev']],
      ['hello', 'MSG', THREE],
    );
  });

  it('reads all uploads between two days, however the days are written', async () => {
    here.simulator.upload(ONE, 'today');
    const now = Date.now();
    const day = 86_400_000;
    const iso = (ms: number): string => new Date(ms).toISOString();
    const digits = (ms: number): string => iso(ms).slice(0, 10).replaceAll('-', '');
    for (const [begin, end] of [
      [digits(now - day), digits(now + day)],
      [now - day, now + day],
      [iso(now - day), iso(now + day)],
      [date(iso(now - day)), date(iso(now + day))],
    ]) {
      const records = await rows('sync', { begin, end });
      assert.ok(records.some((record) => record['body'] === 'today' && record['chipid'] === ONE));
    }
    assert.deepEqual(await rows('sync', { begin: '20200101', end: '20200102' }), []);
  });
});

describe('a service that spells the device list the other way', () => {
  const here = fixture((simulator) => [app(simulator), ...around('list', node('devices'))], {
    simulator: { devicesPath: 'lists' },
  });

  it('is asked in both spellings once, and from then on in the one that answers', async () => {
    for (let times = 0; times < 2; times++) {
      assert.equal(((await here.red.ask('list', {})).sent[0]!.payload as Row[]).length, 3);
    }
    assert.deepEqual(
      here.simulator.requests.map(({ path }) => path),
      ['/openapi/devices/list/', '/openapi/devices/lists/', '/openapi/devices/lists/'],
    );
  });
});
