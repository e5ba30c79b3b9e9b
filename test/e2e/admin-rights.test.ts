import assert from 'node:assert/strict';
import { startSimulator } from '../../src/simulator';
import type { Simulator } from '../../src/simulator';
import { httpService, json, type HttpService } from '../tooling/servers/http-service';
import { ADMIN_SETTINGS, FULL, OPERATOR, logIn } from './harness/admin';
import { around } from './harness/flows';
import { startNodeRed } from './harness/node-red';
import type { NodeRed } from './harness/node-red';
import { app, node } from '../tooling/node-red/nodes';
import { request } from './harness/request';

const SECRETS = {
  appkey: 'E2E-App-Key-Secret',
  serverKey: 'E2E-Server-Key',
  serverPassword: 'E2E-Server-Password-Secret',
};

interface Interface {
  ok: boolean;
  code?: string;
  reason?: string;
  settings?: string[];
}

interface Answer {
  openApi: Interface | null;
  serverApi: Interface | null;
}

describe('a user who may use the device cloud, but neither read nor change flows', () => {
  let simulator: Simulator;
  let elsewhere: HttpService;
  let red: NodeRed;
  let operator: { authorization: string };
  let full: { authorization: string };
  let hidden: HttpService;

  before(async () => {
    simulator = await startSimulator({ interval: 0, answerDelay: 1, ...SECRETS });
    hidden = await httpService(json({}));
    await hidden.close();
    const named = { ...app(simulator), id: 'named', baseUrl: '${E2E_ADDRESS}' };
    const tls = {
      ...{ id: 'tls', type: 'tls-config', cert: '', key: '', ca: '', servername: '' },
      verifyservercert: true,
    };
    const flows = [
      ...[app(simulator), named, tls],
      ...around('push', node('push')),
      ...around('named-push', { ...node('push'), id: 'named-push', app: 'named' }),
    ];
    const env = { E2E_SECRET: 'E2E-Variable-Secret', E2E_ADDRESS: hidden.baseUrl };
    red = await startNodeRed({ flows, settings: ADMIN_SETTINGS, user: FULL, env });
    operator = await logIn(red.url, OPERATOR);
    full = await logIn(red.url, FULL);
  });
  // It ends with each test.
  beforeEach(async () => {
    elsewhere = await httpService(json({ name: 'x', online: [] }));
  });
  after(async () => {
    await red.stop();
    await simulator.close();
  });

  const test = async (headers: object, settings: object): Promise<Answer> => {
    const response = await request(`${red.url}/device-cloud/apps/test`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(settings),
    });
    assert.equal(response.status, 200);
    const text = await response.text();
    assert.doesNotMatch(text, /secret"|-secret/i);
    return JSON.parse(text) as Answer;
  };

  it('cannot read the flows', async () => {
    assert.equal((await request(`${red.url}/flows`, { headers: operator })).status, 401);
  });

  it('may test the deployed application', async () => {
    const { baseUrl, appid } = simulator;
    const { openApi, serverApi } = await test(operator, { id: 'app', baseUrl, appid });
    assert.equal(openApi?.ok, true);
    assert.equal(serverApi?.ok, true);
  });

  const VARIABLE = '${E2E_SECRET}';
  for (const [what, typed, settings] of [
    ['the appid', { appid: VARIABLE }, ['appid']],
    ['the address', { baseUrl: VARIABLE }, ['baseUrl']],
    ['the app key', { credentials: { appkey: VARIABLE } }, ['appkey']],
    ['a TLS configuration', { tls: 'tls' }, ['tls']],
  ] as const) {
    it(`cannot have a variable or a stored key sent to another host: ${what}`, async () => {
      const from = red.log().length;
      const usual = { baseUrl: elsewhere.baseUrl, appid: '1', credentials: { appkey: 'typed' } };
      const { openApi, serverApi } = await test(operator, { id: 'app', ...usual, ...typed });
      assert.equal(openApi?.code, 'NOT_CONFIGURED');
      assert.equal(openApi.reason, what.includes('TLS') ? 'network' : 'variable');
      assert.deepEqual(openApi.settings, settings);
      assert.ok(!serverApi?.ok);
      assert.equal(elsewhere.requests.length, 0);
      // The log comes by another way than the answer, and may be behind it.
      await red.logged(/permission\.fail.*flows\.write|flows\.write.*operator/, from);
    });
  }

  it('cannot read a variable by its name in the deployed settings, nor in an error', async () => {
    const typed = { id: 'named', baseUrl: '${E2E_ADDRESS}', appid: simulator.appid };
    assert.equal((await test(operator, typed)).openApi?.reason, 'variable');
    const list = async (headers: object): Promise<string> =>
      (
        await request(`${red.url}/device-cloud/apps/named/devices`, { headers: { ...headers } })
      ).text();
    for (const user of [operator, full]) {
      const text = await list(user);
      assert.match(text, /UNREACHABLE/);
      assert.ok(!text.includes(String(hidden.port)), text);
    }
  });

  it('is distinguished from a user who may change flows, for whom variables are read', async () => {
    const { baseUrl } = simulator;
    const typed = { id: 'app', baseUrl, appid: '1', credentials: { appkey: VARIABLE } };
    assert.equal((await test(full, typed)).openApi?.code, 'UNAUTHORIZED');
    assert.equal((await test(operator, typed)).openApi?.reason, 'variable');
    const other = { id: 'app', baseUrl: elsewhere.baseUrl, appid: '1' };
    assert.deepEqual((await test(full, other)).openApi?.settings, ['appkey']);
    assert.equal(elsewhere.requests.length, 0);
  });

  it('cannot record a test, which has what devices upload', async () => {
    const record = (headers: object, action: string): Promise<Response> =>
      request(`${red.url}/device-cloud/apps/app/record`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ action }),
      });
    assert.equal((await record(operator, 'start')).status, 403);
    assert.equal((await record(full, 'start')).status, 200);
    assert.equal((await record(operator, 'stop')).status, 403);
    assert.equal((await record(full, 'stop')).status, 200);
  });
});
