import assert from 'node:assert/strict';
import { LOOPBACK } from '../tooling/servers/certs';
import { httpService, json } from '../tooling/servers/http-service';
import { proxy } from '../tooling/servers/proxy';
import { cloudApp, deploy, load, node } from './support/flow';
import type { FlowNode } from '../tooling/node-red/nodes';
import { call, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { CANARIES } from './support/secrets';
import { until } from '../tooling/until';

const TLS: FlowNode = {
  id: 'tls',
  type: 'tls-config',
  ...{ cert: '', key: '', ca: '', servername: '', verifyservercert: true },
};
const secure = (baseUrl: string, properties: object = {}): FlowNode =>
  cloudApp({ baseUrl, appid: '10001' }, { tls: 'tls', ...properties });

describe("Node-RED's own network configurations", () => {
  useNodeRed();
  const chipid = '10000001';
  const answer = json({ msg: 'OK' });

  it('trust the certificate of a TLS configuration', async () => {
    const service = await httpService(answer, LOOPBACK);
    const keys = { app: CANARIES, tls: { cadata: LOOPBACK.cert } };
    await load([TLS, secure(service.baseUrl), node('push')], keys);
    assert.deepEqual((await call('push', { chipid, payload: 'x' })).payload, { msg: 'OK' });
  });

  it('route calls and channels through a proxy, and leave nothing open there', async () => {
    const cloud = await startCloud();
    const through = await proxy();
    const config: FlowNode = { id: 'proxy', type: 'http proxy', url: through.url, noproxy: [] };
    const keys = { app: CANARIES, proxy: { username: 'me', password: 'Proxy-Password' } };
    const app = cloudApp(cloud, { proxy: 'proxy' });
    // A history that is read would take a connection of its own, or not.
    const listen = node('listen', { chipids: [chipid], recover: 'off' });
    await load([config, app, node('push'), listen], keys);
    await call('push', { chipid, payload: 'x' });
    await shows('listen', 'status.connected');
    const basic = `Basic ${Buffer.from('me:Proxy-Password').toString('base64')}`;
    assert.deepEqual(through.targets, Array(2).fill(`127.0.0.1:${cloud.port}`));
    assert.deepEqual(through.authorizations, [basic, basic]);
    await deploy([]);
    await until(() => through.sockets() === 0, 'every tunnel ends');
  });

  it('bypass the proxy for the hosts that it excludes', async () => {
    const cloud = await startCloud();
    const through = await proxy();
    const noproxy = ['other.example', '127.0.0.1'];
    const config: FlowNode = { id: 'proxy', type: 'http proxy', url: through.url, noproxy };
    await load([config, cloudApp(cloud, { proxy: 'proxy' }), node('push')]);
    await call('push', { chipid, payload: 'x' });
    assert.deepEqual(through.targets, []);
  });
});
