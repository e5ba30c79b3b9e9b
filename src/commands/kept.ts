import { randomBytes } from 'node:crypto';
import { DeviceCloudError } from '../errors';
import type { FoundCall, KeptCall, Mark, WaitingStore } from '../state/waiting-store';

/** Bytes that the waiting commands of an application may take in the store. */
const MAX_BYTES = 64 * 2 ** 20;

/** A call to one device or to several whose commands may wait. */
export interface NewCall {
  readonly chipids: readonly string[];
  /** Id of the node. */
  readonly node: string;
  /** What the caller needs to make it again, which JSON can hold. Called if a command has to wait. */
  readonly what: () => unknown;
}

/** When the commands of a call began to wait. */
export type Wait = Pick<KeptCall, 'path' | 'when' | 'since' | 'until'>;

interface KeptCallsOptions {
  /** @returns undefined if nothing can be kept */
  store: () => Promise<WaitingStore | undefined>;
  /** Is called with a sentence for the log if something could not be written. */
  failed: (error: unknown) => void;
}

/** The calls of an application whose commands wait, over clients, deploys and restarts. */
export class KeptCalls {
  readonly #options: KeptCallsOptions;
  readonly #prefix = randomBytes(6).toString('base64url');
  /** Those that are in the store, or on their way. */
  readonly saved = new Set<KeptCommands>();
  #count = 0;
  #order = 0;

  constructor(options: KeptCallsOptions) {
    this.#options = options;
  }

  /** Takes the calls of processes that are gone, in their order. @throws what the store fails with */
  async take(): Promise<KeptCommands[]> {
    const store = await this.#options.store();
    const found = (await store?.take()) ?? [];
    return found.map((each) => {
      this.#order = Math.max(this.#order, each.call.order);
      const { chipids, node, what } = each.call;
      const call = { chipids, node, what: () => what };
      return new KeptCommands(this, each.id, each.call.order, call, each);
    });
  }

  /** A call has arrived. It is kept once one of its commands waits. */
  add(call: NewCall): KeptCommands {
    const id = `${this.#prefix}${(++this.#count).toString(36)}`;
    return new KeptCommands(this, id, ++this.#order, call);
  }

  /** @returns undefined if nothing can be kept */
  async store(): Promise<WaitingStore | undefined> {
    return this.#options.store();
  }

  /** A mark could not be written: without it, the next process would send a command again. */
  async abandon(store: WaitingStore, error: unknown): Promise<void> {
    this.#options.failed(error);
    await store.abandon();
    for (const each of this.saved) each.isKept = false;
    this.saved.clear();
  }

  failed(error: unknown): void {
    this.#options.failed(error);
  }
}

/** The commands of one call. A command that was sent is marked before, so that no other process sends it. */
export class KeptCommands {
  /** By chip number; one without a mark waits. */
  readonly marks: Map<string, Mark>;
  /** When the commands began to wait; undefined before. */
  wait: Wait | undefined;
  /** Whether they survive the process. */
  isKept = false;
  /** Whether its caller has let go of it, and another one may take it. */
  isDetached = false;
  readonly #calls: KeptCalls;
  #saving: Promise<void> | undefined;
  readonly #marking = new Map<string, Promise<void>>();

  constructor(
    calls: KeptCalls,
    readonly id: string,
    readonly order: number,
    readonly call: NewCall,
    found?: FoundCall,
  ) {
    this.#calls = calls;
    this.marks = new Map(found?.marks);
    if (!found) return;
    this.wait = found.call;
    this.isKept = true;
    this.#saving = Promise.resolve();
    calls.saved.add(this);
  }

  /**
   * A command of the call has to wait: the call is written, unless it was before.
   * @returns a promise that resolves when that is done, or if nothing can be kept
   * @throws DeviceCloudError `QUEUE_FULL` if all calls together are too large
   */
  save(wait: Wait): Promise<void> {
    this.wait ??= wait;
    return (this.#saving ??= this.#save(this.wait));
  }

  /** @throws DeviceCloudError `UNREACHABLE` if it must not be sent */
  async begin(chipid: string): Promise<void> {
    try {
      await this.#mark(chipid, 'begun');
    } catch (error) {
      throw new DeviceCloudError(
        'UNREACHABLE',
        `Not sent: that it begins could not be written down (${error instanceof Error ? error.message : String(error)}).`,
      );
    }
  }

  /** A command was cancelled. Resolves when the next process knows it, too. */
  async cancel(chipid: string): Promise<void> {
    const marking =
      this.marks.get(chipid) === 'cancelled'
        ? this.#marking.get(chipid)
        : this.#mark(chipid, 'cancelled');
    await marking?.catch(() => undefined);
  }

  /** A command of several has ended. @param result what the caller has to know of it, which JSON can hold */
  end(chipid: string, result: unknown): void {
    this.#mark(chipid, { ended: result }).catch(() => undefined);
  }

  /** Whether a command has yet to be sent. */
  waits(chipid: string): boolean {
    return !this.marks.has(chipid);
  }

  /** Lets go of it, if a command of it waits: another caller may take it. @returns whether one does */
  detach(): boolean {
    this.isDetached = this.isKept && this.call.chipids.some((chipid) => this.waits(chipid));
    return this.isDetached;
  }

  /** The call has ended, and everything of it was passed on. */
  async close(): Promise<void> {
    this.#calls.saved.delete(this);
    if (!this.#saving) return;
    try {
      await this.#saving;
      if (!this.isKept) return;
      this.isKept = false;
      const store = await this.#calls.store();
      await store?.remove(this.id, [...this.marks.keys()]);
    } catch (error) {
      this.#calls.failed(error);
    }
  }

  async #save(wait: Wait): Promise<void> {
    const { order, marks } = this;
    const { chipids, node, what } = this.call;
    this.#calls.saved.add(this);
    this.isKept = true;
    try {
      const store = await this.#calls.store();
      if (store && store.bytes > MAX_BYTES) {
        throw new DeviceCloudError(
          'QUEUE_FULL',
          `Waiting commands take ${MAX_BYTES / 2 ** 20} MiB already. Nothing was sent. Send fewer, or let them expire sooner.`,
        );
      }
      this.isKept = store !== undefined;
      await store?.add(this.id, { ...wait, order, chipids, node, what: what() }, new Map(marks));
    } catch (error) {
      this.isKept = false;
      this.#calls.saved.delete(this);
      if (error instanceof DeviceCloudError) throw error;
      this.#calls.failed(error);
    }
  }

  /** @throws Error if the mark could not be written, and a process that reads what is there would act on it */
  #mark(chipid: string, mark: Mark): Promise<void> {
    this.marks.set(chipid, mark);
    if (!this.#saving) return Promise.resolve();
    const before = this.#marking.get(chipid);
    const marking = (async () => {
      await this.#saving;
      await before?.catch(() => undefined);
      const store = this.isKept ? await this.#calls.store() : undefined;
      if (!store) return;
      try {
        await store.mark(this.id, chipid, mark);
      } catch (error) {
        await this.#calls.abandon(store, error);
      }
    })();
    this.#marking.set(chipid, marking);
    return marking;
  }
}
