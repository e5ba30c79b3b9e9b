import { partitionOf } from '../../../src/cluster/slots';
import { applyBeat, isSettled, type MembersState } from './memory-beat';
import {
  queueTopic,
  type BeatReply,
  type BeatRequest,
  type FencedEntry,
  type Holding,
  type LockOutcome,
  type PositionEntry,
  type QueueEntry,
  type SaveOutcome,
  type Store,
  type StoreInfo,
} from '../../../src/cluster/store';

interface StoredPosition {
  epoch: number;
  sequence: number;
  position: string;
}

interface State extends MembersState {
  positions: Map<string, StoredPosition>;
  streams: Map<number, QueueEntry[]>;
  lastEntry: number;
}

const emptyState = (run: number): State => ({
  ...{ generation: undefined, run, settled: undefined, top: 0 },
  ...{ members: new Map(), slots: new Map(), left: new Set<string>() },
  ...{ positions: new Map(), streams: new Map(), lastEntry: 0 },
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
  private readonly topics = new Map<string, Set<(text: string) => void>>();
  private runs = 1;

  /** @param now milliseconds, of the clock by which locks end */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Empties it, as a restart without persistence does. */
  wipe(): void {
    this.state = emptyState(++this.runs);
    this.locks.clear();
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
    const partition = partitionOf(chipid);
    const stream = this.state.streams.get(partition) ?? [];
    this.state.streams.set(partition, stream);
    stream.push({ id: String(++this.state.lastEntry), chipid, upload });
    void this.publish(queueTopic(partition), '');
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

  read(partition: number, after: string | undefined, count: number): Promise<QueueEntry[]> {
    const stream = this.state.streams.get(partition) ?? [];
    const entries = stream.filter(({ id }) => Number(id) > Number(after ?? 0));
    return Promise.resolve(entries.slice(0, count));
  }

  async acknowledge(partition: number, id: string): Promise<boolean> {
    const had = await this.has(partition, id);
    const stream = this.state.streams.get(partition) ?? [];
    this.state.streams.set(
      partition,
      stream.filter((entry) => entry.id !== id),
    );
    return had;
  }

  has(partition: number, id: string): Promise<boolean> {
    const stream = this.state.streams.get(partition) ?? [];
    return Promise.resolve(stream.some((entry) => entry.id === id));
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
