import type { Clock } from './clock';
import { KnownPositions } from './known-positions';
import { slotOf } from './slots';
import { StoreError, type FencedEntry, type PositionEntry, type Store } from './store';

/** A process stops emitting if a write takes longer than this, in ms, to limit what may be emitted twice. */
const PROMPT = 250;

/** Milliseconds for which writes fail before the reason is reported. */
const REPORT_AFTER = 2000;

/** Pause after a failed write, in ms. */
const RETRY = 100;

/** The most positions in one write, so that no command takes long. */
const MOST = 500;

export interface PositionWriterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly member: string;
  /** The epoch under which a slot is held. */
  readonly epochOf: (slot: number) => number | undefined;
  /** Called when a write has shown that another member holds a slot. */
  readonly fenced: (slot: number) => void;
  /** Called when a write has shown that the store went back in time. */
  readonly behind: () => void;
  /** Called when a write was acknowledged. */
  readonly written: () => void;
  /** Called when writes have failed for a while, and nothing is emitted. */
  readonly failed?: (error: unknown) => void;
}

interface Pending {
  entry: FencedEntry;
  settle: ((error?: StoreError) => void) | undefined;
}

/**
 * Writes positions, one command at a time: the next one includes everything that has changed meanwhile, so that a slow
 * store gets no more commands. Writes may be repeated: the sequence shows which one is outdated.
 */
export class PositionWriter {
  private readonly known = new KnownPositions();
  /** Uploads for the queue. Unlike positions, none of them may be skipped. */
  private appends: Pending[] = [];
  private sequence = 0;
  private isWriting = false;
  /** When the unacknowledged write began, failed attempts included; monotonic. */
  private unacknowledged: number | undefined;
  private isClosed = false;
  private flushing: (() => void)[] = [];

  constructor(private readonly options: PositionWriterOptions) {}

  /** Whether what was emitted is being written in time. */
  get isPrompt(): boolean {
    const { unacknowledged } = this;
    return unacknowledged === undefined || this.options.clock.monotonic() - unacknowledged < PROMPT;
  }

  /** Saves how far a device's uploads have been emitted. No effect if its slot is not held. */
  save(chipid: string, position: string): void {
    const entry = this.entryOf(chipid, position);
    if (!entry) return;
    this.known.set(entry, false);
    this.start();
  }

  /**
   * Appends an upload to the queue and writes its position, in one step.
   * @throws StoreError if another member holds the slot
   */
  append(chipid: string, position: string, upload: string): Promise<void> {
    const entry = this.entryOf(chipid, position);
    if (!entry) return Promise.reject(new StoreError(`Device ${chipid} is another's.`, false));
    return new Promise((resolve, reject) => {
      const settle = (error?: StoreError): void => (error ? reject(error) : resolve());
      this.appends.push({ entry: { ...entry, upload }, settle });
      this.start();
    });
  }

  /**
   * Reads the positions of devices. Those that this process knows take precedence, written or not. All are
   * remembered, to be restored if the store goes back in time.
   */
  async load(chipids: readonly string[]): Promise<(string | undefined)[]> {
    await this.flush();
    const positions = await this.options.store.load(chipids);
    return chipids.map((chipid, index) => {
      const noted = this.notedOf(chipid);
      if (noted !== undefined) return noted;
      const position = positions[index];
      const entry = position === undefined ? undefined : this.entryOf(chipid, position);
      if (entry) this.known.set(entry, true);
      return position;
    });
  }

  private notedOf(chipid: string): string | undefined {
    const pending = this.appends.findLast(({ entry }) => entry.chipid === chipid)?.entry;
    const known = this.known.get(chipid);
    return (pending && (!known || pending.sequence > known.sequence) ? pending : known)?.position;
  }

  /** Everything that is known of a slot. */
  entriesOf(slot: number): PositionEntry[] {
    return this.known.ofSlot(slot);
  }

  /** Forgets a slot that another member holds. */
  forget(slot: number): void {
    this.known.forget(slot);
    const fenced = this.appends.filter(({ entry }) => entry.slot === slot);
    this.appends = this.appends.filter(({ entry }) => entry.slot !== slot);
    for (const { entry, settle } of fenced) settle?.(fencedError(entry));
  }

  /** Resolves when everything is written, or a write has failed. */
  async flush(): Promise<void> {
    if (!this.hasWork) return;
    const flushed = new Promise<void>((resolve) => this.flushing.push(resolve));
    this.start();
    await flushed;
  }

  close(): void {
    this.isClosed = true;
    this.flushed();
    for (const { settle } of this.appends.splice(0))
      settle?.(new StoreError('The cluster was closed.', true));
  }

  private get hasWork(): boolean {
    return this.isWriting || this.known.hasDirty || this.appends.length > 0;
  }

  private entryOf(chipid: string, position: string): FencedEntry | undefined {
    const slot = slotOf(chipid);
    const epoch = this.options.epochOf(slot);
    if (epoch === undefined || this.isClosed) return undefined;
    return { chipid, position, slot, epoch, sequence: ++this.sequence };
  }

  private start(): void {
    if (this.isWriting || this.isClosed) return;
    this.isWriting = true;
    // Later, so that the write includes whatever is saved in the same turn.
    queueMicrotask(() => void this.write());
  }

  private async write(): Promise<void> {
    const { store, clock, member } = this.options;
    const appends = this.appends.splice(0, MOST);
    const saves = this.known.drainDirty(MOST - appends.length);
    if (appends.length + saves.length === 0) {
      this.unacknowledged = undefined;
      this.next(0);
      return;
    }
    const began = (this.unacknowledged ??= clock.monotonic());
    try {
      const entries = [...appends.map(({ entry }) => entry), ...saves];
      const outcomes = await store.save(member, entries);
      this.unacknowledged = undefined;
      this.options.written();
      const pending = [...appends, ...saves.map((entry) => ({ entry, settle: undefined }))];
      const behind = pending.filter((each, index) => !this.settle(each, outcomes[index]));
      this.requeue(
        behind.filter(({ settle }) => settle),
        behind.flatMap(({ entry, settle }) => (settle ? [] : entry)),
      );
      if (behind.length > 0) this.options.behind();
      this.next(behind.length > 0 ? RETRY : 0);
    } catch (error) {
      if (clock.monotonic() - began >= REPORT_AFTER) this.options.failed?.(error);
      this.requeue(appends, saves);
      this.next(RETRY);
    }
  }

  /** @returns whether the entry is finished */
  private settle(
    { entry, settle }: Pending,
    outcome: 'saved' | 'fenced' | 'behind' = 'behind',
  ): boolean {
    const { slot } = entry;
    // The slot may still be this member's: the store has gone back in time, and is restored with the next beat.
    if (outcome === 'behind' && this.options.epochOf(slot) === entry.epoch) return false;
    // Not earlier: restored in another store, the position would count the upload as appended.
    if (settle && outcome === 'saved' && this.options.epochOf(slot) === entry.epoch)
      this.known.set(entry, true);
    settle?.(outcome === 'saved' ? undefined : fencedError(entry));
    if (outcome === 'fenced' && this.options.epochOf(slot) === entry.epoch)
      this.options.fenced(slot);
    return true;
  }

  /** Repeats what was not written, unless there is a later position by now or the slot is lost. */
  private requeue(appends: readonly Pending[], saves: readonly FencedEntry[]): void {
    const isHeld = ({ slot, epoch }: FencedEntry): boolean => this.options.epochOf(slot) === epoch;
    for (const { entry, settle } of appends) if (!isHeld(entry)) settle?.(fencedError(entry));
    this.appends = [...appends.filter(({ entry }) => isHeld(entry)), ...this.appends];
    this.known.markDirty(saves);
  }

  /** Continues with what has changed, after a pause if the last write failed. */
  private next(pause: number): void {
    this.isWriting = false;
    // The slots of what could not be written may be lost by now.
    if (!this.hasWork) this.unacknowledged = undefined;
    if (pause > 0 || !this.hasWork) this.flushed();
    if (this.isClosed || !this.hasWork) return;
    if (pause === 0) {
      this.start();
      return;
    }
    this.isWriting = true;
    this.options.clock.after(pause, () => void this.write());
  }

  private flushed(): void {
    for (const flushed of this.flushing.splice(0)) flushed();
  }
}

const fencedError = ({ chipid }: FencedEntry): StoreError =>
  new StoreError(`Device ${chipid} is another process's by now.`, false);
