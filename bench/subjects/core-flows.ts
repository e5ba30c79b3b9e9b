import { chipids, IDENTITY } from '../identity';
import { channelAddress } from './bare-channels';
import { endNodes, placed } from './ends';
import type { FlowNode } from '../../test/tooling/node-red/nodes';

/* What people use without this package: nodes of Node-RED, and functions for what these lack. */

const { appid, appkey } = IDENTITY;

const fn = (id: string, func: string, libs: object[], next: string): FlowNode => {
  const rest = { outputs: 1, timeout: 0, noerr: 0, initialize: '', finalize: '' };
  return placed(id, 'function', { func, libs, ...rest }, next);
};

const sign = (baseUrl: string): string => `
const timestamp = String(Math.floor(Date.now() / 1000));
const params = { appid: '${appid}', timestamp, devid: msg.chipid, message: msg.payload, format: 'MSG' };
const text = Object.keys(params).sort().reverse()
    .map((name) => (name + '=' + params[name]).toLowerCase()).join('&');
const sign = crypto.createHash('md5').update('post' + text + '${appkey}').digest('hex');
msg.url = '${baseUrl}/openapi/dev/push/message/?appid=${appid}&timestamp=' + timestamp + '&sign=' + sign;
msg.headers = { 'content-type': 'application/x-www-form-urlencoded' };
msg.payload = 'devid=' + msg.chipid + '&message=' + encodeURIComponent(msg.payload) + '&format=MSG';
return msg;`;

const REQUEST = {
  ...{ method: 'POST', ret: 'obj', paytoqs: 'ignore', url: '', tls: '', persist: false },
  ...{ proxy: '', insecureHTTPParser: false, authType: '', senderr: false, headers: [] },
};

/** function (signs) → http request. */
export const corePush = (baseUrl: string): FlowNode[] => [
  ...endNodes('sign'),
  fn('sign', sign(baseUrl), [{ var: 'crypto', module: 'crypto' }], 'request'),
  placed('request', 'http request', REQUEST, 'sink'),
];

const DECODE = `
const { body, chipid } = msg.payload;
return { topic: chipid, payload: Buffer.from(body, 'base64').toString() };`;

/** websocket in, one a channel → json → function (decodes). */
export const coreUploads = (baseUrl: string, channels: number): FlowNode[] => [
  ...endNodes(),
  ...chipids(channels).flatMap((chipid) => [
    {
      ...{
        id: `client-${chipid}`,
        type: 'websocket-client',
        path: channelAddress(baseUrl, chipid),
      },
      ...{ tls: '', wholemsg: 'false', hb: '0', subprotocol: '', headers: [] },
    },
    placed(`in-${chipid}`, 'websocket in', { server: '', client: `client-${chipid}` }, 'json'),
  ]),
  placed('json', 'json', { property: 'payload', action: 'obj', pretty: false }, 'decode'),
  fn('decode', DECODE, [], 'sink'),
];
