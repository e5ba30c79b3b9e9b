import assert from 'node:assert/strict';
import type { DeviceCloudClient } from '../../../src/client';
import { USER_AGENT } from '../../../src/protocol/signing';
import { KEYS, clientOf, serving, simulated, simulator } from '../support/client';
import { failure } from '../support/failure';
import { httpService, json, raw } from '../../tooling/servers/http-service';
import { until } from '../../tooling/until';
import { signServerByHand } from '../../tooling/sign-by-hand';

const ID = '10000001';

const DEVICE = `/api/server/devices/${ID}`;

/** Each call, its method, path, query and body. */
const CASES: Record<string, [(client: DeviceCloudClient) => Promise<unknown>, ...string[]]> = {
  serverDevices: [
    (client) => client.serverDevices({ page: 2, count: 5 }),
    ...['GET', '/api/server/devices', 'page=2&count=5'],
  ],
  serverDevice: [(client) => client.serverDevice(Number(ID)), 'GET', DEVICE],
  serverUpdate: [
    (client) => client.serverUpdate(ID, { name: 'Zürich', disabled: false }),
    ...['PUT', DEVICE, '', '{"name":"Zürich","disabled":false}'],
  ],
  serverPassthrough: [
    (client) => client.serverPassthrough(ID, { data: 'A&B=C' }),
    ...['PUT', DEVICE, '', '{"data":"A&B=C"}'],
  ],
  serverUploads: [
    (client) => client.serverUploads({ page: 1, count: 3 }),
    ...['GET', '/api/server/up/messages', 'page=1&count=3'],
  ],
};

describe('a call of the server API, as the strict simulator receives it', () => {
  for (const [call, [run, method = '', path = '', query = '', body = '']] of Object.entries(
    CASES,
  )) {
    it(`${call} is ${method} ${path}, signed in its headers, and accepted`, async () => {
      const service = await simulator();
      await run(clientOf(service.baseUrl));
      assert.equal(service.requests.length, 1);
      const request = service.requests[0]!;
      const { headers } = request;
      assert.equal(request.status, 200);
      assert.deepEqual(
        [request.method, request.path, request.query, request.body],
        [method, path, query, body],
      );
      assert.equal(headers['key'], KEYS.serverKey);
      assert.match(String(headers['timestamp']), /^\d{10}$/);
      const { serverKey, serverPassword } = KEYS;
      const timestamp = String(headers['timestamp']);
      const sign = signServerByHand(method, path, serverKey, timestamp, serverPassword);
      assert.equal(headers['sign'], sign);
      assert.equal(headers['user-agent'], USER_AGENT);
      assert.equal(headers['content-type'], body === '' ? undefined : 'application/json');
    });
  }

  it('encodes a query, which is not signed', async () => {
    const service = await httpService(json([]));
    await clientOf(service.baseUrl).serverUploads({ 'a b': 'ä&=', on: true, n: 1.5 });
    assert.equal(service.requests[0]?.search, 'a%20b=%C3%A4%26%3D&on=true&n=1.5');
  });

  for (const none of [undefined, null, '', {}]) {
    it(`has no query for ${JSON.stringify(none)}, which is INVALID_INPUT of uploads, for want of pagination`, async () => {
      const { service, client } = await serving(json([]));
      await client.serverDevices(none as undefined);
      assert.equal(service.requests[0]?.search, '');
      const { message } = await failure(client.serverUploads(none as never), 'INVALID_INPUT');
      assert.match(message, /query is empty.*pagination/);
      assert.equal(service.requests.length, 1);
    });
  }
});

describe('the results of calls of the server API', () => {
  it('the lists and records, and what was changed', async () => {
    const { service, client } = await simulated({ devices: 2 });
    service.upload(ID, 'up');
    const devices = (await client.serverDevices()).body as { devices: string[] };
    assert.deepEqual(devices.devices, [ID, '10000002']);
    await client.serverUpdate(ID, { name: 'Neu', disabled: true });
    const record = (await client.serverDevice(ID)).body as { name: string; disabled: boolean };
    assert.deepEqual([record.name, record.disabled], ['Neu', true]);
    await client.serverUpdate(ID, { disabled: false });
    await client.serverPassthrough(ID, { data: 'hallo' });
    assert.equal(service.device(ID).received[0]?.text, 'hallo');
    const uploads = (await client.serverUploads({ page: 1, count: 10 })).body;
    assert.equal((uploads as { messages: { body: string }[] }).messages[0]?.body, 'up');
  });

  it('of an id that looks like a chip number: it makes no device, and waits for no command to one', async () => {
    const { service, client } = await simulated();
    service.delay(ID, 2 ** 30);
    const push = client.push(ID, 'x').catch(() => undefined);
    await until(() => service.requests.length === 1, 'the push is under way');
    await client.serverUpdate(ID, { name: 'Neu' });
    await client.serverPassthrough('10000002', { data: 'x' });
    assert.deepEqual(
      client.fleet.snapshot().map(({ chipid, running }) => [chipid, running]),
      [[ID, 1]],
    );
    await client.close();
    await push;
  });

  it('UNAUTHORIZED if this clock is three hours off, with a hint about the clock', async () => {
    const service = await simulator();
    for (const hours of [-3, 3]) {
      const now = (): number => Date.now() + hours * 3_600_000;
      const call = clientOf(service.baseUrl, { now }).serverDevices();
      assert.match((await failure(call, 'UNAUTHORIZED')).message, /clock/);
    }
  });

  const successes: [status: number, sent: string, body: unknown][] = [
    [201, '{"id":1}', { id: 1 }],
    [201, 'OK\r\n', 'OK\r\n'],
    [299, '<p>grün', '<p>grün'],
    [200, '"OK"', 'OK'],
    [204, '', null],
    [200, '', null],
  ];
  for (const [statusCode, sent, body] of successes) {
    it(`any 2XX is a success: ${statusCode} with ${JSON.stringify(sent)}`, async () => {
      const { client } = await serving(raw(sent, statusCode));
      assert.deepEqual(await client.serverDevice('a'), { statusCode, body });
      assert.deepEqual(await client.serverPassthrough('a', {}), { statusCode, body });
    });
  }

  for (const sent of ['{', '<!doctype html><p>Please log in', ' ']) {
    it(`INVALID_RESPONSE of a 200 that is not JSON: ${JSON.stringify(sent)}`, async () => {
      const { service, client } = await serving(raw(sent));
      const { message } = await failure(client.serverUpdate('a', {}), 'INVALID_RESPONSE');
      assert.match(message, /not JSON.*may have been carried out.*portal/);
      await failure(client.serverDevice('a'), 'INVALID_RESPONSE');
      assert.equal(service.requests.length, 2, 'neither goes out again');
    });
  }

  it('no compressed answer, since none was requested', async () => {
    const service = await httpService(raw('x', 202, { 'content-encoding': 'gzip' }));
    await failure(clientOf(service.baseUrl).serverDevice('a'), 'INVALID_RESPONSE');
  });

  it('ids with every character that needs no encoding', async () => {
    const service = await httpService(json({}));
    await clientOf(service.baseUrl).serverDevice('A.b_c~d-9');
    assert.equal(service.requests[0]?.path, '/api/server/devices/A.b_c~d-9');
  });
});
