import assert from 'node:assert/strict';
import { startSimulator } from '../../src/simulator';
import type { Simulator } from '../../src/simulator';
import { ADMIN_SETTINGS, FULL, READER, logIn } from './harness/admin';
import { ONE, THREE, TWO } from './harness/fixture';
import { startNodeRed } from './harness/node-red';
import type { NodeRed } from './harness/node-red';
import { app, node } from '../tooling/node-red/nodes';
import { httpService, json } from '../tooling/servers/http-service';
import { until } from '../tooling/until';
import { around } from './harness/flows';
import { request } from './harness/request';

const SECRETS = {
  appkey: 'E2E-App-Key-Secret',
  serverKey: 'E2E-Server-Key',
  serverPassword: 'E2E-Server-Password-Secret',
};
const DEVICES = [ONE, TWO, THREE].map((chipid) => ({ chipid, devkey: `Secret-Devkey-${chipid}` }));

describe('the admin routes behind a log-in and below another root', () => {
  let simulator: Simulator;
  let red: NodeRed;
  let full: { authorization: string };
  let reader: { authorization: string };

  before(async () => {
    simulator = await startSimulator({ interval: 0, answerDelay: 1, devices: DEVICES, ...SECRETS });
    const flows = [app(simulator), ...around('push', node('push'))];
    red = await startNodeRed({ flows, settings: ADMIN_SETTINGS, user: FULL });
    full = await logIn(red.url, FULL);
    reader = await logIn(red.url, READER);
  });
  after(async () => {
    await red.stop();
    await simulator.close();
  });

  /** Asks a route. Whatever it answers, no secret is in it. */
  async function ask(
    path: string,
    init: RequestInit = {},
  ): Promise<{ status: number; text: string }> {
    const response = await request(`${red.url}/device-cloud/apps/${path}`, init);
    const text = await response.text();
    assert.doesNotMatch(text, /devkey|secret|bearer/i);
    return { status: response.status, text };
  }

  const list = (headers: object, query = '') =>
    ask(`app/devices${query}`, { headers: headers as HeadersInit });

  const test = (headers: object, body: unknown = settings()) =>
    ask('test', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  const settings = () => ({
    ...{ id: 'app', baseUrl: simulator.baseUrl, appid: simulator.appid },
    credentials: { appkey: SECRETS.appkey },
  });

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
    const missing = await ask('missing/devices?names', { headers: reader });
    assert.deepEqual(JSON.parse(missing.text), []);
  });

  it('give the devices of an application that is not deployed, too, with the settings as typed', async () => {
    const post = (headers: object, body: object) =>
      ask('devices', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    const chipids = async (body: object): Promise<string[]> =>
      (JSON.parse((await post(full, body)).text) as { chipid: string }[]).map(
        ({ chipid }) => chipid,
      );
    assert.deepEqual((await chipids({ ...settings(), id: 'new' })).sort(), [ONE, TWO, THREE]);
    // The built-in simulator needs no settings.
    assert.equal((await chipids({ id: 'new', service: 'simulator' })).length, 6);
    const [first] = JSON.parse((await post(full, settings())).text) as object[];
    assert.deepEqual(Object.keys(first!).sort(), ['chipid', 'latest', 'name', 'vertype']);
    const wrong = await post(full, { ...settings(), credentials: { appkey: 'wrong' } });
    assert.equal(wrong.status, 502);
    assert.match(wrong.text, /UNAUTHORIZED/);
    // What is stored is used only where it was deployed for.
    const { credentials: _, ...elsewhere } = { ...settings(), baseUrl: 'http://127.0.0.1:9' };
    assert.match((await post(full, elsewhere)).text, /Type .* again/);
    assert.equal((await post(reader, settings())).status, 401);
  });

  it('exist only below that root', async () => {
    const { origin, pathname } = new URL(red.url);
    assert.equal(pathname, '/admin/x');
    const response = await request(`${origin}/device-cloud/apps/app/devices`, { headers: full });
    assert.equal(response.status, 404);
  });

  it('answer 401 to anyone who is not logged in, and send nothing to the service', async () => {
    const before = simulator.requests.length;
    for (const headers of [{}, { authorization: 'Bearer made-up' }]) {
      assert.equal((await list(headers)).status, 401);
      assert.equal((await test(headers)).status, 401);
    }
    assert.equal(simulator.requests.length, before);
  });

  it('give the devices without their keys to a user who may only read', async () => {
    const { status, text } = await list(reader);
    assert.equal(status, 200);
    const devices = JSON.parse(text) as Record<string, unknown>[];
    assert.deepEqual(devices.map(({ chipid }) => chipid).sort(), [ONE, TWO, THREE]);
    for (const device of devices) {
      assert.deepEqual(Object.keys(device).sort(), ['chipid', 'latest', 'name', 'vertype']);
    }
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
    const { status, text } = await test({ ...full, origin: 'http://elsewhere.example' });
    assert.equal(status, 200);
    const { openApi } = JSON.parse(text) as { openApi: { ok: boolean; online: number } };
    assert.equal(openApi.ok, true);
    assert.equal(openApi.online, DEVICES.length);
    const [noted, ...more] = await audited('device-cloud.apps.test', from);
    assert.deepEqual(more, []);
    assert.equal(noted?.['id'], 'app');
    assert.equal((noted['user'] as { username?: string }).username, FULL.username);
    for (const secret of [...Object.values(SECRETS), ...DEVICES.map(({ devkey }) => devkey)]) {
      assert.ok(!red.log().includes(secret), 'a secret is in the log');
    }
  });

  it('take the host of a device list only from the deployed node', async () => {
    const elsewhere = await httpService(json([]));
    const address = elsewhere.baseUrl;
    const query = new URLSearchParams(
      ['baseUrl', 'host', 'url', 'service', 'proxy'].map((name) => [name, address]),
    );
    const { status, text } = await list(full, `?${String(query)}`);
    assert.equal(status, 200);
    assert.match(text, new RegExp(ONE));
    for (const method of ['POST', 'PUT']) {
      const headers = { 'content-type': 'application/json', ...full };
      const body = JSON.stringify({ baseUrl: address });
      assert.equal((await ask('app/devices', { method, headers, body })).status, 404);
    }
    assert.deepEqual(elsewhere.requests, []);
  });

  it('answer 400 to a test that cannot be read, and 413 to one that is too long', async () => {
    const before = simulator.requests.length;
    for (const body of ['{"id":', 'null', '"app"', '[]', '{"baseUrl":[]}']) {
      assert.equal((await test(full, body)).status, 400, body);
    }
    assert.equal((await test(full, { baseUrl: 'x'.repeat(1_000_000) })).status, 400);
    assert.equal((await test(full, { baseUrl: 'x'.repeat(6_000_000) })).status, 413);
    assert.equal(simulator.requests.length, before);
    assert.equal((await test(full)).status, 200);
  });
});
