import type { Membership } from './membership';
import { slotOf } from './slots';
import {
  StoreError,
  type Clock,
  type FencedEntry,
  type PositionEntry,
  type SaveOutcome,
  type Store,
} from './store';

/** A process stops emitting if what was emitted is not written within this, in ms: it may be emitted twice. */
const PROMPT = 250;

/** Milliseconds for which writes fail before the reason is reported. */
const REPORT_AFTER = 2000;

/** Pause after a failed write, in ms. */
const RETRY = 100;

/** The most positions and bytes in one command, so that none takes long; an upload may have more bytes on its own. */
const MOST = { positions: 500, bytes: 256 * 1024 };

/** Bytes of uploads for the queue that wait to be written: from the first number on none is taken, until the second. */
const WAITING = { most: 32 * 1024 * 1024, least: 16 * 1024 * 1024 };

/** The longest that a caller waits for everything to be written, in ms. */
const FLUSH = 2000;

interface PositionWriterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly member: string;
  readonly membership: Pick<Membership, 'fenced' | 'beatSoon'> & {
    readonly slots: Pick<Membership['slots'], 'epochOf'>;
  };
  /** Called when a write was acknowledged. */
  readonly written: () => void;
  /** Called when writes have failed for a while, and nothing is emitted. */
  readonly failed: (error: unknown) => void;
}

/**
 * Writes positions, one command at a time: the next one includes what has changed meanwhile, so that a slow store gets
 * no more commands. Writes may be repeated: the sequence shows which one is outdated.
 */
export class PositionWriter {
  readonly #options: PositionWriterOptions;
  /** The last position of each device of the held slots, written or not. */
  readonly #known = new Map<string, FencedEntry>();
  /** The devices whose last position is unwritten. */
  readonly #dirty = new Set<string>();
  /** Devices whose positions are requested in this turn, since a process that takes over a share requests all at once. */
  #loading: { chipids: string[]; positions: Promise<(string | undefined)[]> } | undefined;
  /** Uploads for the queue that are not known to be written. Unlike positions, none of them may be skipped. */
  #appends: FencedEntry[] = [];
  /** Their bytes. */
  #waiting = 0;
  #isFull = false;
  #sequence = 0;
  #isWriting = false;
  /** Whether the last write may have arrived. */
  #isUnknown = false;
  /** Since when positions of what was emitted wait for their write to end, failed attempts included; monotonic. */
  #unacknowledged: number | undefined;
  /** When the first write began that has failed since the last successful write; monotonic. */
  #failing: number | undefined;
  #isClosed = false;
  #flushing: (() => void)[] = [];

  constructor(options: PositionWriterOptions) {
    this.#options = options;
  }

  /** Whether what was emitted is written in time, and there is room for more. */
  get isPrompt(): boolean {
    const since = Math.min(this.#unacknowledged ?? Infinity, this.#failing ?? Infinity);
    return !this.#isFull && this.#options.clock.monotonic() - since < PROMPT;
  }

  /** Saves how far a device's uploads have been emitted. No effect if its slot is not held. */
  save(chipid: string, position: string): void {
    const entry = this.#entryOf(chipid, position);
    if (!entry) return;
    this.#remember(entry, false);
    if (this.#isWriting) this.#unacknowledged ??= this.#options.clock.monotonic();
    else void this.#writeAll();
  }

  /** Appends an upload to the queue and writes its position, in one step. If another member holds the slot by then, that one does. */
  append(chipid: string, position: string, upload: string): void {
    const entry = this.#entryOf(chipid, position);
    if (!entry) return;
    const append = { ...entry, upload };
    this.#appends.push(append);
    this.#setWaiting(this.#waiting + sizeOf(append));
    if (!this.#isWriting) void this.#writeAll();
  }

  /**
   * Reads the position of a device. One that this process knows takes precedence, written or not. It is remembered, to be
   * restored if the store goes back in time.
   * @throws StoreError
   */
  async load(chipid: string): Promise<string | undefined> {
    const { chipids, positions } = this.#batchToLoad();
    const index = chipids.push(chipid) - 1;
    const position = (await positions)[index];
    const pending = this.#appends.findLast((entry) => entry.chipid === chipid);
    const known = this.#known.get(chipid);
    const noted = pending && (!known || pending.sequence > known.sequence) ? pending : known;
    if (noted) return noted.position;
    const entry = position === undefined ? undefined : this.#entryOf(chipid, position);
    if (entry) this.#remember(entry, true);
    return position;
  }

  #batchToLoad(): { chipids: string[]; positions: Promise<(string | undefined)[]> } {
    const open = this.#loading;
    if (open && open.chipids.length < MOST.positions) return open;
    const chipids: string[] = [];
    const positions = Promise.resolve().then(() => {
      if (this.#loading?.chipids === chipids) this.#loading = undefined;
      return this.#options.store.load(chipids);
    });
    return (this.#loading = { chipids, positions });
  }

  /** Everything that is known of a slot. */
  entriesOf(slot: number): PositionEntry[] {
    return [...this.#known.values()].filter((entry) => entry.slot === slot);
  }

  /** Forgets a slot that another member holds. */
  forget(slot: number): void {
    for (const { chipid } of this.entriesOf(slot)) {
      this.#known.delete(chipid);
      this.#dirty.delete(chipid);
    }
    this.#keep((entry) => entry.slot !== slot);
  }

  /** Resolves when everything is written, a write has failed, or after a while. */
  async flush(): Promise<void> {
    if (!this.#isWriting) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(FLUSH, resolve);
      this.#flushing.push(() => {
        cancel();
        resolve();
      });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#flushed();
  }

  get #hasWork(): boolean {
    return this.#dirty.size > 0 || this.#appends.length > 0;
  }

  /** Remembers a position, unless a later one is known. */
  #remember(entry: FencedEntry, isWritten: boolean): void {
    const known = this.#known.get(entry.chipid);
    if (known && known.sequence > entry.sequence) return;
    this.#known.set(entry.chipid, entry);
    if (!isWritten) this.#dirty.add(entry.chipid);
  }

  #entryOf(chipid: string, position: string): FencedEntry | undefined {
    const slot = slotOf(chipid);
    const epoch = this.#options.membership.slots.epochOf(slot);
    if (epoch === undefined || this.#isClosed) return undefined;
    return { chipid, position, slot, epoch, sequence: ++this.#sequence };
  }

  #keep(isKept: (append: FencedEntry) => boolean): void {
    this.#appends = this.#appends.filter(isKept);
    this.#setWaiting(this.#appends.reduce((sum, entry) => sum + sizeOf(entry), 0));
  }

  #setWaiting(bytes: number): void {
    this.#waiting = bytes;
    this.#isFull = this.#waiting >= (this.#isFull ? WAITING.least : WAITING.most);
  }

  /** Writes until everything is written. Never rejects. */
  async #writeAll(): Promise<void> {
    const { clock } = this.#options;
    this.#isWriting = true;
    // So that the write includes whatever is saved in the same turn.
    await Promise.resolve();
    while (this.#hasWork && !this.#isClosed) {
      if (await this.#write()) continue;
      this.#flushed();
      await new Promise<void>((resolve) => void clock.after(RETRY, resolve));
    }
    this.#isWriting = false;
    // The slots of what could not be written may be lost by now.
    this.#unacknowledged = this.#failing = undefined;
    this.#flushed();
  }

  /** @returns false if the rest can only be written later */
  async #write(): Promise<boolean> {
    const { clock, membership, written, failed } = this.#options;
    const batch = this.#nextBatch();
    const saves = batch.filter(({ upload }) => upload === undefined);
    const began = clock.monotonic();
    if (saves.length > 0) this.#unacknowledged ??= began;
    try {
      const outcomes = await this.#outcomesOf(batch);
      this.#isUnknown = false;
      if (!outcomes.includes(undefined)) {
        this.#failing = undefined;
        if (saves.length > 0) this.#unacknowledged = undefined;
      }
      const isBehind = this.#settle(batch, outcomes);
      written();
      if (isBehind) membership.beatSoon();
      return !isBehind;
    } catch (error) {
      this.#failing ??= began;
      if (clock.monotonic() - this.#failing >= REPORT_AFTER) failed(error);
      this.#isUnknown ||= error instanceof StoreError && error.uncertain;
      for (const entry of saves) this.#markDirty(entry);
      return !this.#hasWork;
    }
  }

  /** Positions first: they are of what was emitted. The position of a device whose uploads wait comes after these. */
  #nextBatch(): FencedEntry[] {
    let [count, bytes] = [0, 0];
    const fits = (entry: FencedEntry): boolean => {
      const size = this.#isUnknown ? 0 : sizeOf(entry);
      if (count > 0 && (count >= MOST.positions || bytes + size > MOST.bytes)) return false;
      count++;
      bytes += size;
      return true;
    };
    const appending = new Set(this.#appends.map(({ chipid }) => chipid));
    const batch: FencedEntry[] = [];
    for (const chipid of this.#dirty) {
      const entry = this.#known.get(chipid);
      if (!entry || appending.has(chipid) || !fits(entry)) continue;
      this.#dirty.delete(chipid);
      batch.push(entry);
    }
    const end = this.#appends.findIndex((entry) => !fits(entry));
    return [...batch, ...this.#appends.slice(0, end < 0 ? undefined : end)];
  }

  /** Writes a batch; or, if that may have happened, reads what has arrived of it. The rest is written after that. */
  async #outcomesOf(batch: readonly FencedEntry[]): Promise<(SaveOutcome | undefined)[]> {
    const { store, member } = this.#options;
    if (!this.#isUnknown) return store.save(member, batch);
    const arrived = await store.arrived(batch);
    return arrived.map((hasArrived) => (hasArrived ? 'saved' : undefined));
  }

  /** @param outcomes undefined: not written. @returns whether the store has gone back in time */
  #settle(batch: readonly FencedEntry[], outcomes: readonly (SaveOutcome | undefined)[]): boolean {
    const { membership } = this.#options;
    const done = new Set<FencedEntry>();
    let isBehind = false;
    for (const [index, entry] of batch.entries()) {
      const { upload, ...position } = entry;
      const outcome = outcomes[index];
      const isHeld = membership.slots.epochOf(entry.slot) === entry.epoch;
      if (isHeld && (outcome === undefined || outcome === 'behind')) {
        // It is repeated, unless there is a later position by now.
        if (upload === undefined) this.#markDirty(entry);
        isBehind ||= outcome === 'behind';
        continue;
      }
      done.add(entry);
      // Not earlier: restored in another store, the position would count the upload as appended.
      if (upload !== undefined && outcome === 'saved' && isHeld) this.#remember(position, true);
      if (outcome === 'fenced' && isHeld) membership.fenced(entry.slot);
    }
    this.#keep((append) => !done.has(append));
    return isBehind;
  }

  /** A position could not be written. There may be a later one by now, or none. */
  #markDirty({ chipid }: FencedEntry): void {
    if (this.#known.has(chipid)) this.#dirty.add(chipid);
  }

  #flushed(): void {
    for (const flushed of this.#flushing.splice(0)) flushed();
  }
}

const sizeOf = ({ position, upload = '' }: FencedEntry): number => position.length + upload.length;
