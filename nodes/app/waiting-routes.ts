import type { NodeAPI } from 'node-red';
import { readSelection, type WaitingSelection } from '../../src/for-nodes';
import { parseChipid } from '../../src/input';
import { auditedRoute, bodyOf, readingRoute } from '../common/admin';
import type { Handler } from '../common/register';
import { appNodeOf } from './deployed';

/** Lists the commands of an application that wait for their devices. It starts nothing. */
export const waitingRoute = (RED: NodeAPI): Handler =>
  readingRoute(async ({ params }, response) => {
    const commands = await appNodeOf(RED, params['id']).waiting()?.list();
    response.json({ commands: commands ?? [] });
  });

/** Ids that an audit line names; the others it counts. */
const MOST_AUDITED = 20;

/** The device is one, as a person chooses it: the client takes several. */
function selectionOf(body: unknown): WaitingSelection {
  const { chipid, ...others } = bodyOf(body);
  if (chipid !== undefined) parseChipid(chipid);
  const selection = chipid === undefined ? others : { ...others, chipids: [chipid] };
  readSelection(selection);
  return selection as WaitingSelection;
}

function auditedSelection(selection: WaitingSelection): object {
  if (!('ids' in selection) || selection.ids.length <= MOST_AUDITED) return selection;
  const { ids } = selection;
  return { ids: ids.slice(0, MOST_AUDITED), more: ids.length - MOST_AUDITED };
}

/** Cancels commands that wait: by their ids, by their device, or all. */
export const cancelRoute = (RED: NodeAPI): Handler =>
  auditedRoute(RED, {
    event: 'waiting.cancel',
    read: (body, { id = '' }) => ({
      id,
      node: appNodeOf(RED, id),
      selection: selectionOf(body),
    }),
    audited: ({ id, selection }) => ({ id, ...auditedSelection(selection) }),
    async answer({ node, selection }) {
      return { ok: true, cancelled: (await node.waiting()?.cancel(selection)) ?? 0 };
    },
    failure: () => [502],
  });
