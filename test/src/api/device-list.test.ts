import assert from 'node:assert/strict';
import { clientOf, simulator } from '../support/client';
import { failure } from '../support/failure';
import { httpService, json, raw } from '../../../tooling/servers/http-service';

const paths = (requests: readonly { path: string }[]): string[] =>
  requests.map(({ path }) => path.replace('/openapi/devices/', ''));

describe('the list of the online devices, whose address the document gives in two spellings', () => {
  it('is requested at the first', async () => {
    const service = await simulator({ devicesPath: 'list', devices: 1 });
    const client = clientOf(service.baseUrl);
    assert.equal((await client.devices()).body.length, 1);
    assert.equal((await client.devices()).body.length, 1);
    assert.deepEqual(paths(service.requests), ['list/', 'list/']);
  });

  it('is requested at the second if the first is 404, and from then on', async () => {
    const service = await simulator({ devicesPath: 'lists', devices: 1 });
    const client = clientOf(service.baseUrl);
    for (let call = 0; call < 3; call++) assert.equal((await client.devices()).body.length, 1);
    assert.deepEqual(paths(service.requests), ['list/', 'lists/', 'lists/', 'lists/']);
  });

  it('is requested at the first again if the second is then 404', async () => {
    let known = 'lists';
    const service = await httpService((response, request, count) => {
      const found = request.path === `/openapi/devices/${known}/`;
      (found ? json([]) : json({ msg: 'no' }, 404))(response, request, count);
    });
    const client = clientOf(service.baseUrl);
    await client.devices();
    known = 'list';
    await client.devices();
    await client.devices();
    assert.deepEqual(paths(service.requests), ['list/', 'lists/', 'lists/', 'list/', 'list/']);
  });

  it('is NOT_FOUND if both are 404, and nothing is remembered', async () => {
    const service = await httpService(json({ msg: 'no application' }, 404));
    const client = clientOf(service.baseUrl);
    for (let call = 0; call < 2; call++) {
      assert.match((await failure(client.devices(), 'NOT_FOUND')).message, /"no application"/);
    }
    assert.deepEqual(paths(service.requests), ['list/', 'lists/', 'list/', 'lists/']);
  });

  it('is not requested again after any other failure', async () => {
    const service = await httpService(raw('', 401));
    await failure(clientOf(service.baseUrl).devices(), 'UNAUTHORIZED');
    assert.deepEqual(paths(service.requests), ['list/']);
  });

  it('may be empty', async () => {
    const service = await simulator({ devices: 0 });
    assert.deepEqual((await clientOf(service.baseUrl).devices()).body, []);
  });
});
