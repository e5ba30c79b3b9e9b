import assert from 'node:assert/strict';
import { clientOf, keysOf, serving, simulated } from '../support/client';
import { failure } from '../support/failure';
import { PUBLIC_DIALECT } from '../../tooling/dialect';
import { until } from '../../tooling/until';
import { httpService, json, raw } from '../../tooling/servers/http-service';

const paths = (requests: readonly { path: string }[]): string[] =>
  requests.map(({ path }) => path.replace('/openapi/devices/', ''));

describe('the list of the online devices, whose address the document gives in two spellings', () => {
  it('is requested at the second if the first is 404, and from then on', async () => {
    const { service, client } = await simulated(
      { dialect: PUBLIC_DIALECT, devices: 1 },
      keysOf(PUBLIC_DIALECT),
    );
    for (let call = 0; call < 3; call++) assert.equal((await client.devices()).body.length, 1);
    assert.deepEqual(paths(service.requests), ['list/', 'lists/', 'lists/', 'lists/']);
  });

  it('is requested at the first again if the second is then 404', async () => {
    let known = 'lists';
    const { service, client } = await serving((response, request, count) => {
      const found = request.path === `/openapi/devices/${known}/`;
      (found ? json([]) : json({ msg: 'no' }, 404))(response, request, count);
    });
    await client.devices();
    known = 'list';
    await client.devices();
    await client.devices();
    assert.deepEqual(paths(service.requests), ['list/', 'lists/', 'lists/', 'list/', 'list/']);
  });

  it('is requested at the second by each of two calls at once, however late the first 404 comes', async () => {
    let answerLate = (): void => undefined;
    const { service, client } = await serving((response, request, count) => {
      if (request.path === '/openapi/devices/lists/') return json([])(response, request, count);
      const notFound = (): void => json({ msg: 'no' }, 404)(response, request, count);
      if (service.requests.length === 1) answerLate = notFound;
      else notFound();
    });
    const late = client.devices();
    await until(() => service.requests.length === 1, 'the first call has arrived');
    assert.deepEqual((await client.devices()).body, []);
    answerLate();
    assert.deepEqual((await late).body, []);
    assert.deepEqual(paths(service.requests), ['list/', 'list/', 'lists/', 'lists/']);
  });

  it('is NOT_FOUND if both are 404, and nothing is remembered', async () => {
    const { service, client } = await serving(json({ msg: 'no application' }, 404));
    for (let call = 0; call < 2; call++) {
      assert.match((await failure(client.devices(), 'NOT_FOUND')).message, /"no application"/);
    }
    assert.deepEqual(paths(service.requests), ['list/', 'lists/', 'list/', 'lists/']);
  });

  it('is not requested at the second after any other failure, or if something else is unknown', async () => {
    for (const [script, code] of [
      [raw('', 401), 'UNAUTHORIZED'],
      [json({ msg: '无设备对应操作权限！' }, 400), 'NOT_FOUND'],
    ] as const) {
      const service = await httpService(script);
      await failure(clientOf(service.baseUrl).devices(), code);
      assert.deepEqual(paths(service.requests), ['list/']);
    }
  });

  it('has a device once that is listed twice, with its newest record', async () => {
    const record = (chipid: unknown, latest: string) => ({ chipid, latest });
    const records = [
      record(8454703, '2016-06-23 09:15:24'),
      record(8454704, '2016-06-23 09:00:00'),
      record('008454703', '2016-06-23 10:00:00'),
      record(8454704, '2016-06-22 09:00:00'),
      record('none', ''),
    ];
    const online = [records[1], records[2], records[4]];
    const { client } = await serving((response, request, count) => {
      const body = request.path.endsWith('/apps/') ? { name: 'x', online: records } : records;
      json(body)(response, request, count);
    });
    assert.equal(client.listPath, undefined);
    assert.deepEqual((await client.devices()).body, online);
    assert.deepEqual((await client.app()).body.online, online);
    assert.equal(client.listPath, 'devices/list/');
    assert.equal((await client.fleet.readList()).devices.size, 2);
  });
});
