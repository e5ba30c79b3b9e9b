import assert from 'node:assert/strict';
import { clientOf } from './support/client';
import { failure, failures } from './support/failure';
import { httpService, json } from '../tooling/servers/http-service';

describe('a client without its keys', () => {
  it('is NOT_CONFIGURED for the interface that needs them, and sends nothing', async () => {
    const service = await httpService(json([]));
    const open = clientOf(service.baseUrl, { serverKey: '', serverPassword: '' });
    const server = clientOf(service.baseUrl, { appid: '', appkey: '' });
    await failure(open.serverDevices(), 'NOT_CONFIGURED');
    await failures(
      [server.devices(), server.push(1, 'x'), server.pushOverChannel(1, 'x')],
      'NOT_CONFIGURED',
    );
    assert.throws(() => server.listen(1, {}), { code: 'NOT_CONFIGURED' });
    assert.equal(service.connections(), 0);
    assert.deepEqual((await open.devices()).body, []);
    assert.deepEqual((await server.serverDevices()).body, []);
  });
});
