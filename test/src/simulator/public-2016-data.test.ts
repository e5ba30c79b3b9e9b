import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Simulator, SimulatorOptions } from '../../../src/simulator';
import { until } from '../../tooling/until';
import { nextEvent, openChannel, openGet, push, serverCall, withSimulator } from './client';

const DEVICE = '10000001';
/** 2016-06-23 15:59:59.500 UTC: half a second before midnight in Beijing. */
const BEFORE_MIDNIGHT = Date.UTC(2016, 5, 23, 15, 59, 59, 500);
const HOUR = 3_600_000;

const on = (options: SimulatorOptions, test: (simulator: Simulator) => Promise<void>) =>
  withSimulator({ dialect: 'public-2016', ...options }, test);

interface Kept {
  id: number;
  body: string;
  create_time: string;
  recv_time?: string;
  msgtype?: string;
}

/** Reads a history, signed with the time of the simulator's clock. */
async function history(simulator: Simulator, path: string, now = Date.now()): Promise<Kept[]> {
  const call = { timestamp: String(Math.floor(now / 1000)) };
  const { status, body, text } = await openGet(simulator, path, call);
  assert.equal(status, 200, text);
  return body as Kept[];
}
const uploads = (simulator: Simulator, now?: number): Promise<Kept[]> =>
  history(simulator, `up_messages/dev/${DEVICE}/`, now);

describe('simulator, public server of 2016: histories, events and the server API', () => {
  it(
    'row 12: an upload is kept trimmed, without a tag and without commas',
    on({}, async (simulator) => {
      const day = (days: number): string =>
        new Date(Date.now() + (8 + 24 * days) * HOUR).toISOString().slice(0, 10);
      const sync = `sync/${day(0)}/${day(1)}/`.replaceAll('-', '');
      const channel = await openChannel(simulator, DEVICE);
      for (const [uploaded, kept] of [
        ['{"t":21,"h":40}', '"h":40}'],
        ['HELLO\r\n', 'HELLO'],
        ['a,b,c,,d', 'bcd'],
        [' \r\n', ''],
        ['温度,21\r\n', '21'],
      ] as const) {
        const event = nextEvent(channel);
        const { id } = simulator.upload(DEVICE, uploaded);
        const { body } = (await event) as { body: string };
        assert.equal(Buffer.from(body, 'base64').toString(), uploaded);
        for (const list of [await uploads(simulator), await history(simulator, sync)]) {
          assert.equal(list.find((record) => record.id === id)?.body, kept);
        }
      }
    }),
  );

  it('row 13: newest first by the clock of the device, to the second, in UTC', async () => {
    let now = BEFORE_MIDNIGHT;
    const test = on({ now: () => now }, async (simulator) => {
      simulator.upload(DEVICE, 'one', { made: now + 2 * HOUR });
      now += 500;
      simulator.upload(DEVICE, 'two', { made: now + 2 * HOUR });
      const kept = await uploads(simulator, now);
      assert.deepEqual(
        kept.map(({ body, create_time: time }) => [body, time]),
        [
          ['two', '2016-06-23 18:00:00'],
          ['one', '2016-06-23 17:59:59'],
        ],
      );
      const [received] = await history(simulator, 'sync/20160624/20160625/', now);
      assert.equal(received?.recv_time, '2016-06-23 16:00:00');
    });
    await test();
  });

  it(
    'row 14: one upload that is not UTF-8 makes the history of its device 500, and no other',
    on({}, async (simulator) => {
      simulator.upload(DEVICE, Buffer.from([0xc3, 0x28]));
      simulator.upload('10000002', 'text');
      assert.equal((await openGet(simulator, `up_messages/dev/${DEVICE}/`)).status, 500);
      assert.equal((await history(simulator, 'up_messages/dev/10000002/')).length, 1);
    }),
  );

  it('row 15: sync is from midnight to midnight in Beijing, by the clock of the device', async () => {
    const midnight = BEFORE_MIDNIGHT + 500;
    const test = on({ now: () => midnight }, async (simulator) => {
      for (const [text, made] of [
        ['before', midnight - 1000],
        ['first', midnight],
        ['last', midnight + 24 * HOUR - 1000],
        ['after', midnight + 24 * HOUR + 1000],
      ] as const) {
        simulator.upload(DEVICE, text, { made });
      }
      const bodies = async (path: string): Promise<string[]> =>
        (await history(simulator, path, midnight)).map(({ body }) => body);
      assert.deepEqual(await bodies('sync/20160624/20160625/'), ['last', 'first']);
      const [first] = await history(simulator, 'sync/20160623/20160624/', midnight);
      assert.equal(first?.create_time, '2016-06-23 16:00:00');
    });
    await test();
  });

  it(
    'row 16: a push is kept in hexadecimal, each byte without a leading zero, with a Chinese label',
    on({}, async (simulator) => {
      await push(simulator, DEVICE, 'A0B', 'AT');
      await push(simulator, DEVICE, '000a41ff', 'HEX');
      const kept = await history(simulator, `push_messages/dev/${DEVICE}/`);
      assert.deepEqual(
        kept.map(({ body }) => body),
        ['0a41ff', '413042'],
      );
      assert.match(kept[0]?.msgtype ?? '', /^\p{Script=Han}/u);
    }),
  );

  it('rows 18 and 20: the time of an event is that of the server, in a frame as in the sample', async () => {
    const now = 1_466_644_524_000;
    const devices = [{ chipid: '8454703' }];
    const test = on({ appid: 1234, devices, now: () => now }, async (simulator) => {
      const event = nextEvent(await openChannel(simulator, '8454703'));
      const bytes = Buffer.from('VEVTVEFHQUlODQo=', 'base64');
      simulator.upload('8454703', bytes, { made: now - HOUR });
      assert.deepEqual(await event, {
        appid: '1234',
        body: 'VEVTVEFHQUlODQo=',
        chipid: '8454703',
        timestamp: '1466644524',
        type: 'data_upload',
      });
    });
    await test();
  });

  it(
    'row 19: data of the transparent serial mode is an event that no history keeps',
    on({}, async (simulator) => {
      const event = nextEvent(await openChannel(simulator, DEVICE));
      simulator.upload(DEVICE, 'ab', { type: 'uart_trans' });
      const { type, body } = (await event) as Record<string, string>;
      assert.deepEqual([type, body], ['uart_trans', 'YWI=']);
      assert.deepEqual(await uploads(simulator), []);
    }),
  );

  it(
    'a newer channel of a device closes the older one, if configured, and no other',
    on({ replace: true }, async (simulator) => {
      const older = await openChannel(simulator, DEVICE);
      const other = await openChannel(simulator, '10000002');
      const closed = once(older, 'close');
      const newer = await openChannel(simulator, DEVICE);
      await closed;
      await until(() => simulator.channels(DEVICE) === 1);
      assert.deepEqual([newer.readyState, other.readyState], [WebSocket.OPEN, WebSocket.OPEN]);
    }),
  );

  it(
    'rows 21 to 23: the server API has ids unlike chip numbers, and takes name, note and stat',
    on({ devices: 3 }, async (simulator) => {
      const list = (await serverCall(simulator, 'GET', '/devices?page=1&count=2&filter=all')).body;
      const { devices, ...envelope } = list as { devices: Record<string, unknown>[] };
      assert.deepEqual(envelope, { page: 1, count: 2, total: 3 });
      const { id, chipid } = devices[0] as { id: number; chipid: string };
      assert.equal(chipid, DEVICE);
      assert.notEqual(String(id), chipid);
      assert.equal((await serverCall(simulator, 'GET', `/devices/${chipid}`)).status, 404);
      const body = { name: 'Pump', note: 'old', stat: 'DISABLED' };
      assert.equal((await serverCall(simulator, 'PUT', `/devices/${id}`, { body })).status, 200);
      assert.equal(simulator.device(DEVICE).disabled, true);
      const after = (await serverCall(simulator, 'GET', `/devices/${id}`)).body as typeof body;
      assert.deepEqual([after.name, after.note, after.stat], ['Pump', 'old', 'DISABLED']);
    }),
  );

  it(
    'rows 24 and 25: the server API lists uploads, and takes data by POST as well as by PUT',
    on({}, async (simulator) => {
      simulator.upload(DEVICE, 'a,b');
      const { body } = await serverCall(simulator, 'GET', '/up/messages?page=1&count=10');
      const { msgs, ...envelope } = body as { msgs: Record<string, unknown>[] };
      assert.deepEqual(envelope, { page: 1, count: 10, total: 1 });
      assert.deepEqual(Object.keys(msgs[0] ?? {}), ['chipid', 'data', 'created_at']);
      const message = { data_type: 'text', msgtype: 'MSG', data: '温' };
      const posted = await serverCall(simulator, 'POST', '/device/1/messages', { body: message });
      assert.equal(posted.status, 200);
      await serverCall(simulator, 'PUT', '/devices/1', { body: { data: 'x' } });
      assert.deepEqual(
        simulator.device(DEVICE).received.map(({ text }) => text),
        ['温', 'x'],
      );
    }),
  );
});
