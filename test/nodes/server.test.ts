import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { node } from './support/flow';
import { call } from './support/messages';
import { startWith, useNodeRed } from './support/node-red';
import { CANARIES } from './support/secrets';

describe('the server node', () => {
  useNodeRed();
  let cloud: Simulator;
  const deviceid = '10000001';

  async function start(properties: object = {}): Promise<void> {
    cloud = await startWith(node('server', properties));
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
});
