import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import {
  fileNameOf,
  WaitingStore,
  KeptCalls,
  StateFolder,
  type KeptCommands,
  type KeptValue,
} from '../../src/for-nodes';
import { messageOf } from '../common/errors';
import { isInFlows, Kept } from '../common/kept';

/** The folder in Node-RED's user directory in which each application has one of its own. */
const FOLDER = 'device-cloud';

/** Takes the place of a folder where there can be none. */
const NOWHERE: KeptValue = {
  read: () => Promise.resolve(undefined),
  write: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};
const COMMANDS = 'commands';
/** What is lost if a file cannot be used. */
const WHAT: Readonly<Record<string, string>> = {
  'listen-positions': 'how far uploads were emitted',
  'listen-seen': 'which devices were seen online',
  'events-state': 'who was online',
  'history-positions': 'which records were emitted',
  'gpio-pins': 'the levels of pins',
};
const NO_COMMANDS =
  'Waiting commands are not kept over a restart: this Node-RED has no user directory.';
const NO_USER_DIRECTORY = 'Nothing is kept over a restart: this Node-RED has no user directory.';

/**
 * Removes the folders of applications that were removed while they were disabled: others have removed theirs. Never rejects.
 * @param end is called with each call of theirs that waits
 */
export async function removeLeft(
  RED: NodeAPI,
  ids: readonly string[],
  end: (kept: KeptCommands) => void,
): Promise<void> {
  const { userDir } = RED.settings;
  const all = join(userDir ?? '', FOLDER);
  const names = new Set(userDir ? await readdir(all).catch(() => []) : []);
  for (const id of ids) {
    if (!names.has(fileNameOf(id)) || isInFlows(RED, { id })) continue;
    const path = join(all, fileNameOf(id));
    try {
      const ignore = (): void => undefined;
      const folder = await StateFolder.open(path, { application: '', log: ignore });
      if (folder.problem) throw new Error(folder.problem);
      const journal = await folder.journal(COMMANDS);
      const store = journal && new WaitingStore(journal);
      const calls = new KeptCalls({ store: () => Promise.resolve(store), failed: ignore });
      for (const kept of await calls.take()) end(kept);
      await folder.close();
      await rm(path, { recursive: true });
    } catch (error) {
      RED.log.warn(
        `${path} is left of an application that was removed: its positions, pins and waiting commands. Remove it. ${messageOf(error)}`,
      );
    }
  }
}

/** What the nodes of an application keep over a restart. */
export class KeptState {
  readonly #path: string | undefined;
  readonly #kept = new Map<Node, Map<string, Promise<Kept>>>();
  #isClosed = false;
  /** Ends the wait for a folder that another process may use. */
  readonly #closing = new AbortController();
  /** What the log has been told: it is the same for many nodes. */
  readonly #said = new Set<string>();
  #folder: Promise<StateFolder> | undefined;
  #commands: Promise<WaitingStore | undefined> | undefined;
  readonly #RED: NodeAPI;
  readonly #node: Node;

  constructor(RED: NodeAPI, node: Node) {
    this.#RED = RED;
    this.#node = node;
    const { userDir } = RED.settings;
    this.#path = userDir ? join(userDir, FOLDER, fileNameOf(node.id)) : undefined;
  }

  /**
   * A value of a node, which is written and closed with it.
   * @param application what is kept belongs to it: another one's is not read
   * @param name distinguishes the values of a node
   */
  value(application: string, user: Node, name: string): Promise<Kept> {
    const values = this.#kept.get(user) ?? new Map<string, Promise<Kept>>();
    if (!this.#kept.has(user)) {
      this.#kept.set(user, values);
      // Not before the last write: Node-RED closes the application at the same time, and with it the folder.
      user.on('close', () => void closeAll(values).finally(() => this.#kept.delete(user)));
    }
    const known = values.get(name);
    if (known) return known;
    const made = this.#make(application, user, name);
    values.set(name, made);
    return made;
  }

  /** Forgets what a node has kept while it was set to something else. @throws what the store fails with */
  async forget(application: string, user: Node, name: string): Promise<void> {
    if (existsSync(join(this.#path ?? '', `${fileOf(user, name)}.json`)))
      await (await this.value(application, user, name)).forget();
  }

  /** Whether an earlier process may have left waiting commands. */
  get mayHaveCommands(): boolean {
    return !!this.#commandsPath && existsSync(this.#commandsPath);
  }

  /** Where waiting commands are kept; undefined if they cannot be. @param application as of {@link value} */
  commands(application: string): Promise<WaitingStore | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    return (this.#commands ??= this.#openCommands(application));
  }

  /** Resolves once everything is written. @param removed whether the application is gone */
  async close(removed: boolean): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#kept.values()].map(closeAll));
    this.#isClosed = true;
    await this.#commands;
    const folder = await this.#folder;
    this.#folder = this.#commands = undefined;
    await folder?.close();
    if (removed && this.#path && !folder?.problem)
      await rm(this.#path, { recursive: true, force: true });
  }

  #open(path: string, application: string): Promise<StateFolder> {
    const log = (line: string): void => this.#say(line);
    const { signal } = this.#closing;
    return (this.#folder ??= StateFolder.open(path, { application, log, signal }));
  }

  #say(line: string): void {
    if (!this.#said.has(line)) this.#node.warn(line);
    this.#said.add(line);
  }

  async #openCommands(application: string): Promise<WaitingStore | undefined> {
    if (!this.#commandsPath || !this.#path) {
      this.#say(NO_COMMANDS);
      return undefined;
    }
    const folder = await this.#open(this.#path, application);
    const journal = await folder.journal(COMMANDS, 'waiting commands');
    return journal && new WaitingStore(journal);
  }

  get #commandsPath(): string | undefined {
    return this.#path ? join(this.#path, `${COMMANDS}.jsonl`) : undefined;
  }

  async #make(application: string, user: Node, name: string): Promise<Kept> {
    if (!this.#path) {
      this.#say(NO_USER_DIRECTORY);
      return new Kept(this.#RED, user, NOWHERE, () => NO_USER_DIRECTORY);
    }
    const folder = await this.#open(this.#path, application);
    const value = folder.value(fileOf(user, name), WHAT[kindOf(user, name)]);
    return new Kept(this.#RED, user, value, () => value.problem);
  }
}

const kindOf = ({ type }: Node, name: string): string =>
  `${type.replace('device-cloud-', '')}-${name}`;
const fileOf = (user: Node, name: string): string => `${kindOf(user, name)}-${fileNameOf(user.id)}`;

const closeAll = async (values: Map<string, Promise<Kept>>): Promise<void> => {
  await Promise.allSettled([...values.values()].map(async (kept) => (await kept).close()));
};
