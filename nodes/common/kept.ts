import { setTimeout as sleep } from 'node:timers/promises';
import type { Node, NodeAPI } from 'node-red';
import { Saver, type KeptValue } from '../../src/for-nodes';
import { messageOf } from './errors';

/** Milliseconds from a failed reading of the store to the next. */
const RETRY = 5000;

/** Whether the flows have a node that closes: one that is disabled, itself or with its tab, keeps what it has. */
export function isInFlows(RED: NodeAPI, { id }: Pick<Node, 'id'>): boolean {
  let isThere = false;
  RED.nodes.eachNode((each) => (isThere ||= each.id === id));
  return isThere;
}

/** What a node keeps over a restart: one value, written at most once a second and when the node closes. */
export class Kept {
  readonly #node: Node;
  readonly #value: KeptValue;
  readonly #problem: () => string | undefined;
  readonly #saver: Saver;
  #snapshot: (() => object) | undefined;
  /** What the last write has failed with. */
  #failure: string | undefined;
  #onProblem: (() => void) | undefined;

  /**
   * @param node is warned if the store fails; when it is removed, so is the value
   * @param problem returns why the value does not survive a restart, in a sentence; undefined if it does
   */
  constructor(RED: NodeAPI, node: Node, value: KeptValue, problem: () => string | undefined) {
    this.#node = node;
    this.#value = value;
    this.#problem = problem;
    const write = (what: object): Promise<void> => this.#write(what);
    this.#saver = new Saver(
      { write },
      () => this.#snapshot?.() ?? {},
      (error) => node.warn(`The state of this node cannot be kept: ${messageOf(error)}`),
    );
    node.on('close', (removed: boolean, done: () => void) => {
      void this.close()
        .then(() => (removed && !isInFlows(RED, node) ? value.remove() : undefined))
        .then(done, () => done());
    });
  }

  /** Why the value does not survive a restart; undefined if it does. */
  get problem(): string | undefined {
    return this.#problem() ?? this.#failure;
  }

  /** @param listener is called when there is a problem, or none any more, so that the status of the node says so */
  onProblem(listener: () => void): void {
    this.#onProblem = listener;
  }

  /** What was kept before this start, or is to be written now. @throws what the store fails with */
  async read(): Promise<unknown> {
    if (this.#snapshot) return this.#snapshot();
    const before = this.problem;
    const read = await this.#value.read();
    const { problem } = this;
    if (problem !== undefined && problem !== before) {
      this.#node.warn(problem);
      this.#onProblem?.();
    }
    return read;
  }

  /** As {@link read}. Retries until the store answers: without what was kept, missed uploads would be lost. */
  async readSurely(failed: (error: unknown) => void, signal: AbortSignal): Promise<unknown> {
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      try {
        return await this.read();
      } catch (error) {
        if (!isOver()) failed(error);
      }
      await sleep(RETRY, undefined, { signal }).catch(() => undefined);
    }
    return undefined;
  }

  /**
   * Has a value written.
   * @param snapshot returns it when it is written
   * @param isPassedOn false if Node-RED passes the messages of this change on in the next turn: it drops them if the node closes
   * before, and the change is not written then
   */
  write(snapshot: () => object, isPassedOn = true): void {
    this.#snapshot = snapshot;
    this.#saver.changed(isPassedOn);
  }

  /** As {@link write}, now. Resolves once it is written, or could not be. */
  flush(snapshot: () => object): Promise<void> {
    this.#snapshot = snapshot;
    return this.#saver.flush();
  }

  /** Forgets what was kept before this start. @throws what the store fails with */
  async forget(): Promise<void> {
    if ((await this.#value.read()) !== undefined) await this.#value.remove();
  }

  /** Resolves once everything has been written, or could not be. */
  async close(): Promise<void> {
    await this.#saver.close();
    // The folder outlives the node, which must not be held by it.
    this.#onProblem = undefined;
    this.#snapshot = undefined;
  }

  async #write(what: object): Promise<void> {
    const before = this.problem;
    try {
      await this.#value.write(what);
      this.#failure = undefined;
    } catch (error) {
      this.#failure = messageOf(error);
      throw error;
    } finally {
      if (this.problem !== before) this.#onProblem?.();
    }
  }
}
