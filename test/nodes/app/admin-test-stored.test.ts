import assert from 'node:assert/strict';
import type { TestResult } from '../../../nodes/app/answers.config';
import { LOOPBACK } from '../../tooling/servers/certs';
import { httpService, json, type HttpService } from '../../tooling/servers/http-service';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { cloudApp, load, node } from '../support/flow';
import { startCloud, startWith, useNodeRed } from '../support/node-red';
import { CANARIES } from '../support/secrets';
import { testConnection } from '../support/routes';

const { appkey, serverKey, serverPassword } = CANARIES;
const KEYS = ['appkey', 'serverKey', 'serverPassword'];

/** Which settings have to be typed again, all interfaces taken together. */
const retype = ({ openApi, serverApi }: TestResult): string[] =>
  [openApi, serverApi].flatMap((face) => (face?.reason === 'retype' ? (face.settings ?? []) : []));

describe('the stored credentials of an application, in a test', () => {
  useNodeRed();
  let elsewhere: HttpService;
  beforeEach(async () => {
    elsewhere = await httpService(json({ name: 'x', online: [] }));
  });

  it('are used against the address that they were deployed with', async () => {
    const { baseUrl, appid } = await startCloud();
    await load([cloudApp({ baseUrl, appid }), node('push')]);
    for (const address of [baseUrl, ` ${baseUrl}`]) {
      const { openApi, serverApi } = await testConnection({ id: 'app', baseUrl: address, appid });
      assert.equal(openApi?.online, 3);
      // Its id comes to the browser, and so comes back from there.
      assert.equal(serverApi?.ok, true);
    }
    const typed = await testConnection({
      id: 'app',
      baseUrl,
      appid,
      credentials: { appkey: 'Another' },
    });
    assert.equal(typed.openApi?.code, 'UNAUTHORIZED');
    assert.equal(typed.serverApi?.ok, true);
  });

  it('sign nothing for another address, where they have to be typed again', async () => {
    const cloud = await startWith(node('push'));
    const { baseUrl } = elsewhere;
    const result = await testConnection({ id: 'app', baseUrl, appid: cloud.appid });
    assert.equal(result.openApi?.code, 'NOT_CONFIGURED');
    assert.match(result.openApi.message ?? '', /appkey again.*deployed with/);
    assert.deepEqual(retype(result), KEYS);
    const half = await testConnection({
      id: 'app',
      baseUrl,
      appid: cloud.appid,
      credentials: { serverKey },
    });
    assert.deepEqual(retype(half), ['appkey', 'serverPassword']);
    assert.equal(elsewhere.requests.length, 0);
    assert.equal(cloud.requests.length, 0);
  });

  it('are not combined with what is typed for another address', async () => {
    const cloud = await startCloud();
    await load([cloudApp({ ...cloud, baseUrl: elsewhere.baseUrl }), node('push')]);
    const { baseUrl, appid } = cloud;
    const result = await testConnection({
      id: 'app',
      baseUrl,
      appid,
      credentials: { appkey, serverKey },
    });
    assert.equal(result.openApi?.ok, true);
    assert.deepEqual(retype(result), ['serverPassword']);
    assert.deepEqual(
      cloud.requests.map(({ path }) => path),
      ['/openapi/apps/', '/openapi/devices/list/', '/noticed/peer'],
    );
    const all = await testConnection({ id: 'app', baseUrl, appid, credentials: CANARIES });
    assert.equal(all.openApi?.ok, true);
    assert.equal(all.serverApi?.ok, true);
  });

  const TLS: FlowNode = {
    id: 'tls',
    type: 'tls-config',
    ...{ cert: '', key: '', ca: '', servername: '', verifyservercert: false },
  };
  const PROXY: FlowNode = { id: 'proxy', type: 'http proxy', url: 'http://127.0.0.1:1' };
  for (const [what, changed] of [
    ['another TLS configuration', { tls: 'tls' }],
    ['another proxy', { proxy: 'proxy' }],
    ['an invalid id', { tls: '__proto__' }],
  ] as const) {
    it(`are not used with ${what}`, async () => {
      const service = await httpService(json({ name: 'x', online: [] }), LOOPBACK);
      const { baseUrl } = service;
      await load([TLS, PROXY, cloudApp({ baseUrl, appid: '1' }), node('push')]);
      const result = await testConnection({ id: 'app', baseUrl, appid: '1', ...changed });
      assert.equal(result.openApi?.reason ?? result.openApi?.code, 'retype');
      assert.equal(service.requests.length, 0);
    });
  }

  it('are not used without the TLS configuration that they were deployed with', async () => {
    await load([TLS, cloudApp({ ...elsewhere, appid: '1' }, { tls: 'tls' }), node('push')]);
    const { baseUrl } = elsewhere;
    assert.deepEqual(retype(await testConnection({ id: 'app', baseUrl, appid: '1' })), KEYS);
    assert.equal(elsewhere.requests.length, 0);
    const { openApi } = await testConnection({ id: 'app', baseUrl, appid: '1', tls: 'tls' });
    assert.equal(openApi?.ok, true);
  });

  for (const id of ['push', 'gone', '__proto__', 'constructor', '']) {
    it(`are not those of another node: ${id || 'no id'}`, async () => {
      const { baseUrl } = elsewhere;
      const keys = { app: CANARIES, push: CANARIES };
      await load([cloudApp({ ...elsewhere, appid: '1' }), node('push', { baseUrl })], keys);
      const { openApi } = await testConnection({ id, baseUrl, appid: '1' });
      assert.equal(openApi?.code, 'NOT_CONFIGURED');
      assert.equal(elsewhere.requests.length, 0);
    });
  }

  describe('deployed with variables', () => {
    const VARIABLES = { DC_TEST_ADDRESS: '', DC_TEST_KEY: appkey };
    beforeEach(() => {
      Object.assign(process.env, VARIABLES);
    });
    afterEach(() => {
      for (const name of Object.keys(VARIABLES)) Reflect.deleteProperty(process.env, name);
    });

    it('are used only with the values that the variables had at the deploy', async () => {
      const { baseUrl, appid } = await startCloud();
      process.env['DC_TEST_ADDRESS'] = baseUrl;
      const app = cloudApp({ baseUrl: '${DC_TEST_ADDRESS}', appid });
      const keys = { app: { appkey: '${DC_TEST_KEY}', serverKey, serverPassword } };
      await load([app, node('push')], keys);
      for (const address of [baseUrl, '${DC_TEST_ADDRESS}']) {
        const { openApi } = await testConnection({ id: 'app', baseUrl: address, appid });
        assert.equal(openApi?.ok, true, address);
      }
      process.env['DC_TEST_ADDRESS'] = elsewhere.baseUrl;
      const later = await testConnection({ id: 'app', baseUrl: '${DC_TEST_ADDRESS}', appid });
      assert.equal(later.openApi?.ok, true);
      const other = await testConnection({ id: 'app', baseUrl: elsewhere.baseUrl, appid });
      assert.deepEqual(retype(other), KEYS);
      assert.equal(elsewhere.requests.length, 0);
    });
  });
});
