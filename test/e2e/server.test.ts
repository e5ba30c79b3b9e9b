import assert from 'node:assert/strict';
import { ONE, THREE, TWO, fixture } from './harness/fixture';
import { around } from './harness/flows';
import { app, node } from '../../tooling/node-red/nodes';

describe('device-cloud-server in a real Node-RED', () => {
  const here = fixture((simulator) => [
    // The server API has keys of its own, and works without those of the open API.
    app(simulator, { appid: '' }, { appkey: '' }),
    ...around('devices', node('server')),
    ...around('device', node('server', { operation: 'device' })),
    ...around('update', node('server', { operation: 'update' })),
    ...around('passthrough', node('server', { operation: 'passthrough' })),
    ...around('uploads', node('server', { operation: 'uploads' })),
  ]);

  const last = (): string => {
    const { method, path, query } = here.simulator.requests.at(-1)!;
    return `${method} ${path}${query === '' ? '' : `?${query}`}`;
  };

  it('lists the ids of the registered devices, page by page', async () => {
    const { sent } = await here.red.ask('devices', { page: 2, count: 2 });
    assert.deepEqual((sent[0]!.payload as { devices: unknown }).devices, [THREE]);
    assert.equal(sent[0]!['statusCode'], 200);
    assert.equal(last(), 'GET /api/server/devices?page=2&count=2');
  });

  it('reads one device', async () => {
    const { sent } = await here.red.ask('device', { deviceid: ONE });
    assert.equal((sent[0]!.payload as { deviceid: unknown }).deviceid, ONE);
    assert.equal(last(), `GET /api/server/devices/${ONE}`);
  });

  it('renames and disables a device', async () => {
    await here.red.ask('update', { deviceid: TWO, payload: { name: 'Süd', disabled: true } });
    assert.equal(last(), `PUT /api/server/devices/${TWO}`);
    const { name, disabled } = here.simulator.device(TWO);
    assert.deepEqual([name, disabled], ['Süd', true]);
  });

  it('passes data through to a device', async () => {
    await here.red.ask('passthrough', { deviceid: ONE, payload: { data: 'direct' } });
    const push = here.simulator.device(ONE).received.at(-1)!;
    assert.deepEqual([push.via, push.text], ['server-api', 'direct']);
  });

  it('reads uploads, with whatever parameters the service wants', async () => {
    here.simulator.upload(ONE, 'up');
    const { sent } = await here.red.ask('uploads', { query: { page: 1, count: 10 } });
    const { messages } = sent[0]!.payload as { messages: { body: string }[] };
    assert.deepEqual(
      messages.map(({ body }) => body),
      ['up'],
    );
  });
});
