import { isObject } from '../util/object';
import type { Journal } from './journal';

/** How far a command of a kept call has come; one without a mark waits. */
export type Mark = 'begun' | 'cancelled' | { readonly ended: unknown };

/** A call to one device or to several whose commands wait, as it is kept. */
export interface KeptCall {
  /** Earlier calls have lower numbers. */
  readonly order: number;
  /** What its request is, for people. */
  readonly path: string;
  readonly when: 'online' | 'upload';
  /** Since and until when it waits, in ms by the wall clock. */
  readonly since: number;
  readonly until: number;
  readonly chipids: readonly string[];
  readonly node: string;
  /** What the caller needs to make it again. */
  readonly what: unknown;
}

/** A call that an earlier process has left. */
export interface FoundCall {
  readonly id: string;
  readonly call: KeptCall;
  readonly marks: ReadonlyMap<string, Mark>;
}

/**
 * Keeps calls whose commands wait in a journal: an entry for each call, and one for each mark. What is written is safe once
 * its promise resolves.
 */
export class WaitingStore {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Bytes that the calls take. */
  get bytes(): number {
    return this.#journal.bytes;
  }

  /** The calls that an earlier process has left, in their order. */
  calls(): FoundCall[] {
    return readCalls(this.#journal.entries());
  }

  async add(id: string, call: KeptCall, marks: ReadonlyMap<string, Mark>): Promise<void> {
    const written = [...marks].map(([chipid, mark]) => this.mark(id, chipid, mark));
    await Promise.all([...written, this.#journal.set(id, call)]);
  }

  /** @throws Error if it could not be written, or the journal is another process's by now */
  mark(id: string, chipid: string, mark: Mark): Promise<void> {
    return this.#journal.set(`${id}/${chipid}`, mark);
  }

  /** @param marked those of its devices that have a mark */
  async remove(id: string, marked: readonly string[]): Promise<void> {
    // The call first: marks without one say nothing.
    const keys = [id, ...marked.map((chipid) => `${id}/${chipid}`)];
    await Promise.all(keys.map((key) => this.#journal.delete(key)));
  }

  /** Forgets all calls, if one of their marks could not be written. @throws Error if that fails, too */
  abandon(): Promise<void> {
    return this.#journal.abandon();
  }
}

/** Reads entries: a call by its id, a mark by the id, a slash and the chip number. What is malformed is left out. */
function readCalls(entries: Iterable<readonly [key: string, value: unknown]>): FoundCall[] {
  const found = new Map<string, FoundCall & { marks: Map<string, Mark> }>();
  const marks: [id: string, chipid: string, mark: unknown][] = [];
  for (const [key, value] of entries) {
    const [id = '', chipid] = key.split('/');
    if (chipid !== undefined) marks.push([id, chipid, value]);
    else if (isKeptCall(value)) found.set(id, { id, call: value, marks: new Map() });
  }
  for (const [id, chipid, mark] of marks) if (isMark(mark)) found.get(id)?.marks.set(chipid, mark);
  return [...found.values()].sort((a, b) => a.call.order - b.call.order);
}

const isMark = (value: unknown): value is Mark =>
  value === 'begun' || value === 'cancelled' || (isObject(value) && 'ended' in value);

const isKeptCall = (value: unknown): value is KeptCall =>
  isObject(value) &&
  [value['order'], value['since'], value['until']].every(Number.isFinite) &&
  [value['path'], value['node']].every((each) => typeof each === 'string') &&
  (value['when'] === 'online' || value['when'] === 'upload') &&
  Array.isArray(value['chipids']) &&
  value['chipids'].every((each) => typeof each === 'string');
