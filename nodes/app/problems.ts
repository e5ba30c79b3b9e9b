import type { NodeAPI } from 'node-red';
import type { Fleet } from '../../src/index';
import { listenersOf, typeCalled } from '../common/device-types';
import { isVariable, readText } from '../common/shared.config';
import type { AppProblem } from './answers.config';
import { savedId, type AppNode } from './deployed';

/** Types, groups and devices that are named. */
const MOST = 50;

/** The latest refusal of the key; undefined once the list was read after it. */
function refusal(fleet: Fleet): string | undefined {
  const refused = fleet.errors().find(({ code }) => code === 'UNAUTHORIZED');
  if (!refused) return undefined;
  const { listAge } = fleet.metrics();
  const isOver = listAge !== null && Date.now() - listAge > refused.at;
  return isOver ? undefined : refused.message;
}

/** The groups that nodes are for, each with one of its nodes. A group that a variable names is not known here. */
function groupsOf(RED: NodeAPI, { users }: AppNode): Map<string, string> {
  const running = new Map(Object.values(users).map((user) => [savedId(user), user.id]));
  const groups = new Map<string, string>();
  RED.nodes.eachNode((node) => {
    if (!running.has(node.id)) return;
    const { chipidType, chipid, devices, group } = node as unknown as Record<string, unknown>;
    const named = chipidType === 'group' ? chipid : devices === 'group' ? group : undefined;
    const name = readText(named)?.trim() ?? '';
    if (name !== '' && !isVariable(name) && !groups.has(name)) groups.set(name, node.id);
  });
  return groups;
}

/** What is wrong with groups and types, and with the book itself. */
function problemsOfBook(RED: NodeAPI, node: AppNode, { book }: Fleet): AppProblem[] {
  const groups = [...groupsOf(RED, node)].filter(([name]) => !book?.file.groups.has(name));
  const types = [...(book?.file.types ?? [])].filter((name) => !typeCalled(name));
  const fault = book?.problems.find(({ line }) => line === 0);
  return [
    ...(fault ? [{ kind: 'book', reason: fault.reason } as const] : []),
    ...(book?.file.badRows ? [{ kind: 'rows', number: book.file.badRows } as const] : []),
    ...types.slice(0, MOST).map((name) => ({ kind: 'type', name }) as const),
    ...groups.slice(0, MOST).map(([name, id]) => ({ kind: 'group', name, node: id }) as const),
  ];
}

/** The problems of an application that a user has to solve. Starts nothing and does not call the service. */
export function problemsOf(RED: NodeAPI, node: AppNode): AppProblem[] {
  const { app } = node;
  const { fleet } = app;
  // An application may have the keys of one interface alone.
  const settings = app.problem('server') && app.problem('open')?.message;
  const key = fleet && refusal(fleet);
  const store = app.store().problem;
  const unclear = [...new Set(listenersOf(node.users).flatMap((each) => each.unclear()))];
  return [
    ...(settings === undefined ? [] : [{ kind: 'settings', reason: settings } as const]),
    ...(key === undefined ? [] : [{ kind: 'key', reason: key } as const]),
    ...(store === undefined ? [] : [{ kind: 'store', reason: store } as const]),
    ...(fleet ? problemsOfBook(RED, node, fleet) : []),
    ...(unclear.length > 0
      ? [{ kind: 'history', number: unclear.length, chipids: unclear.slice(0, MOST) } as const]
      : []),
  ];
}
