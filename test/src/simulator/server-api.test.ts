import assert from 'node:assert/strict';
import { md5, openGet, send, serverCall, withSimulator } from './client';

describe('simulator: server API', () => {
  it(
    'accepts the sign that section 5.1 spells out, all in lower case',
    withSimulator({ serverKey: 'KeyA', serverPassword: 'PassB' }, async (simulator) => {
      const timestamp = String(Math.floor(Date.now() / 1000));
      const sign = md5(`get/api/server/deviceskey=keyatimestamp=${timestamp}passb`);
      const headers = { Key: 'KeyA', Timestamp: timestamp, Sign: sign };
      const { status } = await send(simulator, '/api/server/devices?page=1', { headers });
      assert.equal(status, 200);
    }),
  );

  it(
    'answers 401 to a wrong sign, an unknown key and a deleted application',
    withSimulator({}, async (simulator) => {
      const status = async (headers: Record<string, string> = {}) =>
        (await serverCall(simulator, 'GET', '/devices', { headers })).status;
      assert.equal(await status({ sign: md5('x') }), 401);
      assert.equal(await status({ key: 'another' }), 401);
      assert.equal(await status(), 200);
      simulator.deleteApp();
      assert.equal(await status(), 401);
    }),
  );

  it(
    'rejects a Timestamp more than 7200 s off, to either side',
    withSimulator({ now: () => 1_700_000_000_000 }, async (simulator) => {
      const status = async (timestamp: string) =>
        (await serverCall(simulator, 'GET', '/devices', { headers: { timestamp } })).status;
      assert.equal(await status('1700007200'), 200);
      assert.equal(await status('1700007201'), 401);
      assert.equal(await status('1699992799'), 401);
    }),
  );

  it(
    'answers 400 when a header is missing or Timestamp no integer',
    withSimulator({}, async (simulator) => {
      for (const headers of [{ key: '' }, { sign: '' }, { timestamp: '' }, { timestamp: 'soon' }]) {
        const call = { headers: headers as Record<string, string> };
        assert.equal((await serverCall(simulator, 'GET', '/devices', call)).status, 400);
      }
    }),
  );

  it(
    'lists the ids of all devices, page by page, those that are off included',
    withSimulator({ devices: 5 }, async (simulator) => {
      simulator.switchOff(10000004);
      const { body } = await serverCall(simulator, 'GET', '/devices?page=2&count=3');
      const devices = ['10000004', '10000005'];
      assert.deepEqual(body, { page: 2, count: 3, total: 5, devices });
      assert.equal((await serverCall(simulator, 'GET', '/devices?page=0')).status, 400);
    }),
  );

  it(
    'returns the record of one device, and 404 for an unknown one',
    withSimulator({ devices: [{ chipid: 8, name: 'Eight' }], now: Date.now }, async (simulator) => {
      const { body } = await serverCall(simulator, 'GET', '/devices/8');
      const { latest, ...rest } = body as { latest: string };
      assert.deepEqual(rest, {
        deviceid: '8',
        name: 'Eight',
        status: 'online',
        disabled: false,
        vertype: 1,
      });
      assert.match(latest, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
      assert.equal((await serverCall(simulator, 'GET', '/devices/9')).status, 404);
    }),
  );

  it(
    'renames a device, disables it and enables it again',
    withSimulator({ offlineAfter: 10 }, async (simulator) => {
      const device = simulator.device(10000001);
      const change = (body: object) =>
        serverCall(simulator, 'PUT', '/devices/10000001', { body }).then((reply) => reply.body);
      assert.deepEqual(await change({ name: 'Attic' }), { msg: 'OK' });
      await change({ disabled: true });
      assert.deepEqual([device.name, device.online], ['Attic', false]);
      assert.equal((await openGet(simulator, 'gpio_status/10000001/')).status, 504);
      await change({ disabled: false });
      assert.equal(device.online, true);
    }),
  );

  it(
    'passes data through to a device',
    withSimulator({ offlineAfter: 10 }, async (simulator) => {
      const body = { data: '0102', format: 'HEX' };
      const reply = await serverCall(simulator, 'PUT', '/devices/10000001', { body });
      assert.deepEqual(reply.body, { msg: 'OK' });
      assert.deepEqual(simulator.device(10000001).received[0]?.bytes, Buffer.from([1, 2]));
      simulator.switchOff(10000001);
      const off = await serverCall(simulator, 'PUT', '/devices/10000001', { body });
      assert.equal(off.status, 504);
    }),
  );

  it(
    'answers 400 to a PUT body without a known field',
    withSimulator({}, async (simulator) => {
      for (const body of ['', '[]', '{}', '{"name":5}', '{"data":"x","format":"XML"}']) {
        const { status } = await serverCall(simulator, 'PUT', '/devices/10000001', { body });
        assert.equal(status, 400, body);
      }
    }),
  );

  it(
    'returns all uploads page by page, and requires page and count',
    withSimulator({}, async (simulator) => {
      for (const [index, chipid] of ['10000001', '10000002', '10000001'].entries()) {
        simulator.upload(chipid, `no ${index + 1}`);
      }
      const { body } = await serverCall(simulator, 'GET', '/up/messages?page=2&count=2');
      const { messages, ...rest } = body as { messages: { id: number; body: string }[] };
      assert.deepEqual(rest, { page: 2, count: 2, total: 3 });
      assert.deepEqual([messages[0]?.id, messages[0]?.body], [3, 'no 3']);
      assert.equal((await serverCall(simulator, 'GET', '/up/messages?page=1')).status, 400);
    }),
  );
});
