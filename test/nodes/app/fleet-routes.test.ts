import assert from 'node:assert/strict';
import type { Diagnostics } from '../../../nodes/app/answers.config';
import type { FleetAnswer } from '../../../nodes/app/answers.config';
import { httpService, json } from '../../tooling/servers/http-service';
import { until } from '../../tooling/until';
import { cloudApp, load, node, simulatorApp } from '../support/flow';
import { call, fail } from '../support/messages';
import { startCloud, startWith, useNodeRed } from '../support/node-red';
import { ask, audited, read, type Answered, type Refusal } from '../support/routes';

const DEVICE = '10000001';

const post = (path: string, body: object): Promise<Answered<Refusal>> =>
  ask(`apps/${path}`, { body });

const fleet = (since?: string): Promise<FleetAnswer> =>
  read(`apps/app/fleet${since === undefined ? '' : `?since=${encodeURIComponent(since)}`}`);

describe('the fleet for the editor', () => {
  useNodeRed();

  it('is empty without a node that uses the application, and sends nothing to the service', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud, { name: 'House' })]);
    assert.deepEqual(await read('apps'), [
      { id: 'app', name: 'House', service: 'cloud', devices: 0, online: 0 },
    ]);
    const { devices, complete } = await fleet();
    assert.deepEqual([devices, complete], [[], true]);
    assert.equal(cloud.requests.length, 0);
  });

  it('does not start the built-in simulator', async () => {
    await load([simulatorApp()]);
    assert.deepEqual(await fleet(), { revision: 0, devices: [], removed: [], complete: true });
  });

  it('lists the devices for the first request, then only changes, without keys', async () => {
    const devices = [{ chipid: 10000001, name: 'Greenhouse', devkey: 'device-key-1' }];
    const cloud = await startCloud({ devices });
    await load([cloudApp(cloud), node('push')]);
    await until(async () => (await fleet()).devices.length === 1, 'the list was read');
    const first = await fleet();
    const [row] = first.devices;
    assert.equal(typeof row?.since, 'number');
    assert.deepEqual(
      { ...row, since: 0 },
      {
        ...{ chipid: DEVICE, name: 'Greenhouse', online: true, since: 0, lastUpload: null },
        ...{ channel: null, waiting: 0, reconnects: 0, recovered: 0, lastError: null },
      },
    );
    const same = await fleet(String(first.revision));
    assert.deepEqual(same, { revision: first.revision, devices: [], removed: [] });
    for (const garbage of ['x', '-1', '1e3', '', '99999999999999999999', '9007199254740991']) {
      assert.equal((await fleet(garbage)).devices.length, 1, garbage);
    }
    cloud.fail('unauthorized');
    await fail('push', { chipid: DEVICE, payload: 'x' }, 'UNAUTHORIZED');
    const { devices: changed } = await fleet(String(first.revision));
    assert.equal(changed[0]?.lastError?.code, 'UNAUTHORIZED');
    assert.ok(!/devkey|device-key/.test(JSON.stringify(changed)));
    // One list for all who looked.
    assert.equal(cloud.requests.filter(({ path }) => path.includes('/devices/list')).length, 1);
  });

  it('refreshes and pushes, which the audit log records without the message', async () => {
    const cloud = await startWith();
    for (const [name, body, more] of [
      ['refresh', {}, { status: 'online' }],
      ['push', { message: 'Canary-Message' }, {}],
      ['push', { message: '00ff', format: 'HEX' }, {}],
    ] as const) {
      const { status, body: said } = await post(`app/devices/0${DEVICE}/${name}`, body);
      assert.equal(status, 200, JSON.stringify(said));
      assert.deepEqual(said, { ok: true, ...more });
    }
    assert.match(cloud.requests[1]?.body ?? '', /Canary-Message/);
    const notes = audited();
    assert.deepEqual(
      notes.map(({ event, id, chipid }) => [event, id, chipid]),
      [
        ['device-cloud.devices.refresh', 'app', DEVICE],
        ['device-cloud.devices.push', 'app', DEVICE],
        ['device-cloud.devices.push', 'app', DEVICE],
      ],
    );
    assert.ok(!JSON.stringify(notes).includes('Canary-Message'));
  });

  for (const [answer, status, online] of [
    ['offline', 'offline', false],
    [`sleeping\u202e ${'x'.repeat(100)}`, `sleeping� ${'x'.repeat(30)}…`, false],
    ['online', 'online', true],
  ] as const) {
    it(`says what the service answered to a refresh: ${status}`, async () => {
      let lists = 0;
      const service = await httpService((...request) => {
        const isRefresh = request[1].path.includes('/manual_refresh/');
        if (isRefresh) json({ status: answer, msg: 'OK' })(...request);
        // Whoever looks at the fleet has the list read again: it says nothing more.
        else json([{ chipid: Number(DEVICE) }], lists++ === 0 ? 200 : 500)(...request);
      });
      await load([cloudApp({ baseUrl: service.baseUrl, appid: '10001' }), node('devices')]);
      await call('devices', {});
      const { body } = await post(`app/devices/${DEVICE}/refresh`, {});
      assert.deepEqual(body, { ok: true, status });
      const { devices } = await fleet();
      assert.equal(devices.find(({ chipid }) => chipid === DEVICE)?.online, online);
    });
  }

  const REFUSED: readonly [path: string, body: object, status: number, code: string][] = [
    ['app/devices/x/refresh', {}, 400, 'INVALID_INPUT'],
    ['app/devices/1/refresh', [], 400, 'INVALID_INPUT'],
    ['app/devices/1/push', { message: 1 }, 400, 'INVALID_INPUT'],
    ['app/devices/1/push', { message: 'x', format: 'x' }, 400, 'INVALID_INPUT'],
    ['app/devices/1/push', { message: 'x'.repeat(65_537) }, 400, 'INVALID_INPUT'],
    ['app/devices/1/push', { message: 'x' }, 502, 'NOT_FOUND'],
    ['app/devices/1/gpio', { pin: -1, level: 1 }, 400, 'INVALID_INPUT'],
    ['app/devices/1/gpio', { pin: 5, level: 1 }, 502, 'NOT_FOUND'],
    ['app/devices/1/value', {}, 400, 'INVALID_INPUT'],
    ['app/devices/1/value', { key: 'uptime' }, 502, 'NOT_FOUND'],
  ];
  for (const [path, body, expected, code] of REFUSED) {
    it(`refuses ${path} with ${JSON.stringify(body).slice(0, 40)}`, async () => {
      const cloud = await startWith();
      const { status, body: said } = await post(path, body);
      assert.deepEqual([status, said.error.code], [expected, code]);
      assert.equal(cloud.requests.length, expected === 502 ? 1 : 0);
    });
  }

  it('has diagnostics: versions, settings, counts and the last errors, without keys or addresses', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud, { name: 'Private' }), node('push')]);
    await call('push', { chipid: DEVICE, payload: 'x' });
    cloud.fail('unauthorized');
    for (let time = 0; time < 21; time++) {
      await fail('push', { chipid: 10000002, payload: 'x' }, 'UNAUTHORIZED');
    }
    const { body, text } = await ask<Diagnostics>('diagnostics');
    assert.match(body.versions.package, /^\d+\.\d+\.\d+/);
    assert.match(body.versions.nodeRed, /^\d+\./);
    assert.equal(body.apps[0]?.settings['timeout'], 15);
    assert.equal(body.apps[0].settings['openApi'], 'ready');
    assert.equal(body.apps[0].counts['nodes'], 1);
    assert.equal(body.apps[0].counts['devices'], 2);
    assert.equal(body.errors.length, 20);
    assert.deepEqual([body.errors[0]?.chipid, body.errors[0]?.code], ['10000002', 'UNAUTHORIZED']);
    assert.ok(!/Private|127\.0\.0\.1|sign=/.test(text), text);
  });
});
