import { createHash } from 'node:crypto';
import type { Node, NodeAPI } from 'node-red';
import {
  DeviceCloudError,
  KeptCalls,
  type KeptCommands,
  type NewCall,
  type WaitingStore,
} from '../../src/for-nodes';
import type { CommandKeeper } from '../common/app';
import { readKept } from '../common/device-call';
import { deviceText, messageOf } from '../common/errors';
import { isObject } from '../common/shared.config';
import { removeLeft } from './kept-state';

interface User {
  /** What it is set to, and for which application. */
  readonly settings: string;
  readonly resume: (kept: KeptCommands, what: unknown) => void;
}

interface KeeperDeps {
  application: () => string;
  /** Whether an earlier process may have left commands. */
  mayHaveMore: () => boolean;
  /** @returns undefined if nothing can be kept */
  store: () => Promise<WaitingStore | undefined>;
  titleOf: (chipid: string) => string;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('base64url');

/**
 * Gives waiting commands back to their nodes: after a restart, and after a deploy that has closed them. They go on if the node
 * is set as it was, and otherwise end with `CANCELLED`.
 */
export class Keeper implements CommandKeeper {
  readonly #users = new Map<string, User>();
  readonly #calls: KeptCalls;
  #isReady = false;
  #setReady!: () => void;
  readonly #ready = new Promise<void>((resolve) => (this.#setReady = resolve));
  /** Whether all nodes run: during a deploy or a stop, it is not known whose node is gone. */
  #isStarted = false;
  readonly #onStopping = (): void => void (this.#isStarted = false);
  readonly #onStarted = (): void => {
    this.#isStarted = true;
    void this.#resume();
  };
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #deps: KeeperDeps;

  constructor(RED: NodeAPI, node: Node, deps: KeeperDeps) {
    this.#RED = RED;
    this.#node = node;
    this.#deps = deps;
    let hasFailed = false;
    this.#calls = new KeptCalls({
      store: deps.store,
      failed: (error) => {
        if (!hasFailed) node.warn(`Waiting commands cannot be kept: ${messageOf(error)}`);
        hasFailed = true;
      },
    });
    // By then all nodes exist, so that it is known whose commands have no node any more.
    RED.events.on('flows:started', this.#onStarted);
    RED.events.on('flows:stopping', this.#onStopping);
  }

  get ready(): Promise<void> | undefined {
    return this.#isReady ? undefined : this.#ready;
  }

  add({ what, ...call }: NewCall): KeptCommands {
    const settings = this.#users.get(call.node)?.settings;
    return this.#calls.add({ ...call, what: () => ({ settings, what: what() }) });
  }

  register(user: Node, settings: object, resume: User['resume']): () => void {
    const text = JSON.stringify([this.#deps.application(), user.type, settings]);
    const registered = { settings: hash(text), resume };
    this.#users.set(user.id, registered);
    return () => {
      if (this.#users.get(user.id) === registered) this.#users.delete(user.id);
    };
  }

  /** @param isGone whether the application is: its commands end, those of nodes that stay too */
  close(isGone: boolean): void {
    this.#calls.close();
    if (isGone)
      this.#RED.events.once('flows:started', () => {
        for (const kept of this.#calls.saved) if (kept.isDetached) this.#cancel(kept);
      });
    this.#RED.events.off('flows:started', this.#onStarted);
    this.#RED.events.off('flows:stopping', this.#onStopping);
    // Nothing that waits for it is left: nodes close at the same time.
    this.#setReady();
  }

  /** It never rejects. */
  async #resume(): Promise<void> {
    try {
      for (const kept of await this.#take()) this.#give(kept);
    } catch (error) {
      this.#node.warn(`Waiting commands could not be read: ${messageOf(error)}`);
    }
    this.#isReady = true;
    this.#setReady();
  }

  /** Those that an earlier process has left, and those that a deploy has interrupted. */
  async #take(): Promise<KeptCommands[]> {
    const isFirst = !this.#isReady;
    const found = isFirst && this.#deps.mayHaveMore() ? await this.#calls.take() : [];
    if (!this.#isStarted) {
      // They go to their nodes once these have started again.
      for (const kept of found) kept.isDetached = true;
      return [];
    }
    const detached = [...this.#calls.saved].filter(({ isDetached }) => isDetached);
    return [...new Set([...detached, ...found])].sort((a, b) => a.order - b.order);
  }

  #give(kept: KeptCommands): void {
    kept.isDetached = false;
    const { node, chipids } = kept.call;
    const user = this.#users.get(node);
    const saved = kept.call.what();
    const { settings, what } = isObject(saved) ? saved : {};
    if (!user) {
      this.#cancel(kept);
      void kept.close();
      return;
    }
    if (settings !== user.settings)
      for (const chipid of chipids) if (kept.waits(chipid)) kept.marks.set(chipid, 'cancelled');
    user.resume(kept, what);
  }

  #cancel(kept: KeptCommands): void {
    cancelCall(this.#RED, kept, (line) => this.#node.warn(line), this.#deps.titleOf);
  }
}

/** Ends the commands of a node that is gone, or that has another application. @param warn logs a line */
function cancelCall(
  RED: NodeAPI,
  { call: { node: id, chipids, what }, marks }: Pick<KeptCommands, 'call' | 'marks'>,
  warn: (line: string) => void,
  titleOf: KeeperDeps['titleOf'] = (chipid) => deviceText(undefined, chipid),
): void {
  const devices = chipids.filter((chipid) => !marks.has(chipid)).map(titleOf);
  if (devices.length === 0) return;
  const others = devices.length > 1 ? ` and ${devices.length - 1} others` : '';
  const end = `Its waiting command to ${devices[0]}${others} was not sent.`;
  // The types of Node-RED say that there always is one.
  const node = RED.nodes.getNode(id) as Node | null;
  if (!node) {
    warn(`CANCELLED: the node ${id} was removed. ${end}`);
    return;
  }
  const saved = what();
  const { msg } = readKept(isObject(saved) ? saved['what'] : undefined);
  node.error(
    new DeviceCloudError('CANCELLED', `the application of the node was changed or removed. ${end}`),
    msg,
  );
}

/** Ends what applications have kept that were removed while they were disabled. @param ids of the nodes that were removed */
export const endLeft = (RED: NodeAPI, ids: readonly string[]): Promise<void> =>
  removeLeft(RED, ids, (kept) => cancelCall(RED, kept, (line) => RED.log.warn(line)));
