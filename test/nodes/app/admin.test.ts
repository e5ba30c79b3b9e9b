import assert from 'node:assert/strict';
import httpProxy from '@node-red/nodes/core/network/06-httpproxy.js';
import type { NodeAPI } from 'node-red';
import helper from 'node-red-node-test-helper';
import app from '../../../nodes/app/app';
import { httpService } from '../../tooling/servers/http-service';
import { freePort } from '../../tooling/servers/ports';
import { ALWAYS_ONLINE, cloudApp, load, node, simulatorApp } from '../support/flow';
import { call } from '../support/messages';
import { startCloud, startWith, useNodeRed } from '../support/node-red';
import { ask, read, type Answered } from '../support/routes';
import { CANARIES } from '../support/secrets';
import { until } from '../../tooling/until';

const get = (id: string): Promise<Answered<unknown>> => ask(`apps/${id}/devices`);

describe('the list of devices for the editor', () => {
  useNodeRed();

  it('contains the online devices of an application without their keys', async () => {
    const long = '98765432109876543210';
    const devices = [
      { chipid: 10000001, name: 'Greenhouse', devkey: 'device-key-1' },
      { chipid: 10000002, name: 17, devkey: 'device-key-2' },
      { chipid: long, name: null, devkey: 'device-key-3' },
      { chipid: 10000004 },
    ];
    const cloud = await startCloud({ devices });
    cloud.switchOff(10000004);
    await load([cloudApp(cloud), node('push')]);
    const { status, body, text } = await get('app');
    assert.equal(status, 200);
    const choices = body as { latest: string }[];
    assert.deepEqual(
      choices.map(({ latest, ...choice }) => {
        assert.match(latest, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
        return choice;
      }),
      [
        { chipid: '10000001', name: 'Greenhouse', vertype: 1 },
        { chipid: '10000002', name: '17', vertype: 1 },
        { chipid: long, name: null, vertype: 1 },
      ],
    );
    assert.ok(!/devkey|device-key/.test(text));
  });

  it('has those that were online before, for the editor itself', async () => {
    const cloud = await startCloud({ devices: 2 });
    await load([cloudApp(cloud), node('push'), node('devices')]);
    await call('devices', {});
    cloud.switchOff('10000002');
    const expected = [
      ['10000001', false],
      ['10000002', true],
    ];
    const shown = (body: unknown) =>
      (body as { chipid: string; offline?: true }[]).map((each) => [
        each.chipid,
        each.offline ?? false,
      ]);
    assert.deepEqual(shown(await read('apps/app/devices?ages')), expected);
    // As the editor has them where only something else was changed, such as the name.
    const { baseUrl, appid } = cloud;
    const unsaved = await read('apps/devices?ages', { id: 'app', baseUrl, appid });
    assert.deepEqual(shown(unsaved), expected);
  });

  it('works for an application that no node uses yet, and leaves nothing open', async () => {
    const cloud = await startWith();
    for (let time = 0; time < 2; time++) {
      const { body } = await get('app');
      assert.equal((body as unknown[]).length, 3);
      await until(() => cloud.sockets() === 0, 'its connection ends');
    }
  });

  it('works for the simulator', async () => {
    await load([simulatorApp()]);
    const { length } = (await get('app')).body as unknown[];
    assert.ok(length >= ALWAYS_ONLINE.length, String(length));
  });

  it('reports keys that are missing, and a service that refuses', async () => {
    const cloud = await startCloud();
    cloud.fail('unauthorized');
    const keyless = cloudApp(cloud, { id: 'app2', appid: '' });
    await load([cloudApp(cloud), keyless, node('push')]);
    for (const [id, status, code] of [
      ['app2', 404, 'NOT_CONFIGURED'],
      ['app', 502, 'UNAUTHORIZED'],
    ] as const) {
      const answer = await ask(`apps/${id}/devices`);
      assert.deepEqual(Object.keys(answer.body), ['error']);
      assert.deepEqual([answer.status, answer.body.error.code], [status, code]);
      assert.ok(answer.body.error.message.length > 20);
    }
  });

  it('is read once for simultaneous requests', async () => {
    let asked = 0;
    const spy = (RED: NodeAPI): void => {
      RED.auth.needsPermission = () => (_request, _response, next) => {
        asked++;
        next();
      };
    };
    const answers: (() => void)[] = [];
    const service = await httpService((response) => {
      answers.push(() => response.end('[]'));
    });
    await helper.load([spy, app], [cloudApp({ ...service, appid: '1' })], { app: CANARIES });
    const asking = Array.from({ length: 5 }, () => get('app'));
    const all = Promise.all(asking);
    await until(() => asked === 5 && answers.length > 0, 'all have asked, and the service, too');
    for (const answer of answers) answer();
    assert.deepEqual(
      (await all).map(({ status }) => status),
      Array(5).fill(200),
    );
    assert.equal(service.requests.length, 1);
    const next = get('app');
    await until(() => answers.length === 2, 'it is read anew afterwards');
    answers[1]?.();
    await next;
  });

  it('names no address of a proxy, whoever asks, and neither does the test', async () => {
    const address = `http://localhost:${await freePort()}`;
    process.env['DEVICE_CLOUD_TEST_PROXY'] = address;
    const baseUrl = 'http://service.invalid';
    const proxy = { id: 'proxy', type: 'http proxy', url: '${DEVICE_CLOUD_TEST_PROXY}' };
    const flow = [proxy, cloudApp({ baseUrl, appid: '1' }, { proxy: 'proxy' })];
    await helper.load([httpProxy, app], flow, { app: CANARIES });
    const list = await get('app');
    const settings = { id: 'app', baseUrl, appid: '1', proxy: 'proxy' };
    const test = await ask('apps/test', { body: settings });
    for (const { text } of [list, test]) {
      assert.match(text, /UNREACHABLE.*through the proxy/s);
      assert.ok(!text.includes('localhost'), text);
    }
    Reflect.deleteProperty(process.env, 'DEVICE_CLOUD_TEST_PROXY');
  });
});
