import { randomBytes } from 'node:crypto';
import { DeviceCloudError, isDeviceCloudError, withoutCode } from '../errors';
import type { FoundCall, KeptCall, Mark, WaitingStore } from '../state/waiting-store';
import { deviceTitle } from '../util/show';
import { FEWER, notSent } from './outcome';

/** Bytes that the waiting commands of an application may take in the store. */
const MAX_BYTES = 64 * 2 ** 20;

/** Milliseconds from a failed attempt to write what the store has given up to the next. */
const RETRY = 2000;

/** A call to one device or to several whose commands may wait. */
export interface NewCall {
  readonly chipids: readonly string[];
  readonly node: string;
  /** What the caller needs to make it again, which JSON can hold. Called if a command has to wait. */
  readonly what: () => unknown;
}

/** When the commands of a call began to wait. */
export type Wait = Pick<KeptCall, 'path' | 'when' | 'since' | 'until'>;

/** The error of one command of a call that could not be kept. */
const ofDevice = (error: unknown, chipid: string): unknown =>
  isDeviceCloudError(error)
    ? new DeviceCloudError(
        error.code,
        `${withoutCode(error)} The command to ${deviceTitle(chipid)} never began.`,
      )
    : error;

interface KeptCallsOptions {
  /** @returns undefined if nothing can be kept */
  store: () => Promise<WaitingStore | undefined>;
  /** Is called with a sentence for the log if something could not be written. */
  failed: (error: unknown) => void;
  /** Milliseconds; default {@link RETRY}. */
  retry?: number;
}

/** The calls of an application whose commands wait, over clients, deploys and restarts. */
export class KeptCalls {
  readonly options: KeptCallsOptions;
  readonly #prefix = randomBytes(6).toString('base64url');
  /** Those that are in the store, or on their way. */
  readonly saved = new Set<KeptCommands>();
  /** Those that the store has given up, and that have not ended. */
  readonly #lost = new Set<KeptCommands>();
  #retry: NodeJS.Timeout | undefined;
  #count = 0;
  #order = 0;

  constructor(options: KeptCallsOptions) {
    this.options = options;
  }

  /** Takes the calls that an earlier process has left, in their order. @throws what the store fails with */
  async take(): Promise<KeptCommands[]> {
    const store = await this.options.store();
    const own = new Set([...this.saved].map(({ id }) => id));
    const found = store?.calls().filter(({ id }) => !own.has(id)) ?? [];
    return found.map((each) => {
      const { chipids, node, order, what } = each.call;
      // Later calls come after it.
      this.#order = Math.max(this.#order, order);
      return new KeptCommands(
        this,
        each.id,
        order,
        { chipids, node, what: () => what },
        { ...each, store },
      );
    });
  }

  /** A call has arrived. It is kept once one of its commands waits. */
  add(call: NewCall): KeptCommands {
    const id = `${this.#prefix}${(++this.#count).toString(36)}`;
    return new KeptCommands(this, id, ++this.#order, call);
  }

  /**
   * A mark could not be written: without it, the next process would send a command again. The store forgets all calls, and has them
   * again once it can be written.
   */
  async abandon(store: WaitingStore): Promise<void> {
    await store.abandon();
    for (const each of this.saved) {
      each.isKept = false;
      each.onChange?.();
      this.lost(each);
    }
    this.saved.clear();
  }

  /** A call is not in the store: it is written once that is possible, unless it has ended by then. */
  lost(kept: KeptCommands): void {
    this.#lost.add(kept);
    this.#retry ??= setTimeout(() => void this.#putBack(), this.options.retry ?? RETRY).unref();
  }

  forget(kept: KeptCommands): void {
    this.saved.delete(kept);
    this.#lost.delete(kept);
  }

  close(): void {
    clearTimeout(this.#retry);
    this.#lost.clear();
  }

  async #putBack(): Promise<void> {
    for (const each of this.#lost) {
      if (!(await each.putBack())) break;
      this.#lost.delete(each);
    }
    this.#retry = undefined;
    const [next] = this.#lost;
    if (next) this.lost(next);
  }
}

/** The commands of one call. A command that was sent is marked before, so that the next process does not send it. */
export class KeptCommands {
  /** By chip number; one without a mark waits. */
  readonly marks: Map<string, Mark>;
  /** When the commands began to wait; undefined before. */
  wait: Wait | undefined;
  /** Whether they survive the process. */
  isKept = false;
  /** Is called when it is kept no more, or again, while its commands wait. */
  onChange: (() => void) | undefined;
  /** Whether its caller has let go of it, and another one may take it. */
  isDetached = false;
  readonly #calls: KeptCalls;
  /** The one that it was written to. */
  #store: WaitingStore | undefined;
  #saving: Promise<void> | undefined;
  readonly #marking = new Map<string, Promise<void>>();

  constructor(
    calls: KeptCalls,
    readonly id: string,
    /** Calls with lower numbers come first. */
    readonly order: number,
    readonly call: NewCall,
    found?: FoundCall & { store: WaitingStore | undefined },
  ) {
    this.#calls = calls;
    this.marks = new Map(found?.marks);
    if (!found) return;
    this.wait = found.call;
    this.isKept = true;
    this.#store = found.store;
    this.#saving = Promise.resolve();
    calls.saved.add(this);
  }

  /**
   * A command of the call has to wait: the call is written, unless it was before.
   * @returns a promise that resolves when that is done, or if nothing can be kept
   * @throws DeviceCloudError `QUEUE_FULL` if all calls together are too large
   */
  async save(wait: Wait, chipid: string): Promise<void> {
    this.wait ??= wait;
    try {
      await (this.#saving ??= this.#save(this.wait));
    } catch (error) {
      throw ofDevice(error, chipid);
    }
  }

  /** Writes it again, since its store could not be written for a while. @returns whether it can be now */
  async putBack(): Promise<boolean> {
    if (!this.wait) return true;
    try {
      await (this.#saving = this.#save(this.wait));
    } catch {
      // Others have taken its room.
    }
    if (this.isKept) this.onChange?.();
    return this.isKept;
  }

  /** @throws DeviceCloudError `UNREACHABLE` if it must not be sent */
  async begin(chipid: string): Promise<void> {
    try {
      await this.#mark(chipid, 'begun');
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw notSent(deviceTitle(chipid), `that it begins could not be written down (${why})`);
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

  /** A command has failed before it began. Resolves when the next process knows that it must not send it. Never rejects. */
  async notSent(chipid: string, error: unknown): Promise<void> {
    if (this.isDetached) return;
    if (isDeviceCloudError(error, 'CANCELLED')) await this.cancel(chipid);
    // Its node may have been removed, and its caller does not wait any more.
    else if (this.marks.get(chipid) !== 'cancelled')
      await this.#send(chipid, 'cancelled').catch(() => undefined);
  }

  /** A command of several has ended. @param result what the caller has to know of it, which JSON can hold */
  end(chipid: string, result: unknown): void {
    this.#mark(chipid, { ended: result }).catch(() => undefined);
  }

  waits(chipid: string): boolean {
    return !this.marks.has(chipid);
  }

  /** Lets go of it, if a command of it waits: another caller may take it. */
  detach(): void {
    this.isDetached = this.isKept && this.call.chipids.some((chipid) => this.waits(chipid));
  }

  /** The call has ended, and everything of it was passed on. */
  async close(): Promise<void> {
    try {
      await this.#saving;
      if (!this.isKept) return;
      this.isKept = false;
      const marked = new Set([...this.marks.keys(), ...this.#marking.keys()]);
      await this.#store?.remove(this.id, [...marked]);
    } catch (error) {
      this.#calls.options.failed(error);
    } finally {
      this.#calls.forget(this);
    }
  }

  async #save(wait: Wait): Promise<void> {
    this.#calls.saved.add(this);
    this.isKept = true;
    try {
      const store = await this.#calls.options.store();
      if (store && store.bytes > MAX_BYTES) {
        throw new DeviceCloudError(
          'QUEUE_FULL',
          `Waiting commands take ${MAX_BYTES / 2 ** 20} MiB already. ${FEWER}`,
        );
      }
      this.isKept = store !== undefined;
      this.#store = store;
      const { chipids, node, what } = this.call;
      const { path, when, since, until } = wait;
      const kept = { path, when, since, until, order: this.order, chipids, node, what: what() };
      await store?.add(this.id, kept, new Map(this.marks));
    } catch (error) {
      this.isKept = false;
      this.#calls.saved.delete(this);
      if (error instanceof DeviceCloudError) throw error;
      this.#calls.options.failed(error);
      this.#calls.lost(this);
    }
  }

  /** @throws Error if the mark could not be written, and a process that reads what is there would act on it */
  #mark(chipid: string, mark: Mark): Promise<void> {
    this.marks.set(chipid, mark);
    return this.#send(chipid, mark);
  }

  /** Writes a mark, after the call and the mark before it. */
  #send(chipid: string, mark: Mark): Promise<void> {
    const before = this.#marking.get(chipid)?.catch(() => undefined);
    const write = async (): Promise<void> => {
      await this.#saving;
      await before;
      const store = this.isKept ? this.#store : undefined;
      try {
        await store?.mark(this.id, chipid, mark);
      } catch (error) {
        if (store) await this.#calls.abandon(store);
        this.#calls.options.failed(error);
      }
    };
    if (!this.#saving) return Promise.resolve();
    const marking = write();
    this.#marking.set(chipid, marking);
    return marking;
  }
}
