import assert from 'node:assert/strict';
import { openGet, push, withSimulator } from './client';

/** 2024-03-01 00:00:00 in Beijing: still February in UTC. */
const MARCH = Date.UTC(2024, 1, 29, 16, 0, 0);
const DAY = 24 * 60 * 60 * 1000;

const DEVICES = [
  { chipid: '18446744073709551615' },
  { chipid: 7, name: 12 },
  { chipid: '9007199254740993' },
];

describe('simulator: reading the cloud over the open API', () => {
  it(
    'lists the online devices with exact chip numbers as bare integers',
    withSimulator({ devices: DEVICES, appid: 42, now: () => MARCH }, async (simulator) => {
      const { status, text, body } = await openGet(simulator, 'devices/list/');
      assert.equal(status, 200);
      assert.match(text, /"chipid":18446744073709551615,/);
      assert.match(text, /"devid":9007199254740993,/);
      const records = body as Record<string, unknown>[];
      assert.deepEqual(records[1], {
        chipid: 7,
        name: 12,
        devid: 7,
        appid: 42,
        vertype: 1,
        devkey: 'key-7\u0000simulated',
        latest: '2024-03-01 00:00:00',
      });
      assert.equal(records[2]?.['name'], null);
    }),
  );

  it(
    "returns the application's name and online devices",
    withSimulator({ devices: 1, appName: 'Garden' }, async (simulator) => {
      const { body } = await openGet(simulator, 'apps/');
      const { name, online } = body as { name: string; online: { chipid: number }[] };
      assert.equal(name, 'Garden');
      assert.equal(online[0]?.chipid, 10000001);
    }),
  );

  it(
    "returns a device's uploads, oldest first, with ids that increase across the application",
    withSimulator({ appName: 'Garden', now: () => MARCH }, async (simulator) => {
      simulator.upload('10000001', 'one');
      simulator.upload('10000002', 'other');
      simulator.upload('10000001', { n: 2 });
      const { body } = await openGet(simulator, 'up_messages/dev/10000001/');
      const common = { app: 'Garden', create_time: '2024-03-01 00:00:00', dev: '10000001' };
      assert.deepEqual(body, [
        { body: 'one', id: 1, ...common },
        { body: '{"n":2}', id: 3, ...common },
      ]);
    }),
  );

  it(
    'returns the history of pushes, answered or not',
    withSimulator({ offlineAfter: 10, now: () => MARCH }, async (simulator) => {
      await push(simulator, '10000001', 'on', 'AT');
      simulator.switchOff('10000001');
      assert.equal((await push(simulator, '10000001', '0aFF', 'HEX')).status, 504);
      const { body } = await openGet(simulator, 'push_messages/dev/10000001/');
      const common = { create_time: '2024-03-01 00:00:00', dev: '10000001' };
      assert.deepEqual(body, [
        { body: 'on', msgtype: 'AT', id: '1', ...common },
        { body: '0aFF', msgtype: 'HEX', id: '2', ...common },
      ]);
      assert.equal(simulator.device('10000001').received.length, 1);
    }),
  );

  it('synchronises the uploads of all devices between two days of Beijing, both included', async () => {
    let now = MARCH - 1000;
    await withSimulator({ now: () => now, appName: 'Garden' }, async (simulator) => {
      simulator.upload('10000001', 'february');
      now = MARCH;
      simulator.upload('10000002', 'first');
      now = MARCH + 2 * DAY - 1;
      simulator.upload('10000001', 'second');
      now = MARCH + 2 * DAY;
      simulator.upload('10000001', 'third');
      const { body } = await openGet(simulator, 'sync/20240301/20240302/');
      const [first, second, ...more] = body as { body: string }[];
      assert.deepEqual(first, {
        body: 'first',
        chipid: '10000002',
        id: 2,
        recv_time: '2024-03-01 00:00:00',
        create_time: '2024-03-01 00:00:00',
        app: 'Garden',
      });
      assert.deepEqual([second?.body, more], ['second', []]);
    })();
  });

  it(
    'answers 400 to a wrong span of days or chip number, and 404 for an unknown device',
    withSimulator({}, async (simulator) => {
      for (const span of ['20240230/20240301', 'x/y', '20240102/20240101']) {
        assert.equal((await openGet(simulator, `sync/${span}/`)).status, 400, span);
      }
      for (const list of ['up_messages', 'push_messages']) {
        assert.equal((await openGet(simulator, `${list}/dev/10000009/`)).status, 404);
        assert.equal((await openGet(simulator, `${list}/dev/abc/`)).status, 400);
      }
    }),
  );
});
