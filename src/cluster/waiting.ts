/*
 * Commands that wait, of all processes. The process that has taken a message carries its commands out, over the channel of any
 * process, and in the order of all of them: the store knows which come first. If it dies, another one takes its calls over.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_WAITING } from '../commands/waiting';
import type { FollowingCommands, OtherCommands, Turn, WaitingInfo } from '../commands/waiting-list';
import { DeviceCloudError } from '../errors';
import { commandOf } from '../fleet/recent';
import {
  isKeptCall,
  isMark,
  type Added,
  type FoundCall,
  type KeptCall,
  type Mark,
  type MarkOutcome,
  type WaitingStore,
} from '../state/waiting-store';
import { isObject } from '../util/object';
import type { Cluster } from './cluster';
import { isChipid, parsed, partsOf, textsOf, type Bus } from './messages';
import { LEFT, StoreError, type CallStore, type NewCall, type StoredCall } from './store';

/** Milliseconds until what could not be written is tried again, and until it is looked again whether a process has died. */
const RETRY = 1000;

/** Milliseconds for which a call is added again: not so long that it is forgotten that it has left. */
const AGAIN = LEFT / 2;

/** Calls that are read at a time. */
const READ = 50;

/** What others see of a call, by this process's clock. */
interface SeenCall extends StoredCall {
  readonly app: string;
  readonly call: KeptCall;
}

/** The calls of an application's configuration. */
const textOf = (app: string, { path, when, since, until, chipids, node }: KeptCall): string =>
  JSON.stringify({ app, path, when, lasts: until - since, chipids, node });

/** The clocks of machines differ: only how long a call has waited and may wait are the same on all. */
export function readCall(stored: StoredCall): SeenCall | undefined {
  const value = parsed(stored.text);
  if (!isObject(value) || typeof value['app'] !== 'string') return undefined;
  const { app, lasts, ...rest } = value;
  const since = Date.now() - stored.age;
  const call: unknown = { ...rest, order: stored.order, since, until: since + Number(lasts) };
  return isKeptCall(call) && call.chipids.every(isChipid) ? { ...stored, app, call } : undefined;
}

/** The waiting commands of a client that shares its devices, and those of the others. */
export class SharedCalls implements OtherCommands {
  readonly #cluster: Cluster;
  readonly #calls: CallStore;
  readonly #bus: Bus;
  readonly #stores = new Map<string, AppCalls>();
  #own: FollowingCommands | undefined;
  readonly #leave: () => void;

  constructor(cluster: Cluster, bus: Bus) {
    this.#cluster = cluster;
    this.#calls = cluster.store.calls;
    this.#bus = bus;
    bus.on('lost', ({ chipid }) => {
      if (isChipid(chipid)) this.#own?.lost(chipid);
    });
    bus.on('cancelled', ({ ids, why }) => {
      this.#own?.cancelled(new Set(textsOf(ids)), typeof why === 'string' ? why : 'Cancelled');
    });
    const gone = (): void => {
      for (const store of this.#stores.values()) store.gone();
    };
    this.#leave = cluster.listen({
      onMembers: gone,
      onState: (state) => {
        if (state !== 'member') return;
        void this.#checkMoved();
        gone();
      },
      onUnsettled: () => {
        for (const kept of this.#own?.calls() ?? []) void kept.restore();
      },
    });
  }

  join(own: FollowingCommands): void {
    this.#own = own;
  }

  /** Where the calls of an application's configuration are. */
  storeOf(app: string): WaitingStore {
    const known = this.#stores.get(app) ?? new AppCalls(this.#cluster, app);
    this.#stores.set(app, known);
    return known;
  }

  async list(): Promise<WaitingInfo[]> {
    const [stored, lines] = await Promise.all([this.#calls.list(), this.#calls.waiting()]);
    const all = new Map(stored.map((each) => [each.id, readCall(each)]));
    const now = Date.now();
    const found: WaitingInfo[] = [];
    for (const [chipid, ids] of lines)
      for (const id of ids) {
        const seen = all.get(id);
        if (!seen || seen.member === this.#cluster.member) continue;
        const { path, when, since, until, node } = seen.call;
        // No process has its node, or the one that has it is about to say so.
        if (until <= now) continue;
        found.push({
          ...{ id: `${id}/${chipid}`, chipid, ...commandOf(path), when, since, until },
          ...(node !== '' && { node }),
        });
      }
    return found;
  }

  async cancel(ids: readonly string[], why: string): Promise<number> {
    const { member } = this.#cluster;
    const cancelled: string[] = [];
    for (const each of ids) {
      const [id = '', chipid = ''] = each.split('/');
      const outcome = await this.#calls.mark(member, id, chipid, '"cancelled"');
      if (outcome === 'written') cancelled.push(each);
    }
    // A process that does not hear of it finds the mark before it would send the command.
    for (const part of partsOf(cancelled))
      this.#bus.post(undefined, 'cancelled', { ids: part, why });
    return cancelled.length;
  }

  async turn(chipid: string, isListed: boolean): Promise<Turn> {
    // Calls that are being taken over may come first.
    await Promise.allSettled([...this.#stores.values()].flatMap(({ taking }) => taking ?? []));
    return this.#calls.turn(this.#cluster.member, chipid, isListed);
  }

  lost(chipid: string): void {
    this.#bus.post(undefined, 'lost', { chipid });
  }

  close(): void {
    this.#leave();
    for (const store of this.#stores.values()) store.close();
  }

  /** This process was held up for so long that others may have taken its calls over. */
  async #checkMoved(): Promise<void> {
    const own = [...(this.#own?.calls() ?? [])].filter(({ isKept }) => isKept);
    if (own.length === 0) return;
    try {
      const others = (await this.#calls.list()).filter(
        ({ member }) => member !== this.#cluster.member,
      );
      const ids = new Set(others.map(({ id }) => id));
      const moved = own.flatMap(({ id }) => (ids.has(id) ? [id] : []));
      if (moved.length > 0) this.#own?.moved(new Set(moved));
    } catch {
      // Each of them finds out before it would be sent.
    }
  }
}

/** The calls of one configuration of the application, which only its nodes can go on with. */
class AppCalls implements WaitingStore {
  readonly #cluster: Cluster;
  readonly #calls: CallStore;
  readonly #app: string;
  /** The bytes of the calls of this process. */
  readonly #sizes = new Map<string, number>();
  #onGone: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  bytes = 0;
  /** The last {@link take} that began. */
  taking: Promise<unknown> | undefined;

  constructor(cluster: Cluster, app: string) {
    this.#cluster = cluster;
    this.#calls = cluster.store.calls;
    this.#app = app;
  }

  onGone(listener: () => void): void {
    this.#onGone = listener;
  }

  gone(): void {
    this.#onGone?.();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#onGone = undefined;
  }

  take(...args: Parameters<WaitingStore['take']>): Promise<FoundCall[]> {
    const before = this.taking?.catch(() => undefined);
    const taking = Promise.resolve(before).then(() => this.#take(...args));
    this.taking = taking;
    return taking;
  }

  async #take(
    mayTake: (node: string) => boolean,
    known: () => ReadonlySet<string>,
  ): Promise<FoundCall[]> {
    const { member, members } = this.#cluster;
    // One that ends while the list is read is still in it.
    const ids = known();
    const stored = (await this.#calls.list()).flatMap((each) => readCall(each) ?? []);
    const seen = stored.filter(({ app }) => app === this.#app);
    const isGone = (each: SeenCall): boolean =>
      each.member !== member && !members.includes(each.member);
    const gone = seen.filter((each) => isGone(each) && mayTake(each.call.node));
    const adopted = new Set<string>();
    for (const part of partsOf(gone)) {
      const taken = this.#calls.adopt(
        member,
        part.map(({ id }) => id),
      );
      for (const id of await taken) adopted.add(id);
    }
    // The store has not settled, or their process is not known to be gone yet.
    if (adopted.size < gone.length) this.#lookAgain();
    const own = seen
      .filter((each) => each.member === member || adopted.has(each.id))
      .filter(({ id }) => !ids.has(id))
      .sort((a, b) => a.order - b.order);
    const found: FoundCall[] = [];
    for (const wanted of partsOf(own, READ)) {
      const read = await this.#calls
        .read(wanted.map(({ id, call: { chipids } }) => ({ id, chipids })))
        .catch((error: unknown) => {
          // They are this process's by now.
          this.#lookAgain();
          throw error;
        });
      for (const [index, { id, call }] of wanted.entries()) {
        const { what, devices } = read[index] ?? {};
        if (what === undefined) continue;
        const marks = devices?.flatMap(([chipid, text]) => {
          const mark = parsed(text);
          return isMark(mark) ? [[chipid, mark] as const] : [];
        });
        this.#count(id, what.length);
        found.push({ id, call: { ...call, what: parsed(what) }, marks: new Map(marks) });
      }
    }
    return found;
  }

  async add(
    id: string,
    call: KeptCall,
    marks: ReadonlyMap<string, Mark>,
    age?: number,
  ): Promise<Added> {
    const what = JSON.stringify(call.what);
    const devices = call.chipids.map((chipid) => {
      const mark = marks.get(chipid);
      return [chipid, mark === undefined ? '' : JSON.stringify(mark)] as const;
    });
    const added: NewCall = {
      ...{ id, text: textOf(this.#app, call), what, isOnline: call.when === 'online', devices },
      ...(age !== undefined && { before: { order: call.order, age } }),
    };
    const began = performance.now();
    let mayBeThere = false;
    for (;;) {
      try {
        const answer = await this.#calls.add(this.#cluster.member, added, MAX_WAITING);
        this.#count(id, what.length);
        return answer;
      } catch (error) {
        mayBeThere ||= error instanceof StoreError && error.uncertain;
        if (age !== undefined) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        const why = `the command was to wait, and the cluster cannot be reached (${reason}).`;
        if (!mayBeThere) throw new DeviceCloudError('UNREACHABLE', `Not sent: ${why}`);
        // It may have arrived, and another process would send it if this one ends.
        if (this.#cluster.state === 'closed' || performance.now() - began > AGAIN) {
          void this.remove(id, call.chipids);
          throw new DeviceCloudError('CONNECTION_LOST', `Perhaps sent: ${why}`);
        }
      }
      await sleep(RETRY, undefined, { ref: false });
    }
  }

  async mark(id: string, chipid: string, mark: Mark): Promise<MarkOutcome> {
    const write = (): Promise<MarkOutcome> =>
      this.#calls.mark(this.#cluster.member, id, chipid, JSON.stringify(mark));
    return mark === 'begun' ? write() : ((await this.#surely(write)) ?? 'late');
  }

  async remove(id: string, chipids: readonly string[]): Promise<void> {
    this.#count(id, 0);
    await this.#surely(() => this.#calls.remove(this.#cluster.member, id, chipids));
  }

  abandon(): Promise<void> {
    return Promise.reject(new Error('the cluster cannot be reached'));
  }

  #count(id: string, bytes: number): void {
    this.bytes += bytes - (this.#sizes.get(id) ?? 0);
    if (bytes === 0) this.#sizes.delete(id);
    else this.#sizes.set(id, bytes);
  }

  #lookAgain(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onGone?.(), RETRY);
  }

  /** Writes until it is written, or the process leaves: what is missing would make the next process go on with it. */
  #surely<T>(write: () => Promise<T>): Promise<T | undefined> {
    const writing = (async () => {
      for (;;) {
        try {
          return await write();
        } catch {
          if (this.#cluster.state === 'closed') return undefined;
        }
        await sleep(RETRY, undefined, { ref: false });
      }
    })();
    this.#cluster.track(writing);
    return writing;
  }
}
