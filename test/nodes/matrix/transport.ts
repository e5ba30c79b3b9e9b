import { CONNECTIONS } from '../../../src/http/pool';
import { ELSEWHERE, LOOPBACK } from '../../tooling/servers/certs';
import { httpService, json } from '../../tooling/servers/http-service';
import { proxy } from '../../tooling/servers/proxy';
import { freePort } from '../../tooling/servers/ports';
import { cloudApp, deploy, load, node } from '../support/flow';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { call } from '../support/messages';
import { startCloud } from '../support/node-red';
import { CANARIES } from '../support/secrets';
import { until } from '../../tooling/until';
import { CHIPID, codeOf, NOTHING, rowsOf, said, WORKS, type Row } from './row';

const row = rowsOf('transport');
const FIXED = 'works once the setting is right';
const push = (): Promise<unknown> => call('push', { chipid: CHIPID, payload: 'x' });
const failing = (): Promise<string> => codeOf('push', { chipid: CHIPID, payload: 'x' });
const at = (baseUrl: string, properties: object = {}): FlowNode =>
  cloudApp({ baseUrl, appid: '10001' }, properties);

const broken = (fault: string, name: 'reset' | 'reset-in-body'): Row =>
  row(fault, '`CONNECTION_LOST`', WORKS, async () => {
    const cloud = await startCloud();
    await load([at(cloud.baseUrl), node('push')]);
    cloud.fail(name, { times: 1 });
    const failed = await failing();
    await push();
    return failed;
  });

const distrusted = (fault: string, certificate: typeof LOOPBACK, ca: string): Row =>
  row(fault, '`UNREACHABLE`', FIXED, async () => {
    const service = await httpService(json({ msg: 'OK' }), certificate);
    const tls = { id: 'tls', type: 'tls-config', cert: '', key: '', ca: '', servername: '' };
    const flow = (verifyservercert: boolean): FlowNode[] => [
      { ...tls, verifyservercert },
      at(service.baseUrl, { tls: 'tls' }),
      node('push'),
    ];
    await load(flow(true), { app: { ...CANARIES }, tls: { cadata: ca } });
    const failed = await failing();
    await deploy(flow(false));
    await push();
    return failed;
  });

export const TRANSPORT: readonly Row[] = [
  row('refused', '`UNREACHABLE`', WORKS, async () => {
    const port = await freePort();
    await load([at(`http://127.0.0.1:${port}`), node('push')]);
    const failed = await failing();
    await startCloud({ port });
    await push();
    return failed;
  }),
  row('DNS failure', '`UNREACHABLE`', FIXED, async () => {
    const cloud = await startCloud();
    // A label of 64 characters, which resolvers refuse without a query.
    await load([at(`http://${'a'.repeat(64)}.invalid`), node('push')]);
    const failed = await failing();
    await deploy([at(cloud.baseUrl), node('push')]);
    await push();
    return failed;
  }),
  broken('reset before the answer', 'reset'),
  broken('reset in the body', 'reset-in-body'),
  row('dead keep-alive connection', NOTHING, WORKS, async () => {
    const cloud = await startCloud();
    await load([at(cloud.baseUrl), node('push')]);
    cloud.fail('drop-after-answer', { times: 1 });
    await push();
    await until(() => cloud.sockets() === 0, 'the connection is dead');
    await push();
    return said();
  }),
  distrusted('self-signed certificate', LOOPBACK, ''),
  distrusted('wrong-host certificate', ELSEWHERE, ELSEWHERE.cert),
  row('proxy down', '`UNREACHABLE`', FIXED, async () => {
    const cloud = await startCloud();
    const url = `http://127.0.0.1:${await freePort()}`;
    const config: FlowNode = { id: 'proxy', type: 'http proxy', url, noproxy: [] };
    await load([config, at(cloud.baseUrl, { proxy: 'proxy' }), node('push')]);
    const failed = await failing();
    await deploy([at(cloud.baseUrl), node('push')]);
    await push();
    return failed;
  }),
  row('proxy 407', '`UNREACHABLE`', WORKS, async () => {
    const cloud = await startCloud();
    const through = await proxy(407);
    const config: FlowNode = { id: 'proxy', type: 'http proxy', url: through.url, noproxy: [] };
    await load([config, at(cloud.baseUrl, { proxy: 'proxy' }), node('push')]);
    const failed = await failing();
    through.behaviour = 'tunnel';
    await push();
    return failed;
  }),
  row('all slots hung', '`TIMEOUT`', WORKS, async () => {
    const cloud = await startCloud();
    await load([at(cloud.baseUrl), node('push'), node('push', { id: 'hasty', timeout: '1' })]);
    const heal = cloud.fail('hang');
    const calls = Array.from({ length: CONNECTIONS + 1 }, (_, chipid) =>
      codeOf('hasty', { chipid, payload: 'x' }),
    );
    const failed = [...new Set(await Promise.all(calls))].join(' and ');
    heal();
    await push();
    return failed;
  }),
];
