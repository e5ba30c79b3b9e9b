import type { NodeAPI } from 'node-red';
import { isDeviceCloudError } from '../../src/index';
import { readSelection, type WaitingSelection } from '../../src/for-nodes';
import { invalidInput } from '../../src/input';
import { auditedRoute } from '../common/admin';
import { findApp } from '../common/app';
import { toProblem } from '../common/errors';
import type { Handler } from '../common/register';
import { isObject } from '../common/shared.config';
import { findAppNode, type AppNode } from './deployed';

/** @throws DeviceCloudError `NOT_CONFIGURED` */
function appOf(RED: NodeAPI, id: string): AppNode {
  const node = findAppNode(RED, id);
  const problem = node ? undefined : findApp(RED, id).problem('open');
  if (node) return node;
  throw problem ?? new Error(`The application ${id} is missing.`);
}

/** Lists the commands of an application that wait for their devices. It starts nothing. */
export const waitingRoute =
  (RED: NodeAPI): Handler =>
  (request, response) => {
    const answer = async (): Promise<void> => {
      const commands = await appOf(RED, String(request.params['id'])).waiting()?.list();
      response.json({ commands: commands ?? [] });
    };
    answer().catch((error: unknown) => {
      const status = isDeviceCloudError(error, 'NOT_CONFIGURED') ? 404 : 500;
      response.status(status).json({ error: toProblem(error) });
    });
  };

/** The device is one, as a person chooses it: the client takes several. */
function selectionOf(body: unknown): WaitingSelection {
  if (!isObject(body))
    throw invalidInput('Send a JSON object, with the header Content-Type: application/json.');
  const { chipid, ...others } = body;
  const selection = chipid === undefined ? others : { ...others, chipids: [chipid] };
  readSelection(selection);
  return selection as WaitingSelection;
}

/** Cancels commands that wait: some by their ids, those of a device, or all. */
export const cancelRoute = (RED: NodeAPI): Handler =>
  auditedRoute(RED, {
    event: 'waiting.cancel',
    read: (body, { id = '' }) => ({
      id,
      node: appOf(RED, id),
      selection: selectionOf(body),
    }),
    audited: ({ id, selection }) => ({ id, ...selection }),
    async answer({ node, selection }) {
      return { ok: true, cancelled: (await node.waiting()?.cancel(selection)) ?? 0 };
    },
    failure: () => Promise.resolve([502]),
  });
