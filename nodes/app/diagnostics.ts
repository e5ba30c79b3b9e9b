import { platform, release } from 'node:os';
import type { NodeAPI } from 'node-red';
import { type Book, type Fleet, VERSION } from '../../src/index';
import { listenersOf, typeCalled } from '../common/device-types';
import { isVariable, readText } from '../common/shared.config';
import type { AppProblem, Diagnostics } from './answers.config';
import { findDeployed, runningApps, savedId, type AppNode } from './deployed';
import { commonSettings } from './options';

/** Errors of all applications together. */
const ERRORS = 20;

function settingsOf(RED: NodeAPI, node: AppNode): Diagnostics['apps'][number]['settings'] {
  const { config } = node.app;
  const open = node.app.problem('open');
  const server = node.app.problem('server');
  const { timeout, heartbeat, ping, ...common } = commonSettings(config);
  return {
    service: config.service,
    scheme: /^https?(?=:)/i.exec(config.baseUrl)?.[0].toLowerCase() ?? '',
    addressFromVariable: isVariable(findDeployed(RED, node.id)?.saved.baseUrl),
    openApi: open?.code ?? 'ready',
    serverApi: server?.code ?? 'ready',
    tls: config.tls !== '',
    proxy: config.proxy !== '',
    // In seconds, as they are typed.
    timeout: timeout / 1000,
    heartbeat: heartbeat / 1000,
    ping: ping / 1000,
    ...common,
  };
}

/** Of the device book numbers alone: its names, groups and path are private. */
const bookCounts = (book: Book): object => ({
  bookDevices: book.file.devices.size,
  bookGroups: book.file.groups.size,
  bookRowsLeftOut: book.file.badRows,
  bookFaults: book.problems.filter(({ line }) => line === 0).length,
});

function countsOf(node: AppNode): Diagnostics['apps'][number]['counts'] {
  const { fleet } = node.app;
  const metrics = fleet?.metrics();
  return {
    nodes: Object.keys(node.users).length,
    ...(metrics && {
      devices: metrics.devices,
      online: metrics.online,
      ...metrics.channels,
      uploads: metrics.uploads,
      recovered: metrics.replayed,
      waiting: metrics.waiting,
    }),
    ...(fleet?.book && bookCounts(fleet.book)),
  };
}

function errorsOf(node: AppNode): Diagnostics['errors'] {
  return (node.app.fleet?.errors() ?? []).map(({ chipid, code, message, at }) => ({
    app: node.id,
    chipid,
    code,
    message,
    at,
  }));
}

/** Collects them. Starts nothing, and calls no service. */
export function diagnose(RED: NodeAPI): Diagnostics {
  const apps = runningApps();
  const errors = apps.flatMap(errorsOf).sort((a, b) => b.at - a.at);
  return {
    versions: {
      package: VERSION,
      // Node-RED gives it to all, which its types leave out.
      nodeRed: String((RED.settings as { version?: unknown }).version),
      node: process.version,
      os: `${platform()} ${release()} ${process.arch}`,
    },
    apps: apps.map((node) => ({
      id: node.id,
      settings: settingsOf(RED, node),
      counts: countsOf(node),
    })),
    errors: errors.slice(0, ERRORS),
  };
}

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
