import type { AppConfig } from '../../nodes/app/app.config';
import type { ListenConfig } from '../../nodes/listen/listen.config';
import type { PushConfig } from '../../nodes/push/push.config';
import { chipids, IDENTITY } from '../identity';
import { endNodes, placed } from './ends';
import type { FlowNode } from '../../test/tooling/node-red/nodes';

/* This package's nodes, as the editor saves new ones. */

function app(baseUrl: string): FlowNode {
  const properties: Partial<AppConfig> = {
    ...{ service: 'cloud', baseUrl, appid: IDENTITY.appid, timeout: '15', heartbeat: '300' },
    ...{ ping: '30', timestampUnit: 'ms', deviceGap: '0' },
    ...{ tls: '', proxy: '' },
  };
  const credentials = { appkey: IDENTITY.appkey };
  return { id: 'app', type: 'device-cloud-app', name: '', ...properties, credentials };
}

export function ourPush(baseUrl: string): FlowNode[] {
  const properties: Partial<PushConfig> = {
    ...{ app: 'app', chipid: 'chipid', chipidType: 'msg', target: 'device', transport: 'http' },
    ...{ format: 'MSG', message: 'payload', messageType: 'msg', timeout: '10' },
  };
  return [
    ...endNodes('push'),
    app(baseUrl),
    placed('push', 'device-cloud-push', properties, 'sink'),
  ];
}

export function ourUploads(
  baseUrl: string,
  channels: number,
  recover: ListenConfig['recover'],
): FlowNode[] {
  const properties: Partial<ListenConfig> = {
    ...{ app: 'app', devices: 'list', chipids: chipids(channels), refresh: '60' },
    ...{ datatype: 'auto-detect', recover, deviceType: '' },
  };
  return [...endNodes(), app(baseUrl), placed('listen', 'device-cloud-listen', properties, 'sink')];
}
