import assert from 'node:assert/strict';
import type { Simulator, SimulatorOptions } from '../../../src/simulator';
import {
  channelUrl,
  nextEvent,
  type OpenCall,
  openChannel,
  openGet,
  openPost,
  push,
  refusedUpgrade,
  serverCall,
  withSimulator,
} from './client';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { until } from '../../tooling/until';

const DEVICE = '10000001';
const NOW = Date.UTC(2016, 5, 23, 4, 48, 44);
const SECONDS = Math.floor(NOW / 1000);

/** A test against the dialect; the numbers in the names are the rows of what is known of that server. */
const on = (options: SimulatorOptions, test: (simulator: Simulator) => Promise<void>) =>
  withSimulator({ dialect: 'public-2016', ...options }, test);

const low = (levels: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 12 }, (_, at) => levels[at] ?? '\u0000').join('');

describe('simulator, public server of 2016: calls', () => {
  it(
    'row 1: each refusal of a signature is 400 with its text',
    on({ now: () => NOW }, async (simulator) => {
      const refused: [OpenCall, string][] = [
        [{ sign: 'f'.repeat(32) }, '签名不正确'],
        [{ appkey: 'another' }, '签名不正确'],
        [{ sign: '' }, '签名错误'],
        [{ appid: '5' }, '设备类别不存在'],
        [{ appid: '' }, '设备类别APP错误'],
        [{ appid: 'abc' }, '设备类别APP格式错误'],
        [{ timestamp: '' }, '时间戳参数错误'],
        [{ timestamp: 'now' }, '时间戳必须为整数'],
        [{ timestamp: String(SECONDS - 3600) }, '时间间隔大于一小时'],
      ];
      for (const [call, msg] of refused) {
        const { status, body } = await openGet(simulator, 'apps/', {
          timestamp: String(SECONDS),
          ...call,
        });
        assert.deepEqual([status, body], [400, { msg }]);
        const address = channelUrl(simulator, DEVICE, { timestamp: String(SECONDS), ...call });
        assert.equal(await refusedUpgrade(address), 400, msg);
      }
      // Row 19b: one of 13 digits is accepted, too.
      for (const timestamp of [SECONDS - 3599, SECONDS + 86_400, NOW]) {
        const call = { timestamp: String(timestamp) };
        assert.equal((await openGet(simulator, 'apps/', call)).status, 200);
      }
    }),
  );

  it(
    'row 1b: the key is lowercased, so that one with capitals works in lower case alone',
    on({ appkey: 'KeyWithCapitals' }, async (simulator) => {
      const lowercased = await openGet(simulator, 'apps/', { appkey: 'keywithcapitals' });
      assert.equal(lowercased.status, 200);
      assert.equal((await openGet(simulator, 'apps/')).status, 400);
    }),
  );

  it('row 5: latest is when the device connected, whatever it sends', async () => {
    let now = NOW;
    const test = on({ now: () => now, devices: 1 }, async (simulator) => {
      const latest = async (): Promise<unknown> => {
        const call = { timestamp: String(Math.floor(now / 1000)) };
        const { body } = await openGet(simulator, 'devices/lists/', call);
        return (body as { latest: string }[])[0]?.latest;
      };
      const connected = await latest();
      now += 60_000;
      simulator.upload(DEVICE, 'x');
      assert.equal(await latest(), connected);
    });
    await test();
  });

  it(
    'row 6: text reaches the device as GBK, AT with CR LF, and what GBK does not have is 500',
    on({}, async (simulator) => {
      const { received } = simulator.device(DEVICE);
      for (const format of ['MSG', 'LUA', 'AT']) await push(simulator, DEVICE, '温a', format);
      const bytes = received.map((each) => each.bytes.toString('hex'));
      assert.deepEqual(bytes, ['cec261', 'cec261', 'cec2610d0a']);
      assert.deepEqual(received[0]?.text, '温a');
      assert.equal((await push(simulator, DEVICE, '😀')).status, 500);
      assert.equal(received.length, 3);
      const lines = `AT+A\r\n${'x'.repeat(60)}`;
      assert.equal((await push(simulator, DEVICE, lines, 'AT')).status, 400);
    }),
  );

  it(
    'row 7: a device that is connected and does not answer is 504',
    on({ offlineAfter: 10, answerDelay: 60_000 }, async (simulator) => {
      assert.equal((await push(simulator, DEVICE, 'x')).status, 504);
      assert.equal((await openGet(simulator, `manual_refresh/${DEVICE}/`)).status, 504);
    }),
  );

  it(
    'row 8: a push to all is a sucess; other formats are 200, an empty message 403, nobody 502',
    on({ devices: 2 }, async (simulator) => {
      const toAll = (form: Record<string, string>) =>
        openPost(simulator, 'app/push/message/', { form });
      const { status, text } = await toAll({ message: 'x', format: 'MSG' });
      assert.deepEqual([status, text], [200, '{"msg":"sucess"}']);
      const refused = await toAll({ message: 'eA==', format: 'B64' });
      assert.equal(refused.status, 200);
      assert.notEqual(refused.text, text);
      assert.equal((await toAll({ message: '', format: 'MSG' })).status, 403);
      for (const { chipid, received } of simulator.devices.values()) {
        assert.equal(received.length, 1);
        simulator.switchOff(chipid);
      }
      assert.equal((await toAll({ message: 'x', format: 'MSG' })).status, 502);
    }),
  );

  it(
    'rows 9 and 10: twelve levels as control characters, in the order of the pins; 0 is done',
    on({}, async (simulator) => {
      const levels = async (): Promise<unknown> =>
        ((await openGet(simulator, `gpio_status/${DEVICE}/`)).body as { result: string }).result;
      assert.equal(await levels(), low());
      const order = [0, 1, 2, 3, 4, 5, 9, 10, 12, 13, 14, 15];
      for (const [at, pin] of order.entries()) {
        const set = await openPost(simulator, `set_gpio_edge/${DEVICE}/${pin}/1/`);
        assert.equal(set.text, '{"result":"\\u0000"}');
        assert.equal(await levels(), low({ [at]: '\u0001' }), `pin ${pin}`);
        await openPost(simulator, `set_gpio_edge/${DEVICE}/${pin}/0/`);
      }
      const { text } = await openPost(simulator, `reboot/dev/${DEVICE}/`);
      assert.equal(text, '{"result":"\\u0000"}');
    }),
  );
});

/** 2016-06-23 15:59:59.500 UTC: half a second before midnight in Beijing. */
const BEFORE_MIDNIGHT = Date.UTC(2016, 5, 23, 15, 59, 59, 500);
const HOUR = 3_600_000;

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
