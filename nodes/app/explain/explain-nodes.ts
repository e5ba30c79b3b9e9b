import { devices, history, latest, server } from './explain-cloud-nodes';
import { deviceCall, gpio, push, request, rtStatus } from './explain-device-nodes';
import type { ExplainedNode } from './explained-node';

/** Every node that sends a request for a message, by its type. `listen` and `events` send none: a listener's messages subscribe. */
export const EXPLAINED_NODES: ReadonlyMap<string, ExplainedNode> = new Map<string, ExplainedNode>([
  ['device-cloud-push', push],
  ['device-cloud-request', request],
  ['device-cloud-gpio', gpio],
  ['device-cloud-rt-status', rtStatus],
  ['device-cloud-refresh', deviceCall('refresh')],
  ['device-cloud-reboot', deviceCall('reboot')],
  ['device-cloud-devices', devices],
  ['device-cloud-history', history],
  ['device-cloud-latest', latest],
  ['device-cloud-server', server],
]);
