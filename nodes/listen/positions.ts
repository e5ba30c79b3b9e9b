import { setTimeout as sleep } from 'node:timers/promises';
import type { Node } from 'node-red';
import { isPosition, type Position } from '../../src/for-nodes';
import { contextGet, contextSet } from '../common/context';
import { isObject } from '../common/shared.config';

/** How far the uploads of each device have been emitted. */
export interface Positions {
  get(chipid: string): Position | undefined;
  set(chipid: string, position: Position): void;
  forget(chipid: string): void;
  /** Resolves once everything that the flow has been given has been written, or could not be. */
  close(): Promise<void>;
}

const KEY = 'positions';

/** Milliseconds from a failed reading of the store to the next. */
const RETRY = 5000;

/** Retries until the store answers: without its positions, missed uploads would be lost. */
async function readStored(
  node: Node,
  failed: (error: unknown) => void,
  signal: AbortSignal,
): Promise<unknown> {
  for (;;) {
    try {
      return await contextGet(node, KEY);
    } catch (error) {
      if (signal.aborted) return undefined;
      failed(error);
    }
    try {
      await sleep(RETRY, undefined, { signal });
    } catch {
      return undefined;
    }
  }
}

/**
 * Positions in the node's context, which last as long as its store does. There is one write at a time, and
 * the next one covers every change made meanwhile: a slow store delays no message. Node-RED passes a message on in the
 * next turn, and drops it if it is stopped before, so that a position is written a turn later, too.
 * @param failed is called for each reading or write that the store refused
 * @param signal ends the wait for a store that cannot be read
 */
export async function contextPositions(
  node: Node,
  failed: (error: unknown) => void,
  signal: AbortSignal,
): Promise<Positions> {
  const stored = await readStored(node, failed, signal);
  const entries = isObject(stored) ? Object.entries(stored) : [];
  const positions = new Map<string, Position>();
  for (const [chipid, position] of entries) {
    if (isPosition(position)) positions.set(chipid, position);
  }
  /** Of messages that were sent in this turn. */
  const sent = new Map<string, Position>();
  let changed = false;
  let writing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    while (changed) {
      changed = false;
      try {
        await contextSet(node, KEY, Object.fromEntries(positions));
      } catch (error) {
        failed(error);
      }
    }
    writing = undefined;
  };
  const write = (): void => {
    changed = true;
    writing ??= writeAll();
  };

  const passedOn = (): void => {
    if (sent.size === 0) return;
    for (const [chipid, position] of sent) positions.set(chipid, position);
    sent.clear();
    write();
  };

  return {
    get: (chipid) => sent.get(chipid) ?? positions.get(chipid),
    set(chipid, position) {
      if (sent.size === 0) setImmediate(passedOn);
      sent.set(chipid, position);
    },
    forget(chipid) {
      sent.delete(chipid);
      if (positions.delete(chipid)) write();
    },
    close() {
      sent.clear();
      return writing ?? Promise.resolve();
    },
  };
}
