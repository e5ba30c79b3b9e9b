import assert from 'node:assert/strict';
import type { Simulator, SimulatorOptions } from '../../../src/simulator';
import {
  channelUrl,
  openGet,
  openPost,
  push,
  refusedUpgrade,
  withSimulator,
  type OpenCall,
} from './client';

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
