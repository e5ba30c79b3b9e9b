import { DEFAULTS as APP, type AppConfig, type AppCredentials } from '../../nodes/app/app.config';
import { DEFAULTS as ACK } from '../../nodes/ack/ack.config';
import { DEFAULTS as CLUSTER } from '../../nodes/cluster/cluster.config';
import { DEFAULTS as DEVICES } from '../../nodes/devices/devices.config';
import { DEFAULTS as EVENTS } from '../../nodes/events/events.config';
import { DEFAULTS as GPIO } from '../../nodes/gpio/gpio.config';
import { DEFAULTS as HISTORY } from '../../nodes/history/history.config';
import { DEFAULTS as LATEST } from '../../nodes/latest/latest.config';
import { DEFAULTS as LISTEN } from '../../nodes/listen/listen.config';
import { DEFAULTS as PUSH } from '../../nodes/push/push.config';
import { DEFAULTS as REBOOT } from '../../nodes/reboot/reboot.config';
import { DEFAULTS as REFRESH } from '../../nodes/refresh/refresh.config';
import { DEFAULTS as REQUEST } from '../../nodes/request/request.config';
import { DEFAULTS as RT_STATUS } from '../../nodes/rt-status/rt-status.config';
import { DEFAULTS as SERVER } from '../../nodes/server/server.config';
import { DEFAULTS as WORK } from '../../nodes/work/work.config';
import type { Simulator } from '../../src/simulator';

/** A node as a flow file contains it. */
export interface FlowNode {
  id: string;
  type: string;
  [property: string]: unknown;
}

/** The properties of each node and their defaults. */
const NODES = {
  push: PUSH,
  gpio: GPIO,
  reboot: REBOOT,
  refresh: REFRESH,
  'rt-status': RT_STATUS,
  devices: DEVICES,
  history: HISTORY,
  latest: LATEST,
  server: SERVER,
  listen: LISTEN,
  request: REQUEST,
  events: EVENTS,
  work: WORK,
  ack: ACK,
  cluster: CLUSTER,
};

/** The properties of each node, as they are saved. */
export type NodeProperties = typeof NODES;

/** As the editor saves them: it makes texts of numbers. */
const asSaved = <C extends object>(config: C): C =>
  Object.fromEntries(
    Object.entries(config).map(([name, value]) => [
      name,
      typeof value === 'number' ? String(value) : value,
    ]),
  ) as C;

/** A node of the package, new but for the properties given. */
export function node<Kind extends keyof NodeProperties>(
  kind: Kind,
  properties: Partial<NodeProperties[Kind]> = {},
): Omit<FlowNode, 'id'> {
  const usual = { ...NODES[kind], ...('app' in NODES[kind] ? { app: 'app' } : {}) };
  return { type: `device-cloud-${kind}`, ...asSaved(usual), ...properties };
}

/** The config node `app`, for a simulator as for a service of one's own. */
export function app(
  simulator: Pick<Simulator, 'baseUrl' | 'appid' | 'appkey' | 'serverKey' | 'serverPassword'>,
  properties: Partial<AppConfig> & { id?: string; d?: boolean } = {},
  credentials: AppCredentials = {},
): FlowNode {
  const { baseUrl, appid, appkey, serverKey, serverPassword } = simulator;
  return {
    id: 'app',
    type: 'device-cloud-app',
    name: '',
    ...asSaved(APP),
    baseUrl,
    appid,
    ...properties,
    credentials: { appkey, serverKey, serverPassword, ...credentials },
  };
}
