import type { AppConfig } from '../../nodes/app/app.config';
import type { EventsConfig } from '../../nodes/events/events.config';
import type { LatestConfig } from '../../nodes/latest/latest.config';
import type { ListenConfig } from '../../nodes/listen/listen.config';
import type { PushConfig } from '../../nodes/push/push.config';
import type { TypeConfig } from '../../nodes/type/type.config';
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

/** @param many properties of a node that takes several devices from a message */
export function ourPush(baseUrl: string, many: Partial<PushConfig> = {}): FlowNode[] {
  const properties: Partial<PushConfig> = {
    ...{ app: 'app', chipid: 'chipid', chipidType: 'msg', target: 'device', transport: 'http' },
    ...{ format: 'MSG', message: 'payload', messageType: 'msg', timeout: '10' },
    ...many,
  };
  return [
    ...endNodes('push'),
    app(baseUrl),
    placed('push', 'device-cloud-push', properties, 'sink'),
  ];
}

/** A type of devices that upload what `service/readings` makes. */
function ourType(decode: 'bytes' | 'pairs'): FlowNode {
  const bytes =
    'text:12 label, u32be value / 100, i16le[2] levels, u8 battery, bit:0 door, bit:7 alarm';
  const properties: Partial<TypeConfig> = { decode, bytes, pairs: ',', equals: ' ' };
  return { id: 'type', type: 'device-cloud-type', name: 'meter', ...properties };
}

/** @param decode how their type decodes uploads; undefined: they have none */
export function ourUploads(
  baseUrl: string,
  channels: number,
  recover: ListenConfig['recover'],
  decode?: 'bytes' | 'pairs',
): FlowNode[] {
  const properties: Partial<ListenConfig> = {
    ...{ app: 'app', devices: 'list', chipids: chipids(channels), refresh: '60' },
    ...{ datatype: 'auto-detect', recover, deviceType: decode ? 'type' : '' },
  };
  return [
    ...endNodes(),
    app(baseUrl),
    ...(decode ? [ourType(decode)] : []),
    placed('listen', 'device-cloud-listen', properties, 'sink'),
  ];
}

/** Nodes that use what is known of the fleet, beside a listener. */
export function ourFleet(): FlowNode[] {
  const events: Partial<EventsConfig> = {
    ...{ app: 'app', devices: 'all', chipids: [], events: ['presence', 'channel', 'recovery'] },
    ...{ refresh: '60', misses: '2', silence: '300', settle: '10', start: 'none' },
  };
  const latest: Partial<LatestConfig> = {
    ...{
      app: 'app',
      chipid: 'chipid',
      chipidType: 'msg',
      datatype: 'auto-detect',
      missing: 'error',
    },
  };
  return [
    placed('events', 'device-cloud-events', events, 'unwired'),
    placed('latest', 'device-cloud-latest', latest, 'unwired'),
  ];
}
