import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import {
  fileNameOf,
  Files,
  Store,
  SharedStore,
  type Keeping,
  type StorePort,
} from '../../src/index';
import { messageOf } from '../common/errors';
import { findInFlows } from '../common/settings';
import { isObject } from '../common/shared.config';

/** The folder in Node-RED's user directory in which each application has one of its own. */
const FOLDER = 'device-cloud';

/** How long what belongs to no node of the flows is kept, in days. */
const DAYS = 30;

/** In the folder of an application that is in no flow: on how many days that was seen. */
const GONE = 'gone';

const folderOf = ({ settings: { userDir } }: NodeAPI, ...ids: string[]): string | undefined =>
  userDir && join(userDir, FOLDER, ...ids.map(fileNameOf));

const NO_USER_DIRECTORY = 'Nothing survives a restart: this Node-RED has no user directory.';

const NOWHERE: StorePort = {
  load: () => Promise.resolve([]),
  unitOf: (key) => key.slice(0, key.indexOf(':')),
  write: () => Promise.reject(new Error(NO_USER_DIRECTORY)),
};

/**
 * The store of an application.
 * @param application its address and id: what was written for others is not used
 * @param isShared whether other processes share the devices
 */
export function openStore(
  RED: NodeAPI,
  node: Node,
  application: () => string,
  isShared: boolean,
): Keeping {
  const path = folderOf(RED, node.id);
  const log = (line: string): void => node.warn(line);
  const open = (): Keeping => new Store(path ? new Files(path, { of: application, log }) : NOWHERE);
  const store = isShared ? new SharedStore() : open();
  const said = new Set<string>();
  store.onProblem.add(() => {
    const { problem } = store;
    if (problem === undefined || said.has(problem)) return;
    said.add(problem);
    // It does not pass: somebody has to change something.
    if (store instanceof SharedStore && store.state === 'refused') node.error(problem);
    else log(problem);
  });
  return store;
}

/** The node that an entry belongs to. Its id may have a colon in it; what follows it in a key has none. */
function nodeOf(key: string, value: unknown): unknown {
  const [kind, ...parts] = key.split(':');
  if (kind === 'pin') return isObject(value) ? value['node'] : undefined;
  // A mark also has the history that it is of.
  return parts.slice(0, kind === 'mark' ? -2 : -1).join(':');
}

/** Counts the days on which something was missed. A clock that is set counts one day at most. */
function countDay(before: unknown): { days: number; last: string } {
  const { days = 0, last } = isObject(before) ? before : {};
  const today = new Date().toISOString().slice(0, 10);
  return { days: last === today ? Number(days) : Number(days) + 1, last: today };
}

const STATE = ['position', 'pin', 'event', 'seen', 'mark', 'subscribed'];

/** Removes what belongs to nodes that a deploy has removed, or that were in no flow for 30 days. */
export function tidyStore(RED: NodeAPI, store: Keeping, removed: readonly string[]): void {
  const owners = new Map<string, string[]>();
  for (const [key, value] of STATE.flatMap((kind) => store.list(`${kind}:`))) {
    const owner = nodeOf(key, value);
    if (typeof owner === 'string') owners.set(owner, [...(owners.get(owner) ?? []), key]);
  }
  for (const [owner, keys] of owners) {
    const fact = `fact:gone-${owner}`;
    const isGone = !findInFlows(RED, owner);
    const count = isGone ? countDay(store.get(fact)) : undefined;
    const isOver = isGone && (removed.includes(owner) || (count?.days ?? 0) > DAYS);
    if (isOver) for (const key of keys) store.update(key, undefined);
    if (count || store.get(fact) !== undefined) store.update(fact, isOver ? undefined : count);
  }
}

/** The one that is under way, if any: two at once would end a command twice. */
let tidying: Promise<void> = Promise.resolve();

/** Removes the folders of applications that a deploy has removed, or that were in no flow for 30 days. Never rejects. */
export function tidyFolders(...call: Parameters<typeof tidyAll>): Promise<void> {
  tidying = tidying.then(() => tidyAll(...call));
  return tidying;
}

async function tidyAll(
  RED: NodeAPI,
  removed: readonly string[],
  end: (key: string, value: unknown) => void,
): Promise<void> {
  const all = folderOf(RED);
  if (!all || !existsSync(all)) return;
  const known = new Set<string>();
  RED.nodes.eachNode(({ id }) => known.add(fileNameOf(id)));
  for (const name of await readdir(all).catch(() => []))
    // In an instance of a subflow, an id has those of the instance and of the template.
    if (known.has(name) || name.split('-').every((id) => known.has(id))) {
      await rm(join(all, name, GONE), { force: true }).catch(() => undefined);
    } else {
      const isRemoved = removed.some((id) => fileNameOf(id) === name);
      await tidyFolder(join(all, name), isRemoved, end).catch((error: unknown) =>
        RED.log.warn(
          `${join(all, name)} is left of an application that was removed: remove it. ${messageOf(error)}`,
        ),
      );
    }
}

const orderOf = (value: unknown): number => Number(isObject(value) && value['order']);

async function tidyFolder(
  path: string,
  isRemoved: boolean,
  end: (key: string, value: unknown) => void,
): Promise<void> {
  const marker = join(path, GONE);
  const before: unknown = await readFile(marker, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined);
  const count = countDay(before);
  if (!isRemoved && count.days <= DAYS) {
    await writeFile(marker, JSON.stringify(count), { mode: 0o600 });
    return;
  }
  const files = new Files(path, { of: () => '', log: () => undefined });
  const commands = [...(await files.load())].filter(([key]) => key.startsWith('command:'));
  // They end in the order in which they came, whatever the order of the files is.
  commands.sort(([, a], [, b]) => orderOf(a) - orderOf(b));
  for (const [key, value] of commands) end(key, value);
  await rm(path, { recursive: true });
}
