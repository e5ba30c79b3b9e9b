import { isPosition, type Position } from '../recovery/position';
import type { FencedEntry } from './store';

/** The most positions that are read by one command. */
const MOST = 500;

/** Longer than any position: one with the keys of 10,000 uploads. */
const LONGEST = 8 * 1024 * 1024;

/** A position as the cluster keeps it. */
export const positionToText = (position: Position): string => JSON.stringify(position);

/**
 * Reads a position that any process has stored.
 * @returns undefined if no position is stored yet, `invalid` if the text was not written by this package
 */
export function positionFromText(text: string | undefined): Position | 'invalid' | undefined {
  if (text === undefined || text === '') return undefined;
  if (text.length > LONGEST) return 'invalid';
  try {
    const value: unknown = JSON.parse(text);
    return isPosition(value) ? value : 'invalid';
  } catch {
    return 'invalid';
  }
}

/** The last position of each device of the held slots, written or not. */
export class KnownPositions {
  readonly #entries = new Map<string, FencedEntry>();
  readonly #dirty = new Set<string>();

  get hasDirty(): boolean {
    return this.#dirty.size > 0;
  }

  /** Remembers a position, unless a later one is known. @param isWritten whether it is in the store */
  set(entry: FencedEntry, isWritten: boolean): void {
    const known = this.#entries.get(entry.chipid);
    if (known && known.sequence > entry.sequence) return;
    this.#entries.set(entry.chipid, entry);
    if (!isWritten) this.#dirty.add(entry.chipid);
  }

  get(chipid: string): FencedEntry | undefined {
    return this.#entries.get(chipid);
  }

  ofSlot(slot: number): FencedEntry[] {
    return [...this.#entries.values()].filter((entry) => entry.slot === slot);
  }

  /** Removes and returns positions to be written. @param may whether one may be written now, called for each */
  drainDirty(may: (entry: FencedEntry) => boolean): FencedEntry[] {
    const drained: FencedEntry[] = [];
    for (const chipid of this.#dirty) {
      const entry = this.#entries.get(chipid);
      if (entry && !may(entry)) continue;
      this.#dirty.delete(chipid);
      if (entry) drained.push(entry);
    }
    return drained;
  }

  /** Marks positions that could not be written. There may be later ones by now, or none. */
  markDirty(entries: readonly FencedEntry[]): void {
    for (const { chipid } of entries) if (this.#entries.has(chipid)) this.#dirty.add(chipid);
  }

  forget(slot: number): void {
    for (const { chipid } of this.ofSlot(slot)) {
      this.#entries.delete(chipid);
      this.#dirty.delete(chipid);
    }
  }
}

/**
 * Combines the requests of one turn, since a process that takes over a share requests all its positions at once.
 * @returns reads the position of one device; it rejects with a StoreError
 */
export function combined(
  load: (chipids: readonly string[]) => Promise<(string | undefined)[]>,
): (chipid: string) => Promise<string | undefined> {
  interface Request {
    readonly chipid: string;
    readonly resolve: (position: string | undefined) => void;
    readonly reject: (error: unknown) => void;
  }
  const pending: Request[] = [];
  const loadAll = async (): Promise<void> => {
    const requests = pending.splice(0);
    for (let first = 0; first < requests.length; first += MOST) {
      const part = requests.slice(first, first + MOST);
      try {
        const positions = await load(part.map(({ chipid }) => chipid));
        for (const [index, { resolve }] of part.entries()) resolve(positions[index]);
      } catch (error) {
        for (const { reject } of part) reject(error);
      }
    }
  };
  return (chipid) =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) queueMicrotask(() => void loadAll());
      pending.push({ chipid, resolve, reject });
    });
}
