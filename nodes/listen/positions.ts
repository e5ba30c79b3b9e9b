import { setTimeout as sleep } from 'node:timers/promises';
import type { Node } from 'node-red';
import type { Position } from '../../src/recovery/position';
import { isObject } from '../../src/api/shapes';
import { contextGet, contextSet } from '../common/context';

/** How far the uploads of each device have been emitted. */
export interface Positions {
  get(chipid: string): Position | undefined;
  set(chipid: string, position: Position): void;
  forget(chipid: string): void;
  /** Everything set so far has been written, or could not be. */
  flush(): Promise<void>;
}

const KEY = 'positions';

/** Milliseconds until a store that could not be read is asked again. */
const RETRY = 5000;

/** Positions that last as long as the node. */
export function memoryPositions(): Positions {
  const positions = new Map<string, Position>();
  return {
    get: (chipid) => positions.get(chipid),
    set: (chipid, position) => void positions.set(chipid, position),
    forget: (chipid) => void positions.delete(chipid),
    flush: () => Promise.resolve(),
  };
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

const isEdge = (value: unknown): boolean =>
  isObject(value) && typeof value['time'] === 'string' && isTexts(value['seen']);

/** What is saved may be an older version's, or anybody's. */
function isPosition(value: unknown): value is Position {
  if (!isObject(value)) return false;
  const { id, live, last = '', keys = [], edge, encoding = 'text' } = value;
  return (
    typeof id === 'string' &&
    /^(-1|\d{1,20})$/.test(id) &&
    Number.isSafeInteger(live) &&
    Number(live) >= 0 &&
    typeof last === 'string' &&
    isTexts(keys) &&
    (edge === undefined || isEdge(edge)) &&
    (encoding === 'text' || encoding === 'base64')
  );
}

/** Waits for the store: to begin without what it has would lose what was missed. */
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
 * Positions in the node's context, which last as long as its store does. One write is under way at a
 * time, and the next one takes all that has changed meanwhile: a slow store slows no message down.
 * @param failed is told once for each reading or write that the store refused
 * @param signal ends the wait for a store that cannot be read
 */
export async function contextPositions(
  node: Node,
  failed: (error: unknown) => void,
  signal: AbortSignal,
): Promise<Positions> {
  const stored = await readStored(node, failed, signal);
  const entries = typeof stored === 'object' && stored !== null ? Object.entries(stored) : [];
  const positions = new Map<string, Position>();
  for (const [chipid, position] of entries) {
    if (isPosition(position)) positions.set(chipid, position);
  }
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

  return {
    get: (chipid) => positions.get(chipid),
    set(chipid, position) {
      positions.set(chipid, position);
      write();
    },
    forget(chipid) {
      if (positions.delete(chipid)) write();
    },
    flush: () => writing ?? Promise.resolve(),
  };
}
