import assert from 'node:assert/strict';
import { openGet, openPost, push, withSimulator } from './client';
import { until } from '../../tooling/until';

const DEVICE = '10000001';

describe('simulator: calling devices over the open API', () => {
  it(
    'pushes the bytes of every format to the device',
    withSimulator({}, async (simulator) => {
      const pushes = [
        ['MSG', 'grüße', 'grüße'],
        ['HEX', '00fF', '\u0000\ufffd'],
        ['AT', 'AT+RST', 'AT+RST'],
        ['LUA', 'print(1)', 'print(1)'],
        ['B64', 'aGk=', 'hi'],
      ] as const;
      for (const [format, message] of pushes) {
        assert.deepEqual((await push(simulator, DEVICE, message, format)).body, { msg: 'OK' });
      }
      assert.deepEqual(
        simulator.device(DEVICE).received.map(({ format, text }) => [format, text]),
        pushes.map(([format, , text]) => [format, text]),
      );
    }),
  );

  it(
    'answers 400 to a push with a bad field or without one, and 404 to one to no device',
    withSimulator({}, async (simulator) => {
      const forms: Record<string, string>[] = [
        { devid: DEVICE, message: 'x', format: 'msg' },
        { devid: DEVICE, message: 'zz', format: 'HEX' },
        { devid: DEVICE, message: 'aGk', format: 'B64' },
        { devid: '1.5', message: 'x' },
        { message: 'x' },
        { devid: DEVICE },
      ];
      for (const form of forms) {
        const { status } = await openPost(simulator, 'dev/push/message/', { form });
        assert.equal(status, 400, JSON.stringify(form));
      }
      assert.deepEqual(simulator.device(DEVICE).received, []);
      assert.equal((await push(simulator, '5', 'x')).status, 404);
    }),
  );

  it(
    'pushes to all devices that are online, and to no others',
    withSimulator({}, async (simulator) => {
      simulator.switchOff('10000002');
      const form = { message: 'all', format: 'MSG' };
      const { body } = await openPost(simulator, 'app/push/message/', { form });
      assert.deepEqual(body, { msg: 'success' });
      simulator.switchOn('10000002');
      assert.deepEqual(
        [...simulator.devices.values()].map(({ received }) => received.length),
        [1, 0, 1],
      );
    }),
  );

  it(
    'sets pins and reads them back, and answers 400 to a pin or a level that does not exist',
    withSimulator({}, async (simulator) => {
      const read = async () => (await openGet(simulator, `gpio_status/${DEVICE}/`)).body;
      assert.deepEqual(await read(), { result: '0000000000000000' });
      const set = await openPost(simulator, `set_gpio_edge/${DEVICE}/5/1/`);
      assert.deepEqual([set.status, set.body], [200, { result: 'OK' }]);
      assert.deepEqual(await read(), { result: '0000010000000000' });
      for (const path of ['16/1', 'x/1', '5/2']) {
        const { status } = await openPost(simulator, `set_gpio_edge/${DEVICE}/${path}/`);
        assert.equal(status, 400, path);
      }
    }),
  );

  it(
    'answers callbacks with values of any shape, 404 to an unknown one, 400 without a key',
    withSimulator(
      { devices: [{ chipid: 1, callbacks: { list: [1, null] } }] },
      async (simulator) => {
        const read = async (key: string) =>
          (await openGet(simulator, 'rt_status/1/', { query: { key } })).body;
        assert.deepEqual(await read('list'), [1, null]);
        assert.equal(await read('temperature'), simulator.device(1).reading['temperature']);
        const status = async (query: Record<string, string>) =>
          (await openGet(simulator, 'rt_status/1/', { query })).status;
        assert.equal(await status({ key: 'toString' }), 404);
        assert.equal(await status({}), 400);
      },
    ),
  );

  it(
    'refreshes the status: online, and offline once the device stays silent',
    withSimulator({ offlineAfter: 20 }, async (simulator) => {
      const refresh = async () => (await openGet(simulator, `manual_refresh/${DEVICE}/`)).body;
      assert.deepEqual(await refresh(), { status: 'online', msg: 'OK' });
      simulator.switchOff(DEVICE);
      assert.deepEqual(await refresh(), { status: 'offline', msg: 'timeout' });
    }),
  );

  it(
    'answers 504 with a reason when the device is off or too slow',
    withSimulator({ offlineAfter: 20 }, async (simulator) => {
      simulator.switchOff('10000001');
      simulator.delay('10000002', 1000);
      for (const chipid of ['10000001', '10000002']) {
        const { status, text } = await openGet(simulator, `gpio_status/${chipid}/`);
        assert.equal(status, 504);
        assert.match(text, /^\{"msg":"/);
      }
      assert.equal((await openGet(simulator, 'gpio_status/10000003/')).status, 200);
    }),
  );

  it(
    'lets a slow device act at once and answer later',
    withSimulator({}, async (simulator) => {
      simulator.delay(undefined, 200);
      const answer = push(simulator, DEVICE, 'slow');
      const device = simulator.device(DEVICE);
      await until(() => device.received.length === 1);
      assert.equal(device.inFlight, 1);
      assert.equal((await answer).status, 200);
      assert.deepEqual([device.inFlight, device.maxInFlight], [0, 1]);
    }),
  );

  it(
    'reboots: answers, goes away, and is back with its pins low',
    withSimulator({ rebootTime: 1000 }, async (simulator) => {
      const device = simulator.device(DEVICE);
      await openPost(simulator, `set_gpio_edge/${DEVICE}/3/1/`);
      const { status, body } = await openPost(simulator, `reboot/dev/${DEVICE}/`);
      assert.deepEqual([status, body, device.online], [200, { result: 'OK' }, false]);
      await until(() => device.online);
      assert.deepEqual([device.boots, device.levels], [1, '0000000000000000']);
    }),
  );
});
