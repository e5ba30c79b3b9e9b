import type { FlowNode } from '../../test/e2e/harness/flows';
import { chipids, IDENTITY } from '../identity';
import { channelAddress } from '../service/address';
import { ends, placed } from './own-nodes';

/*
 * What people use today: nodes that come with Node-RED, and function nodes for what is left.
 */

const { appid, appkey } = IDENTITY;

const fn = (id: string, func: string, libs: object[], next: string): FlowNode =>
  placed(
    id,
    'function',
    { func, outputs: 1, timeout: 0, noerr: 0, initialize: '', finalize: '', libs },
    next,
  );

const signAndAddress = (baseUrl: string): string => `
const timestamp = String(Math.floor(Date.now() / 1000));
const params = { appid: '${appid}', timestamp, devid: msg.chipid, message: msg.payload, format: 'MSG' };
const text = Object.keys(params).sort().reverse()
    .map((name) => (name + '=' + params[name]).toLowerCase()).join('&');
const sign = crypto.createHash('md5').update('post' + text + '${appkey}').digest('hex');
msg.url = '${baseUrl}/openapi/dev/push/message/?appid=${appid}&timestamp=' + timestamp + '&sign=' + sign;
msg.headers = { 'content-type': 'application/x-www-form-urlencoded' };
msg.payload = 'devid=' + msg.chipid + '&message=' + encodeURIComponent(msg.payload) + '&format=MSG';
return msg;`;

/** function (signs) → http request. */
export const corePush = (baseUrl: string): FlowNode[] => [
  ...ends('sign'),
  fn('sign', signAndAddress(baseUrl), [{ var: 'crypto', module: 'crypto' }], 'request'),
  placed(
    'request',
    'http request',
    {
      method: 'POST',
      ret: 'obj',
      paytoqs: 'ignore',
      url: '',
      tls: '',
      persist: false,
      proxy: '',
      insecureHTTPParser: false,
      authType: '',
      senderr: false,
      headers: [],
    },
    'sink',
  ),
];

const DECODE = `
const { body, chipid } = msg.payload;
return { topic: chipid, payload: Buffer.from(body, 'base64').toString() };`;

const client = (id: string, path: string): FlowNode => ({
  id,
  type: 'websocket-client',
  ...{ path, tls: '', wholemsg: 'false', hb: '0', subprotocol: '', headers: [] },
});

/** websocket in, one per channel → json → function (decodes). The addresses are signed beforehand. */
export const coreUploads = (baseUrl: string, channels: number): FlowNode[] => [
  ...ends(undefined),
  ...chipids(channels).flatMap((chipid) => [
    client(`client-${chipid}`, channelAddress(baseUrl, appid, chipid)),
    placed(`in-${chipid}`, 'websocket in', { server: '', client: `client-${chipid}` }, 'json'),
  ]),
  placed('json', 'json', { property: 'payload', action: 'obj', pretty: false }, 'decode'),
  fn('decode', DECODE, [], 'sink'),
];
