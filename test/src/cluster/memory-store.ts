import { uploadToText } from '../../../src/cluster/messages';
import { partitionOf } from '../../../src/cluster/slots';
import { MemoryCalls } from './memory-calls';
import { MemoryPins } from './memory-pins';
import { MemoryValues } from './memory-values';
import { applyBeat, isSettled, type MembersState } from './memory-beat';
import {
  queueTopic,
  type BeatReply,
  type BeatRequest,
  type Claim,
  type FencedEntry,
  type Holding,
  type LockOutcome,
  type PositionEntry,
  type SaveOutcome,
  type Store,
  type WaitingDevice,
} from '../../../src/cluster/store';
import type { QueueState, StoreInfo } from '../../../src/cluster/types';

interface StoredPosition {
  epoch: number;
  sequence: number;
  position: string;
}

/** An upload in the queue. */
export interface QueueEntry {
  readonly id: string;
  readonly chipid: string;
  readonly upload: string;
}

interface Attempts {
  id: string;
  count: number;
  claim: string;
}

interface State extends MembersState {
  positions: Map<string, StoredPosition>;
  /** The uploads of each device that has some. */
  queue: Map<string, QueueEntry[]>;
  attempts: Map<string, Attempts>;
  deadLetters: QueueEntry[];
  lastEntry: number;
}

const emptyState = (run: number): State => ({
  ...{ generation: undefined, run, settled: undefined, top: 0 },
  ...{ members: new Map(), slots: new Map(), left: new Set<string>() },
  ...{ positions: new Map(), queue: new Map(), attempts: new Map(), deadLetters: [], lastEntry: 0 },
});

/** A copy of the content of a {@link MemoryStore}. */
export interface StoreCopy {
  readonly state: unknown;
}

/**
 * A store for the members of one process, and the model of all others: the same contract tests run over it. It can
 * lose its content or be set back to an older one, as an engine without persistence or a late replica does.
 */
export class MemoryStore implements Store {
  private state: State = emptyState(1);
  private readonly locks = new Map<string, { token: string; end: number }>();
  readonly calls = new MemoryCalls(
    () => this.now(),
    () => this.state.members,
    () => isSettled(this.state),
  );
  readonly pins = new MemoryPins();
  readonly values = new MemoryValues();
  private readonly topics = new Map<string, Set<(text: string) => void>>();
  private runs = 1;

  /** @param now milliseconds, of the clock by which locks end */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Empties it, as a restart without persistence does. */
  wipe(): void {
    this.state = emptyState(++this.runs);
    this.locks.clear();
    this.calls.wipe();
    this.pins.wipe();
    this.values.wipe();
  }

  copy(): StoreCopy {
    return { state: structuredClone(this.state) };
  }

  /** Puts an older content in place of this one, as a failover to a late replica does; locks are lost. */
  setBack({ state }: StoreCopy): void {
    this.state = { ...(structuredClone(state) as State), run: ++this.runs };
    this.locks.clear();
  }

  beat(request: BeatRequest): Promise<BeatReply | undefined> {
    return Promise.resolve(applyBeat(this.state, request));
  }

  leave(member: string): Promise<void> {
    this.state.members.delete(member);
    this.state.left.add(member);
    return Promise.resolve();
  }

  restore(member: string, holding: Holding, entries: readonly PositionEntry[]): Promise<boolean> {
    const { slot, epoch } = holding;
    const known = this.state.slots.get(slot);
    const isMine = known?.owner === member && known.epoch === epoch;
    if (!isMine && (isSettled(this.state) || (known?.epoch ?? 0) >= epoch))
      return Promise.resolve(false);
    this.state.slots.set(slot, { owner: member, epoch });
    this.state.top = Math.max(this.state.top, epoch);
    for (const entry of entries) this.put({ ...entry, slot, epoch });
    return Promise.resolve(true);
  }

  save(member: string, entries: readonly FencedEntry[]): Promise<SaveOutcome[]> {
    return Promise.resolve(entries.map((entry) => this.saveOne(member, entry)));
  }

  private saveOne(member: string, entry: FencedEntry): SaveOutcome {
    const owned = this.state.slots.get(entry.slot);
    if (owned?.epoch !== entry.epoch || owned.owner !== member) {
      return (owned?.epoch ?? 0) < entry.epoch ? 'behind' : 'fenced';
    }
    if (this.put(entry) && entry.upload !== undefined) this.append(entry.chipid, entry.upload);
    return 'saved';
  }

  /** @returns whether it is later than what was there */
  private put({ chipid, epoch, sequence, position }: FencedEntry): boolean {
    const before = this.state.positions.get(chipid);
    if (before?.epoch === epoch && before.sequence >= sequence) return false;
    this.state.positions.set(chipid, { epoch, sequence, position });
    return true;
  }

  private append(chipid: string, upload: string): void {
    const entries = this.state.queue.get(chipid) ?? [];
    this.state.queue.set(chipid, entries);
    entries.push({ id: String(++this.state.lastEntry), chipid, upload });
    void this.publish(queueTopic(partitionOf(chipid)), chipid);
  }

  arrived(entries: readonly FencedEntry[]): Promise<boolean[]> {
    const { positions } = this.state;
    return Promise.resolve(
      entries.map(({ chipid, epoch, sequence }) => {
        const stored = positions.get(chipid);
        return stored?.epoch === epoch && stored.sequence >= sequence;
      }),
    );
  }

  load(chipids: readonly string[]): Promise<(string | undefined)[]> {
    return Promise.resolve(chipids.map((chipid) => this.state.positions.get(chipid)?.position));
  }

  owners(): Promise<ReadonlyMap<number, string>> {
    const { slots, members } = this.state;
    const held = [...slots].flatMap(([slot, { owner }]) =>
      owner !== undefined && members.has(owner) ? [[slot, owner] as const] : [],
    );
    return Promise.resolve(new Map(held));
  }

  lock(key: string, token: string, ms: number, again = false): Promise<LockOutcome> {
    if (!again && !isSettled(this.state)) return Promise.resolve('unsettled');
    const held = this.locks.get(key);
    if (held && held.end > this.now() && held.token !== token) return Promise.resolve('busy');
    this.locks.set(key, { token, end: this.now() + ms });
    return Promise.resolve('locked');
  }

  unlock(key: string, token: string): Promise<void> {
    if (this.locks.get(key)?.token === token) this.locks.delete(key);
    return Promise.resolve();
  }

  waiting(partitions: readonly number[]): Promise<WaitingDevice[]> {
    const { queue, attempts } = this.state;
    const chipids = [...queue.keys()].filter((chipid) => partitions.includes(partitionOf(chipid)));
    return Promise.resolve(
      chipids.map((chipid) => ({ chipid, attempts: attempts.get(chipid)?.count ?? 0 })),
    );
  }

  claim(chipid: string, claim: string, most: number, isBuried = false): Promise<Claim> {
    const { queue, attempts, deadLetters } = this.state;
    const [entry] = queue.get(chipid) ?? [];
    if (!entry) return Promise.resolve({ upload: undefined, isBuried });
    const { id, upload } = entry;
    const before = attempts.get(chipid);
    const known = before?.id === id ? before.count : 0;
    const count = before?.id === id && before.claim === claim ? known : known + 1;
    if (count > most) {
      deadLetters.push(entry);
      this.remove(chipid, id);
      return this.claim(chipid, claim, most, true);
    }
    attempts.set(chipid, { id, count, claim });
    return Promise.resolve({ upload: { id, attempts: count, text: upload }, isBuried });
  }

  acknowledge(chipid: string, id: string): Promise<number | undefined> {
    const isThere = this.state.queue.get(chipid)?.some((entry) => entry.id === id);
    return Promise.resolve(isThere ? this.remove(chipid, id) : undefined);
  }

  /** @returns how many the device has left */
  private remove(chipid: string, id: string): number {
    const { queue, attempts } = this.state;
    const left = (queue.get(chipid) ?? []).filter((entry) => entry.id !== id);
    if (left.length === 0) queue.delete(chipid);
    else queue.set(chipid, left);
    if (attempts.get(chipid)?.id === id) attempts.delete(chipid);
    return left.length;
  }

  /** All uploads of the queue. */
  get uploads(): QueueEntry[] {
    return [...this.state.queue.values()].flat();
  }

  queueState(): Promise<QueueState> {
    const { deadLetters } = this.state;
    return Promise.resolve({ length: this.uploads.length, deadLetters: deadLetters.length });
  }

  publish(topic: string, text: string): Promise<void> {
    for (const listener of [...(this.topics.get(topic) ?? [])]) listener(text);
    return Promise.resolve();
  }

  subscribe(topic: string, listener: (text: string) => void): () => void {
    const listeners = this.topics.get(topic) ?? new Set();
    this.topics.set(topic, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.topics.delete(topic);
    };
  }

  info(): Promise<StoreInfo> {
    return Promise.resolve({
      ...{ product: 'memory', version: '', time: this.now() },
      members: [...this.state.members.keys()],
      ...{ persistence: 'none', eviction: 'noeviction', replicas: 0, forbidden: [] },
    });
  }

  forbidden(): Promise<string[]> {
    return Promise.resolve([]);
  }

  close(): Promise<void> {
    this.topics.clear();
    return Promise.resolve();
  }
}

/** An upload of the queue with a text. */
export const entryOf = (text: string): string =>
  uploadToText({ chipid: '1', appid: '9', timestamp: 1, body: Buffer.from(text) });
