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

/** A kept call of a process that is gone. */
export interface FoundCall {
  readonly id: string;
  readonly call: KeptCall;
  readonly marks: ReadonlyMap<string, Mark>;
}

/**
 * `cancelled`: another process has cancelled it, so that it must not begin. `late`: it was to be cancelled, and has gone further.
 * `moved`: the call is another process's by now.
 */
export type MarkOutcome = 'written' | 'cancelled' | 'late' | 'moved';

/** What has become of a call that was added. */
export interface Added {
  /** Its order among the calls of all processes. */
  readonly order: number;
  /** Its devices for which too many commands wait. */
  readonly full: readonly string[];
}

/** The port: where calls are kept whose commands wait. Everything that is written is safe once its promise resolves. */
export interface WaitingStore {
  /**
   * Takes the calls of processes that are gone: they are this process's from now on.
   * @param mayTake whether this process has what the calls of a node need; without it, they are left to another one
   * @param known returns the calls that this process goes on with already, which need not be read again
   */
  take(mayTake: (node: string) => boolean, known: () => ReadonlySet<string>): Promise<FoundCall[]>;
  /** Bytes that the calls of this process take. */
  readonly bytes: number;
  /** @param age milliseconds, of a call that is put back into a store that has lost it */
  add(id: string, call: KeptCall, marks: ReadonlyMap<string, Mark>, age?: number): Promise<Added>;
  /** @throws Error if it could not be written, or the journal is another process's by now */
  mark(id: string, chipid: string, mark: Mark): Promise<MarkOutcome>;
  /** @param marked those of its devices that have a mark */
  remove(id: string, chipids: readonly string[], marked: readonly string[]): Promise<void>;
  /** Forgets all calls of this process, if one of their marks could not be written. @throws Error if that fails, too */
  abandon(): Promise<void>;
  /** Where several processes share the calls: calls the listener when one may have died. */
  onGone?(listener: () => void): void;
}

/** Keeps calls in a journal: an entry for each call, and one for each mark. */
export class JournalStore implements WaitingStore {
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  get bytes(): number {
    return this.#journal.bytes;
  }

  take(): Promise<FoundCall[]> {
    return Promise.resolve(readCalls(this.#journal.entries()));
  }

  async add(id: string, call: KeptCall, marks: ReadonlyMap<string, Mark>): Promise<Added> {
    const written = [...marks].map(([chipid, mark]) => this.mark(id, chipid, mark));
    await Promise.all([...written, this.#journal.set(id, call)]);
    return { order: call.order, full: [] };
  }

  async mark(id: string, chipid: string, mark: Mark): Promise<MarkOutcome> {
    await this.#journal.set(`${id}/${chipid}`, mark);
    return 'written';
  }

  async remove(id: string, _: readonly string[], marked: readonly string[]): Promise<void> {
    // The call first: marks without one say nothing.
    const keys = [id, ...marked.map((chipid) => `${id}/${chipid}`)];
    await Promise.all(keys.map((key) => this.#journal.delete(key)));
  }

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

export const isMark = (value: unknown): value is Mark =>
  value === 'begun' || value === 'cancelled' || (isObject(value) && 'ended' in value);

export const isKeptCall = (value: unknown): value is KeptCall =>
  isObject(value) &&
  [value['order'], value['since'], value['until']].every(Number.isFinite) &&
  [value['path'], value['node']].every((each) => typeof each === 'string') &&
  (value['when'] === 'online' || value['when'] === 'upload') &&
  Array.isArray(value['chipids']) &&
  value['chipids'].every((each) => typeof each === 'string');
