import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { call, fail } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { CANARIES } from './support/secrets';

describe('the server node', () => {
  useNodeRed();
  let cloud: Simulator;
  const deviceid = '10000001';

  async function start(properties: object = {}): Promise<void> {
    cloud = await startCloud();
    await load([cloudApp(cloud), node('server', properties)]);
  }
  const request = () => cloud.requests.at(-1)!;

  it('lists the registered devices, signed in the headers', async () => {
    await start();
    const { _msgid, ...out } = await call('server', { payload: 'old', topic: 't' });
    assert.ok(_msgid);
    const devices = ['10000001', '10000002', '10000003'];
    assert.deepEqual(out, {
      topic: 't',
      payload: { page: 1, count: 20, total: 3, devices },
      statusCode: 200,
    });
    assert.equal(request().path, '/api/server/devices');
    assert.equal(request().query, '');
    assert.equal(request().headers['key'], CANARIES.serverKey);
    assert.match(String(request().headers['sign']), /^[0-9a-f]{32}$/);
  });

  it('requests a page of the list', async () => {
    await start({ page: '3', pageType: 'num', count: 'size', countType: 'msg' });
    const out = await call('server', { size: 1 });
    assert.deepEqual(out.payload, { page: 3, count: 1, total: 3, devices: ['10000003'] });
    assert.equal(request().query, 'page=3&count=1');
  });

  it('reads the record of a device', async () => {
    await start({ operation: 'device' });
    const out = await call('server', { deviceid: 10000001 });
    assert.equal((out.payload as { deviceid: string }).deviceid, deviceid);
    assert.equal(out['deviceid'], 10000001);
    assert.equal(request().path, `/api/server/devices/${deviceid}`);
  });

  it('changes the record of a device', async () => {
    await start({ operation: 'update' });
    const out = await call('server', { deviceid, payload: { name: 'Büro & Co' } });
    assert.deepEqual(out.payload, { msg: 'OK' });
    assert.equal(cloud.device(deviceid).name, 'Büro & Co');
    assert.equal(request().method, 'PUT');
    assert.equal(request().headers['content-type'], 'application/json');
    assert.deepEqual(JSON.parse(request().body), { name: 'Büro & Co' });
  });

  it('passes data through to a device', async () => {
    await start({ operation: 'passthrough', body: 'command', deviceid: 'device.id' });
    await call('server', { device: { id: deviceid }, command: { data: '00ff', format: 'HEX' } });
    assert.deepEqual(cloud.device(deviceid).received[0]?.bytes, Buffer.from([0, 255]));
    assert.equal(cloud.device(deviceid).received[0]?.via, 'server-api');
  });

  it('reads uploads with any query', async () => {
    await start({ operation: 'uploads', query: '{"page":1,"count":2}', queryType: 'json' });
    for (const body of ['a', 'b', 'c']) cloud.upload(deviceid, body);
    const out = await call('server', {});
    const { total, messages } = out.payload as { total: number; messages: { body: string }[] };
    assert.equal(total, 3);
    assert.deepEqual(
      messages.map(({ body }) => body),
      ['a', 'b'],
    );
    assert.equal(request().path, '/api/server/up/messages');
  });

  it('refuses an empty query for uploads, which need pagination, before anything is sent', async () => {
    await start({ operation: 'uploads' });
    const { error } = await fail('server', {}, 'INVALID_INPUT');
    assert.match(error.message, /query is empty.*pagination/);
    assert.equal(cloud.requests.length, 0);
  });

  it('reports what the service finds missing in a query', async () => {
    await start({ operation: 'uploads', query: '{"other":1}' });
    const caught = await fail('server', {}, 'BAD_REQUEST');
    assert.equal(caught['statusCode'], 400);
    assert.equal(request().query, 'other=1');
  });

  it('treats any 2XX as a success', async () => {
    await start({ operation: 'update' });
    cloud.fail('odd-status');
    const out = await call('server', { deviceid, payload: { name: 'x' } });
    assert.equal(out['statusCode'], 299);
    assert.deepEqual(out.payload, { msg: 'OK' });
  });

  it('refuses an invalid device id, body or query, before anything is sent', async () => {
    cloud = await startCloud();
    const query = { operation: 'uploads', query: 'query', queryType: 'msg', id: 'uploads' };
    await load([cloudApp(cloud), node('server', { operation: 'update' }), node('server', query)]);
    const ids = ['', '..', '.', '../x', 'a b', 'a/b', '%2f', 'ä', 'x\r\ny', 1.5, null, undefined];
    for (const id of [...ids, 'x'.repeat(65), true, {}, NaN]) {
      await fail('server', { deviceid: id, payload: {} }, 'INVALID_INPUT');
    }
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const bodies = [undefined, null, '', '{}', 5, true, [], Buffer.from('x'), circular, { n: 1n }];
    for (const payload of [...bodies, () => 1, new Date(0), { toJSON: () => 5 }]) {
      await fail('server', { deviceid, payload }, 'INVALID_INPUT');
    }
    for (const bad of ['a=1', 5, [], { a: {} }, { a: null }, { a: NaN }, { '\ud800': 1 }]) {
      await fail('uploads', { query: bad }, 'INVALID_INPUT');
    }
    assert.equal(cloud.requests.length, 0);
    await call('server', { deviceid, payload: { name: 'good' } });
    assert.equal(cloud.device(deviceid).name, 'good');
  });
});
