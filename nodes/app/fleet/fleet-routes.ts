import type { NodeAPI } from 'node-red';
import type { Handler } from '../../common/admin/admin-routes';
import { toProblem } from '../../common/admin/problem';
import { findApp } from '../../common/app';
import { findAppNode } from '../app-node';
import { hasErrors, readRevision, toFleetAnswer, withMessages } from './fleet-answers';
import { mayWriteFlows } from '../../common/admin/flow-rights';
import { addressHider } from '../deployed/hidden-addresses';
import { runningApps, serviceOf, type RunningApp } from '../deployed/running-apps';

/** An application in the editor's choice. */
export interface AppChoice {
  id: string;
  name: string;
  service: 'cloud' | 'simulator';
  /** How many devices are known, and how many of them are online. */
  devices: number;
  online: number;
}

function toAppChoice({ saved, node }: RunningApp): AppChoice {
  const devices = node.fleet()?.snapshot() ?? [];
  return {
    id: saved.id,
    name: saved.name ?? '',
    service: serviceOf(saved),
    devices: devices.length,
    online: devices.filter(({ online }) => online === true).length,
  };
}

/** Lists the applications. It starts nothing. */
export const appsRoute =
  (RED: NodeAPI): Handler =>
  (_request, response) => {
    response.json(runningApps(RED).map(toAppChoice));
  };

/** Shows the fleet of an application. It starts nothing that no node uses. */
export const fleetRoute =
  (RED: NodeAPI): Handler =>
  (request, response) => {
    const id = String(request.params['id']);
    const node = findAppNode(RED, id);
    if (!node) {
      response.status(404).json({ error: toProblem(findApp(RED, id).problem('open')) });
      return;
    }
    node.viewFleet();
    const since = readRevision(request.query['since']);
    const send = async (): Promise<void> => {
      const answer = toFleetAnswer(node.fleet(), since, node.processes);
      const hide = hasErrors(answer)
        ? await addressHider(RED, id, () => mayWriteFlows(RED, request))
        : undefined;
      response.json(hide ? withMessages(answer, hide) : answer);
    };
    // Only a cluster has to be asked first.
    const ready = node.processes ? node.processes.read().then(send) : send();
    ready.catch((error: unknown) => response.status(500).json({ error: toProblem(error) }));
  };
