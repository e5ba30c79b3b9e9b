import { createHash } from 'node:crypto';
import type { Node, NodeAPI } from 'node-red';
import {
  DeviceCloudError,
  endOf,
  errorOfEnd,
  readSaved,
  Slices,
  type SavedCall,
  SavedCalls,
  type SavedCommand,
  type SharedWaiting,
  type ClusterClient,
  type Keeping,
  deviceTitle,
} from '../../src/index';
import type { CommandKeeper } from '../common/app';
import { callOf, isKept } from '../common/kept-call';
import { readKept } from '../common/device-call';
import { findInFlows } from '../common/settings';
import { isObject } from '../common/shared.config';
import { tidyFolders, tidyStore } from './store';

/** Milliseconds between two looks at what is in no flow any more. */
const DAY = 24 * 60 * 60_000;

interface User {
  /** What it is set to, and for which application. */
  readonly settings: string;
  readonly resume: (saved: SavedCall, what: unknown) => void;
}

interface KeeperDeps {
  store: Keeping;
  /** What goes on with the commands of other processes. Undefined if none shares the devices, or while the client is made. */
  sharing: () => ClusterClient['handOvers'] | undefined;
  /** Whether commands can be sent. If not, they go on waiting. */
  isUsable: () => boolean;
  application: () => string;
  titleOf: (chipid: string) => string;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** What a deploy has removed, of an event of Node-RED. */
type Started = { diff?: { removed?: string[] } } | undefined;

/**
 * Gives waiting commands back to their nodes: after a restart, and after a deploy that has closed them. They go on if the node
 * is set as it was, and otherwise end with `CANCELLED`. What cannot be sent for now goes on waiting.
 */
export class Keeper implements CommandKeeper {
  readonly #users = new Map<string, User>();
  #isReady = false;
  #setReady!: () => void;
  readonly #ready = new Promise<void>((resolve) => (this.#setReady = resolve));
  /** Whether all nodes run: during a deploy or a stop, it is not known whose node is gone. */
  #isStarted = false;
  readonly #onStopping = (): void => void (this.#isStarted = false);
  readonly #onStarted = (started: Started): void => {
    this.#isStarted = true;
    void this.#resume(started?.diff?.removed ?? []);
  };
  /** Devices have come from another process of a cluster. */
  readonly #onMoved = (): void => {
    if (this.#isReady) void this.#giveAll();
  };
  readonly #days = setInterval(() => tidyStore(this.#RED, this.#deps.store, []), DAY).unref();
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #deps: KeeperDeps;
  readonly #calls: SavedCalls;
  /** What a cluster needs of the commands that wait. */
  readonly shared: SharedWaiting;

  constructor(RED: NodeAPI, node: Node, deps: KeeperDeps) {
    this.#RED = RED;
    this.#node = node;
    this.#deps = deps;
    const calls = (this.#calls = new SavedCalls(deps.store));
    const callOfKept = (kept: unknown) => callOf(asObject(kept)['what']);
    // Its message is gone with its process: it leaves its node here.
    this.shared = { calls, callOf: callOfKept, onOrphan: (saved) => this.#give(saved, true) };
    // By then all nodes exist, so that it is known whose commands have no node any more.
    RED.events.on('flows:started', this.#onStarted);
    RED.events.on('flows:stopping', this.#onStopping);
    deps.store.onMoved.add(this.#onMoved);
  }

  get ready(): Promise<void> | undefined {
    return this.#isReady ? undefined : this.#ready;
  }

  add(node: string, chipids: readonly string[], whatOf: (chipid: string) => unknown): SavedCall {
    const settings = this.#users.get(node)?.settings;
    return this.#calls.add(node, chipids, (chipid) => ({ settings, what: whatOf(chipid) }));
  }

  register(user: Node, settings: object, resume: User['resume']): () => void {
    const text = JSON.stringify([this.#deps.application(), user.type, settings]);
    const registered = { settings: hash(text), resume };
    this.#users.set(user.id, registered);
    return () => {
      if (this.#users.get(user.id) !== registered) return;
      this.#users.delete(user.id);
      this.#deps.sharing()?.letGoOf(user.id);
    };
  }

  /** The commands of an application that is gone are ended by {@link tidy}. */
  close(): void {
    clearInterval(this.#days);
    this.#RED.events.off('flows:started', this.#onStarted);
    this.#RED.events.off('flows:stopping', this.#onStopping);
    this.#deps.store.onMoved.delete(this.#onMoved);
    // Nothing that waits for it is left: nodes close at the same time.
    this.#setReady();
  }

  /** It never rejects. */
  async #resume(removed: readonly string[]): Promise<void> {
    const { store, isUsable } = this.#deps;
    if (isUsable()) {
      await store.loaded;
      if (this.#isStarted) tidyStore(this.#RED, store, removed);
      await this.#giveAll();
    }
    if (!this.#isStarted) return;
    this.#isReady = true;
    this.#setReady();
  }

  async #giveAll(): Promise<void> {
    const slices = new Slices();
    for (const saved of this.#calls.take()) {
      if (this.#isStarted && slices.isOver) await slices.next();
      if (this.#isStarted) this.#give(saved);
      else saved.letGo();
    }
  }

  /** @param isEnded whether nobody waits for it elsewhere */
  #give(saved: SavedCall, isEnded = false): void {
    const [chipid = ''] = saved.chipids;
    const { settings, what } = asObject(saved.whatOf(chipid));
    if (!isKept(what)) {
      const device = this.#deps.titleOf(chipid);
      this.#RED.log.warn(`A waiting command to ${device} cannot be read: it is not sent.`);
      saved.close();
      return;
    }
    const user = this.#users.get(saved.node);
    if (user) {
      if (settings !== user.settings && !saved.of(chipid)?.isBegun) {
        const text = `${CHANGED} ${notSentTo(chipid)}`;
        void saved.notSent(chipid, new DeviceCloudError('CANCELLED', text));
      }
      const sharing = this.#deps.sharing();
      if (!isEnded && sharing?.hasSender(saved)) void sharing.goOn(saved);
      else user.resume(saved, what);
    } else if (findInFlows(this.#RED, saved.node)?.['app'] === this.#node.id) {
      // It is disabled, or cannot run for now.
      saved.letGo();
    } else {
      endCommand(this.#RED, saved.of(chipid), this.#deps.titleOf(chipid));
      saved.close();
    }
  }
}

const CHANGED = 'The node was changed.';
const asObject = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
const notSentTo = (device: string): string => `The waiting command to ${device} was not sent.`;

/** Ends a command of a node that is gone, or that has another application. */
function endCommand(RED: NodeAPI, saved: SavedCommand | undefined, device: string): void {
  if (!saved) return;
  // The types of Node-RED say that there always is one.
  const node = RED.nodes.getNode(saved.node) as Node | null;
  const why = node
    ? 'The application of the node was changed or removed.'
    : `The node ${saved.node} was removed.`;
  const end = endOf(saved, device);
  const error = end
    ? errorOfEnd(end)
    : new DeviceCloudError('CANCELLED', `${why} ${notSentTo(device)}`);
  // Of one that has succeeded, the message is gone.
  if (!error) return;
  const { what } = asObject(saved.what);
  if (node) node.error(error, isKept(what) ? readKept(what).msg : {});
  else RED.log.warn(error.message);
}

/** Removes what belongs to applications that are gone, and ends what waits of them. */
export const tidy = (RED: NodeAPI, removed: readonly string[]): Promise<void> =>
  tidyFolders(RED, removed, (key, value) =>
    endCommand(RED, readSaved(value), deviceTitle(key.split(':')[1] ?? '')),
  );
