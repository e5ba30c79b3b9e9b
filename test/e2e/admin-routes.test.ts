import assert from 'node:assert/strict';
import { startSimulator } from '../../src/simulator';
import type { Simulator } from '../../src/simulator';
import { ADMIN_SETTINGS, FULL, OPERATOR, READER, logIn } from './harness/admin';
import { ONE, THREE, TWO } from './harness/devices';
import { startNodeRed } from './harness/node-red';
import type { NodeRed } from './harness/node-red';
import { app, node } from '../tooling/node-red/nodes';
import { httpService, json, type HttpService } from '../tooling/servers/http-service';
import { until } from '../tooling/until';
import { around } from './harness/flows';
import { request } from './harness/request';

const SECRETS = {
  appkey: 'E2E-App-Key-Secret',
  serverKey: 'E2E-Server-Key',
  serverPassword: 'E2E-Server-Password-Secret',
};
const DEVICES = [ONE, TWO, THREE].map((chipid) => ({ chipid, devkey: `Secret-Devkey-${chipid}` }));
const TLS = {
  ...{ id: 'tls', type: 'tls-config', cert: '', key: '', ca: '', servername: '' },
  verifyservercert: true,
};
const VARIABLE = '${E2E_SECRET}';

/** The headers of a user. */
type Login = Record<string, string>;

interface Interface {
  ok: boolean;
  code?: string;
  reason?: string;
  settings?: string[];
  online?: number;
}

describe('the admin routes behind a log-in and below another root', () => {
  let simulator: Simulator;
  let red: NodeRed;
  let full: Login;
  let reader: Login;
  let operator: Login;
  /** Another host, which ends with each test. */
  let elsewhere: HttpService;
  /** A port where nobody listens, which only a variable names. */
  let hidden: HttpService;

  before(async () => {
    simulator = await startSimulator({ interval: 0, answerDelay: 1, devices: DEVICES, ...SECRETS });
    hidden = await httpService(json({}));
    await hidden.close();
    const named = { ...app(simulator), id: 'named', baseUrl: '${E2E_ADDRESS}' };
    const flows = [
      ...[app(simulator), named, TLS, ...around('push', node('push'))],
      ...around('named-push', { ...node('push'), id: 'named-push', app: 'named' }),
    ];
    const env = { E2E_SECRET: 'E2E-Variable-Secret', E2E_ADDRESS: hidden.baseUrl };
    red = await startNodeRed({ flows, settings: ADMIN_SETTINGS, user: FULL, env });
    full = await logIn(red.url, FULL);
    reader = await logIn(red.url, READER);
    operator = await logIn(red.url, OPERATOR);
  });
  beforeEach(async () => {
    elsewhere = await httpService(json({ name: 'x', online: [] }));
  });
  after(async () => {
    await red.stop();
    await simulator.close();
  });

  /** Asks a route. Whatever it answers, no secret is in it. */
  async function ask(
    path: string,
    headers: Login,
    body?: object,
  ): Promise<{ status: number; text: string }> {
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await request(`${red.url}/device-cloud/apps/${path}`, {
      ...init,
      headers: { 'content-type': 'application/json', ...headers },
    });
    const text = await response.text();
    assert.doesNotMatch(text, /devkey|secret"|-secret|bearer/i);
    return { status: response.status, text };
  }

  const settings = () => ({
    ...{ id: 'app', baseUrl: simulator.baseUrl, appid: simulator.appid },
    credentials: { appkey: SECRETS.appkey },
  });
  const list = (headers: Login, query = '') => ask(`app/devices${query}`, headers);
  const test = (headers: Login, body: object = settings()) => ask('test', headers, body);

  /** What a test says. */
  async function tested(
    headers: Login,
    body: object,
  ): Promise<{ openApi: Interface | null; serverApi: Interface | null }> {
    const { status, text } = await test(headers, body);
    assert.equal(status, 200);
    return JSON.parse(text) as { openApi: Interface | null; serverApi: Interface | null };
  }

  /** The entries of the audit log of an event, from a position of the log on, once there are any. */
  const audited = (event: string, from: number): Promise<Record<string, unknown>[]> =>
    until(() => {
      const entries = red
        .log(from)
        .split('\n')
        // What has come of the last line may be a part of it.
        .slice(0, -1)
        .flatMap((line) => /\[audit\] (\{.*\})/.exec(line)?.[1] ?? [])
        .map((entry) => JSON.parse(entry) as Record<string, unknown>)
        .filter((entry) => entry['event'] === event);
      return entries.length > 0 && entries;
    }, `the log has ${event}`);

  it('name the devices that are known, without a call to the service', async () => {
    const names = async (): Promise<unknown> => JSON.parse((await list(reader, '?names')).text);
    assert.deepEqual(await names(), []);
    assert.equal(simulator.requests.length, 0);
    await list(reader);
    const calls = simulator.requests.length;
    const known = (await names()) as { chipid: string; name: string | null }[];
    assert.deepEqual(known.map(({ chipid }) => chipid).sort(), [ONE, TWO, THREE]);
    assert.equal(simulator.requests.length, calls);
    assert.equal((await list({}, '?names')).status, 401);
  });

  it('give the devices of an application that is not deployed, too, with the settings as typed', async () => {
    const post = (headers: Login, body: object) => ask('devices', headers, body);
    const devices = async (body: object): Promise<Record<string, unknown>[]> =>
      JSON.parse((await post(full, body)).text) as Record<string, unknown>[];
    const [first, ...more] = await devices({ ...settings(), id: 'new' });
    assert.deepEqual(Object.keys(first!).sort(), ['chipid', 'latest', 'name', 'vertype']);
    assert.equal(more.length, 2);
    // The built-in simulator needs no settings.
    assert.equal((await devices({ id: 'new', service: 'simulator' })).length, 6);
    const wrong = await post(full, { ...settings(), credentials: { appkey: 'wrong' } });
    assert.equal(wrong.status, 502);
    assert.match(wrong.text, /UNAUTHORIZED/);
    // What is stored is used only where it was deployed for.
    const { credentials: _, ...other } = { ...settings(), baseUrl: elsewhere.baseUrl };
    assert.match((await post(full, other)).text, /Type .* again/);
    assert.equal(elsewhere.requests.length, 0);
    assert.equal((await post(reader, settings())).status, 401);
  });

  it('answer 401 to anyone who is not logged in, and send nothing to the service', async () => {
    const before = simulator.requests.length;
    for (const headers of [{}, { authorization: 'Bearer made-up' }]) {
      assert.equal((await list(headers)).status, 401);
      assert.equal((await test(headers)).status, 401);
    }
    assert.equal(simulator.requests.length, before);
  });

  it('test nothing for a user who may only read', async () => {
    const from = red.log().length;
    const before = simulator.requests.length;
    assert.ok([401, 403].includes((await test(reader)).status));
    assert.equal(simulator.requests.length, before);
    const [refused] = await audited('permission.fail', from);
    const user = refused?.['user'] as { username?: string } | undefined;
    assert.equal(user?.username, READER.username);
  });

  it('test for a user who may write, and note in the audit log who tested what, without a secret', async () => {
    const from = red.log().length;
    // The token protects: of which page the request is does not matter then.
    const { openApi } = await tested({ ...full, origin: 'http://elsewhere.example' }, settings());
    assert.deepEqual([openApi?.ok, openApi?.online], [true, DEVICES.length]);
    const [noted, ...more] = await audited('device-cloud.apps.test', from);
    assert.deepEqual(more, []);
    assert.equal(noted?.['id'], 'app');
    assert.equal((noted['user'] as { username?: string }).username, FULL.username);
    for (const secret of [...Object.values(SECRETS), ...DEVICES.map(({ devkey }) => devkey)]) {
      assert.ok(!red.log().includes(secret), 'a secret is in the log');
    }
  });

  describe('for a user who may use the device cloud, but neither read nor change flows', () => {
    it('test the deployed application', async () => {
      assert.equal((await request(`${red.url}/flows`, { headers: operator })).status, 401);
      const { baseUrl, appid } = simulator;
      const { openApi, serverApi } = await tested(operator, { id: 'app', baseUrl, appid });
      assert.deepEqual([openApi?.ok, serverApi?.ok], [true, true]);
    });

    for (const [what, typed, names] of [
      ['the appid', { appid: VARIABLE }, ['appid']],
      ['the address', { baseUrl: VARIABLE }, ['baseUrl']],
      ['the app key', { credentials: { appkey: VARIABLE } }, ['appkey']],
      ['a TLS configuration', { tls: 'tls' }, ['tls']],
    ] as const) {
      it(`send no variable and no stored key to another host: ${what}`, async () => {
        const from = red.log().length;
        const usual = { baseUrl: elsewhere.baseUrl, appid: '1', credentials: { appkey: 'typed' } };
        const { openApi, serverApi } = await tested(operator, { id: 'app', ...usual, ...typed });
        assert.equal(openApi?.code, 'NOT_CONFIGURED');
        assert.equal(openApi.reason, what.includes('TLS') ? 'network' : 'variable');
        assert.deepEqual(openApi.settings, names);
        assert.ok(!serverApi?.ok);
        assert.equal(elsewhere.requests.length, 0);
        // The log comes by another way than the answer, and may be behind it.
        await red.logged(/permission\.fail.*flows\.write|flows\.write.*operator/, from);
      });
    }

    it('name no value of a variable in the deployed settings, nor in an error', async () => {
      const typed = { id: 'named', baseUrl: '${E2E_ADDRESS}', appid: simulator.appid };
      assert.equal((await tested(operator, typed)).openApi?.reason, 'variable');
      for (const user of [operator, full]) {
        const { text } = await ask('named/devices', user);
        assert.match(text, /UNREACHABLE/);
        assert.ok(!text.includes(String(hidden.port)), text);
      }
    });

    it('differ from those for a user who may change flows, for whom variables are read', async () => {
      const { baseUrl } = simulator;
      const typed = { id: 'app', baseUrl, appid: '1', credentials: { appkey: VARIABLE } };
      assert.equal((await tested(full, typed)).openApi?.code, 'UNAUTHORIZED');
      assert.equal((await tested(operator, typed)).openApi?.reason, 'variable');
      const other = { id: 'app', baseUrl: elsewhere.baseUrl, appid: '1' };
      assert.deepEqual((await tested(full, other)).openApi?.settings, ['appkey']);
      assert.equal(elsewhere.requests.length, 0);
    });

    it('record no test, which has what devices upload', async () => {
      for (const action of ['start', 'stop']) {
        assert.equal((await ask('app/record', operator, { action })).status, 403);
        assert.equal((await ask('app/record', full, { action })).status, 200);
      }
    });
  });
});
