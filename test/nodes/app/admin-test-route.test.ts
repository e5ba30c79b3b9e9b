import assert from 'node:assert/strict';
import globalConfig from '@node-red/nodes/core/common/91-global-config.js';
import type { ApiResult } from '../../../nodes/app/answers.config';
import { ALWAYS_ONLINE, load, node, simulatorApp } from '../support/flow';
import { startCloud, useNodeRed } from '../support/node-red';
import { CANARIES } from '../support/secrets';
import { testConnection } from '../support/routes';

const { appkey, serverKey, serverPassword } = CANARIES;

describe('the test of an application in the editor', () => {
  useNodeRed();

  it('reports what works, how many devices are online and how far the clocks differ', async () => {
    const ahead = 3600;
    const cloud = await startCloud({ now: () => Date.now() + ahead * 1000, appName: 'Houses' });
    cloud.switchOff(10000001);
    await load([]);
    const { baseUrl, appid } = cloud;
    const { openApi, serverApi } = await testConnection({ baseUrl, appid, credentials: CANARIES });
    const { clockSkew, ...open } = openApi!;
    assert.deepEqual(open, { ok: true, name: 'Houses', online: 2, dialect: 'document' });
    assert.ok(Math.abs(clockSkew! - ahead * 1000) <= 2000, String(clockSkew));
    assert.equal(serverApi?.ok, true);
  });

  it('distinguishes a wrong key of one interface from a right one of the other', async () => {
    const { baseUrl, appid } = await startCloud();
    await load([]);
    const credentials = { appkey: 'Another-Key', serverKey, serverPassword };
    const { openApi, serverApi } = await testConnection({ baseUrl, appid, credentials });
    assert.equal(openApi?.ok, false);
    assert.equal(openApi.code, 'UNAUTHORIZED');
    assert.equal(serverApi?.ok, true);
    const other = { appkey, serverKey, serverPassword: 'Another-Password' };
    const second = await testConnection({ baseUrl, appid, credentials: other });
    assert.equal(second.openApi?.ok, true);
    assert.equal(second.serverApi?.code, 'UNAUTHORIZED');
    assert.ok(!second.text.includes('Another-Password'));
  });

  it('reports what looks wrong about a refused key, and how the request was signed', async () => {
    const { baseUrl, appid } = await startCloud();
    await load([]);
    const credentials = {
      appkey: `${appkey}\n`,
      serverKey,
      serverPassword: `${serverPassword}\u3000`,
    };
    const { openApi, serverApi } = await testConnection({ baseUrl, appid, credentials });
    const faults = ({ warnings = [] }: ApiResult): string[] =>
      warnings.map(({ setting, code, where }) => `${setting} ${code} ${where}`);
    assert.deepEqual(faults(openApi!), ['appkey line-end end']);
    assert.deepEqual(faults(serverApi!), ['serverPassword full-width end']);
    assert.match(openApi?.signing?.signed ?? '', /^gettimestamp=\d{10}&appid=\d+<APPKEY>$/);
    assert.ok(openApi?.signing?.curl.includes(`'${baseUrl}/openapi/apps/?appid=${appid}&`));
    assert.match(serverApi?.signing?.signed ?? '', /^get\/api\/server\/deviceskey=<SERVER_KEY>/);
    assert.ok(serverApi?.signing?.curl.includes(`'${baseUrl}/api/server/devices?`));
    const blank = { appkey, serverKey: `${serverKey} `, serverPassword };
    const unsent = await testConnection({ baseUrl, appid, credentials: blank });
    assert.deepEqual(faults(unsent.openApi!), ['serverKey blank end']);
  });

  it('leaves out the interface whose keys are not given', async () => {
    const { baseUrl, appid } = await startCloud();
    await load([]);
    const open = await testConnection({ baseUrl, appid, credentials: { appkey } });
    assert.equal(open.openApi?.ok, true);
    assert.equal(open.serverApi, null);
    const server = await testConnection({ baseUrl, credentials: { serverKey, serverPassword } });
    assert.equal(server.openApi, null);
    assert.equal(server.serverApi?.ok, true);
  });

  it('reports that all keys are missing, without a request', async () => {
    const cloud = await startCloud();
    await load([]);
    const { openApi, serverApi } = await testConnection({
      baseUrl: cloud.baseUrl,
      appid: cloud.appid,
    });
    assert.equal(openApi?.code, 'NOT_CONFIGURED');
    assert.equal(serverApi, null);
    assert.equal(cloud.requests.length, 0);
  });

  it('reports what is wrong with the settings', async () => {
    await load([]);
    const key = '${DEVICE_CLOUD_TEST_UNSET}';
    for (const wrong of [
      { baseUrl: undefined },
      { credentials: { appkey: key } },
      { tls: 'gone' },
    ]) {
      const usual = { baseUrl: 'http://127.0.0.1:1', appid: '1', credentials: { appkey } };
      const { openApi } = await testConnection({ ...usual, ...wrong });
      assert.deepEqual([openApi?.ok, openApi?.code], [false, 'NOT_CONFIGURED']);
    }
  });

  it('replaces variables that all flows have', async () => {
    const { baseUrl, appid } = await startCloud();
    const variable = (name: string, value: string) => ({ name, value, type: 'str' });
    const env = [variable('CLOUD_URL', baseUrl), variable('CLOUD_KEY', appkey)];
    await load([{ id: 'global', type: 'global-config', env }], {}, [globalConfig]);
    const credentials = { appkey: '${CLOUD_KEY}' };
    const { openApi } = await testConnection({ baseUrl: '${CLOUD_URL}', appid, credentials });
    assert.equal(openApi?.ok, true, openApi?.message);
  });

  it('works with the simulator, deployed or not', async () => {
    await load([simulatorApp(), node('push')]);
    for (const id of ['app', 'new']) {
      const { openApi, serverApi } = await testConnection({ id, service: 'simulator' });
      assert.ok(Number(openApi?.online) >= ALWAYS_ONLINE.length, String(openApi?.online));
      assert.equal(serverApi?.ok, true);
    }
  });
});
