import { randomInt } from 'node:crypto';
import {
  type ChannelListener,
  type ChannelState,
  type ChannelSubscription,
  type ChannelView,
  IsolatedListener,
} from '../channel/listener';
import type { Keeping } from '../store/store';
import type { Upload } from '../types';
import { weigh } from './arrivals';
import type { AckOptions, AckSubscription, WaitingUpload } from './options';
import { isPosition, type Position } from './position';
import type { Listening } from './recovery';
import { isSameUpload, type Token, triesOf, writeToken } from './token';

/*
 * Uploads that wait for their acknowledgement, one of each device for each listener. The history is the log, and the position
 * the offset: it moves when the flow says so. Recovery knows nothing of it; it emits as ever, with the position before each.
 *
 *             first of what waits           not in time, fewer than all attempts
 *   (nothing) ───────────────────► emitted ─────────────────────────────────────► emitted again
 *       ▲                             │                                             │
 *       └── none follows ◄── the position moves ◄── acknowledged, or given up ◄──────┘
 *
 * What no longer fits into memory ends the recovery. Once all that fits is acknowledged, another begins at the position, as
 * after a restart.
 */

/** From this attempt on, what came back after a restart is emitted alone: it may be what ended the process. */
const ALONE_FROM = 3;
/** For how long it is alone at most, in milliseconds. */
const ALONE_FOR = 5000;

/** Milliseconds until a process that may not act for its devices looks again whether it may. */
const HELD_BACK = 250;

export interface AckDeps {
  /** The service's address. */
  readonly origin: string;
  readonly appid: string;
  readonly listening: Listening;
  readonly store: Keeping;
  /** The time zone of the history's times, or `auto`. */
  readonly zone: string;
}

/** Who acknowledges it: all listeners of the client. */
export interface AckOwner {
  readonly deps: AckDeps;
  /** A listener has left. */
  left(device: AckDevice): void;
  /** Has something be done once nothing else is. */
  alone(work: () => Promise<void>): void;
}

/** A position, and how often what follows it has been emitted: one entry of the store, made when it is written. */
class Entry {
  constructor(
    readonly position: () => Position,
    readonly tries: number,
  ) {}

  toJSON(): object {
    return { ...this.position(), ...(this.tries !== 1 && { tries: this.tries }) };
  }
}

/** An upload that waits, and the position after it, as soon as that is known. */
interface Item {
  readonly upload: Upload;
  readonly weight: number;
  readonly serial: number;
  position: (() => Position) | undefined;
}

/** A device whose uploads wait for a listener's acknowledgement. */
export class AckDevice implements ChannelListener, AckSubscription {
  hasPosition: boolean;
  /** Of the listener and the device. */
  readonly name: string;
  readonly #owner: AckOwner;
  readonly #deps: AckDeps;
  readonly #chipid: string;
  readonly #options: AckOptions;
  /** A number of its own, of this run of the process. */
  readonly #run = randomInt(2 ** 47);
  readonly #listener: IsolatedListener;
  readonly #store: Keeping;
  readonly #key: string;
  /** When the first one was first emitted, by this process's clock. */
  #since: number | undefined;
  #subscription: ChannelSubscription | undefined;
  /** The first one is emitted, the others wait. */
  readonly #items: Item[] = [];
  #bytes = 0;
  #serial = 0;
  /** After what was acknowledged. */
  #position: (() => Position) | undefined;
  /** How often the first one was emitted. */
  #tries = 0;
  /** How often what follows the position was emitted when an earlier run ended; undefined once something has come. */
  #before: number | undefined;
  /** What is kept does not say yet that something has been emitted since an earlier run ended with nothing waiting. */
  #isUncounted = false;
  /** The first one came back after a restart. */
  #isBack = false;
  /** It was acknowledged before the history gave it back. */
  #early: Token | undefined;
  /** No more fits: the channel stays open, but what comes is left to the history. */
  #isFull = false;
  /** The position is to be kept as soon as it is known. */
  #isBehind = false;
  #timer: NodeJS.Timeout | undefined;
  #endTurn: (() => void) | undefined;
  #isClosed = false;

  constructor(owner: AckOwner, chipid: string, listener: ChannelListener, options: AckOptions) {
    this.name = `${options.node}:${chipid}`;
    this.#owner = owner;
    this.#deps = owner.deps;
    this.#chipid = chipid;
    this.#options = options;
    this.#listener = new IsolatedListener(listener);
    this.#store = options.memory ?? owner.deps.store;
    this.#key = `position:${this.name}`;
    const entry = this.#store.get(this.#key);
    const kept: unknown = entry instanceof Entry ? entry.toJSON() : entry;
    if (isPosition(kept)) {
      this.#position = () => kept;
      this.#before = triesOf(kept);
      this.#isUncounted = this.#before === 0;
    }
    this.hasPosition = this.#position !== undefined;
    this.#subscription = this.#recover();
  }

  get channel(): ChannelView {
    return (this.#subscription as ChannelSubscription).channel;
  }

  get waitedFor(): number | undefined {
    return this.#since === undefined ? undefined : performance.now() - this.#since;
  }

  acknowledge(token: Token): boolean {
    const { listening, zone } = this.#deps;
    const [first] = this.#items;
    if (!first) {
      if (token.run !== this.#run && this.#before !== undefined) this.#early = token;
      return false;
    }
    const isZoneKnown = zone !== 'auto' || listening.shared.facts.zone !== undefined;
    const isIt =
      token.run === this.#run
        ? token.serial === first.serial
        : this.#isBack && isSameUpload(token, first.upload, isZoneKnown);
    if (isIt) this.#done();
    return isIt;
  }

  release(isForgotten = false): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#endTurn?.();
    this.#listener.release();
    this.#subscription?.release();
    this.#waitsSince(undefined);
    if (isForgotten) this.#store.update(this.#key, undefined);
    // Then what follows the position was not emitted yet.
    else if (this.#items.length === 0 && this.#position && this.#before === undefined)
      this.#store.update(this.#key, new Entry(this.#position, 0));
    while (this.#items.length > 0) this.#shift();
    this.#owner.left(this);
  }

  onState(state: ChannelState, reason?: string): void {
    this.#listener.onState(state, reason);
  }

  onFault(fault: string, kind?: string): void {
    this.#listener.onFault(fault, kind);
  }

  onGap(): void {
    this.#listener.onGap();
  }

  /** Recovery emits it: what came before it waits, or is acknowledged. */
  onUpload(upload: Upload): void {
    // No history has it: there is nothing to go back to.
    if (upload.type !== undefined) {
      this.#listener.onUpload(upload);
      return;
    }
    const isFirst = this.#items.length === 0;
    const weight = this.#reserve(weigh(upload));
    if (weight === undefined && !isFirst) {
      this.#overflow();
      return;
    }
    const serial = ++this.#serial;
    this.#items.push({ upload, weight: weight ?? 0, serial, position: undefined });
    if (!isFirst) return;
    // What comes live has not been emitted by an earlier run.
    if (this.#before !== undefined && upload.replayed) {
      this.#isBack = true;
      this.#tries = this.#before;
    }
    this.#before = undefined;
    const early = this.#early;
    this.#early = undefined;
    if (!early || !this.acknowledge(early)) this.#next();
  }

  #recover(): ChannelSubscription {
    const { listening, zone } = this.#deps;
    const save = (position: () => Position): void => {
      const last = this.#items.at(-1);
      this.hasPosition = true;
      if (last) last.position = position;
      else this.#position = position;
      if (!last && this.#isBehind) this.#keep();
    };
    return listening.recover(this.#chipid, this, {
      zone,
      start: this.#position?.(),
      saveBefore: save,
      saveLater: (position) => {
        save(position);
        if (this.#items.length === 0) this.#keep();
      },
    });
  }

  /** @returns undefined if it does not fit into memory */
  #reserve(weight: number): number | undefined {
    const { budgets, limits } = this.#deps.listening.shared;
    const { length } = this.#items;
    if (length >= limits.held || this.#bytes + weight > limits.heldBytes) return undefined;
    if (!budgets.held.reserve(weight)) return undefined;
    this.#bytes += weight;
    return weight;
  }

  #shift(): Item | undefined {
    const item = this.#items.shift();
    if (!item) return undefined;
    this.#bytes -= item.weight;
    this.#deps.listening.shared.budgets.held.release(item.weight);
    return item;
  }

  /** What no longer fits is left to the history; the channel stays open. */
  #overflow(): void {
    if (!this.#items.at(-1)?.position) {
      this.onFault(
        'more uploads wait for an acknowledgement than fit into memory, and the history was not read yet: the newest are lost',
        'waiting lost',
      );
      return;
    }
    this.#isFull = true;
    this.#replace(
      this.#deps.listening.listen(this.#chipid, {
        onState: (state, reason) => this.onState(state, reason),
        onFault: (fault, kind) => this.onFault(fault, kind),
      }),
    );
  }

  #replace(subscription: ChannelSubscription): void {
    const before = this.#subscription;
    this.#subscription = subscription;
    before?.release();
  }

  /** Emits the first of what waits, for the first time or again. */
  #next(): void {
    const [first] = this.#items;
    if (!first || this.#isClosed || this.#holdBack()) return;
    if (this.#tries >= this.#options.attempts) {
      this.#emit({ ...first.upload, isGivenUp: true });
      this.#done();
    } else if (this.#isBack && this.#tries + 1 >= ALONE_FROM)
      this.#owner.alone(() => this.#tryAlone(first));
    else void this.#try(first);
  }

  /**
   * In a cluster, an attempt that is not written would be made again unmarked by whoever has the device next.
   * @returns whether nothing may be emitted: then it looks again a moment later
   */
  #holdBack(isWritten = true): boolean {
    const { guard } = this.#deps.listening.shared;
    if (!guard || (isWritten && guard.mayEmit(this.#chipid))) return false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#next(), HELD_BACK);
    return true;
  }

  /** The attempt is on the disk before it is made: the upload may end the process. */
  async #try(first: Item): Promise<void> {
    const isCurrent = (): boolean => !this.#isClosed && this.#items[0] === first;
    if (!isCurrent()) return;
    this.#tries++;
    const isCounted = !this.#isUncounted && this.#store.isWritten(this.#key);
    const isKept = !this.#isBack && this.#tries === 1 && isCounted;
    this.#isUncounted = false;
    if (this.#position && !isKept) {
      const isWritten = await this.#store.set(this.#key, new Entry(this.#position, this.#tries));
      if (!isCurrent()) return;
      if (this.#holdBack(isWritten)) {
        this.#tries--;
        return;
      }
    }
    this.#waitsSince(this.#since ?? performance.now());
    this.#timer = setTimeout(() => this.#next(), this.#options.redeliver);
    const { upload, serial } = first;
    const { appid } = this.#deps;
    const { node } = this.#options;
    const ack = writeToken(upload, { appid, node, run: this.#run, serial });
    this.#emit({ ...upload, ack, ...(this.#tries > 1 && { redelivered: true }) });
  }

  async #tryAlone(first: Item): Promise<void> {
    const over = new Promise<void>((resolve) => (this.#endTurn = resolve));
    await this.#try(first);
    const timer = setTimeout(() => this.#endTurn?.(), Math.min(ALONE_FOR, this.#options.redeliver));
    if (!this.#isClosed && this.#items[0] === first) await over;
    clearTimeout(timer);
  }

  #waitsSince(since: number | undefined): void {
    if (since === this.#since) return;
    this.#since = since;
    this.#deps.listening.shared.observer.onWaiting?.();
  }

  /** A flow may change the bytes that it is given. */
  #emit(upload: WaitingUpload): void {
    this.#listener.onUpload({ ...upload, body: Buffer.from(upload.body) });
  }

  /** The first one is over: the position moves, and the next one follows. */
  #done(): void {
    clearTimeout(this.#timer);
    const position = this.#shift()?.position;
    this.#waitsSince(undefined);
    this.#isBack = false;
    this.#tries = 0;
    this.#endTurn?.();
    if (position) this.#position = position;
    // It was acknowledged at once: the position is not known yet.
    this.#isBehind = !position;
    if (position) this.#keep();
    if (this.#items.length > 0) queueMicrotask(() => this.#next());
    else if (this.#isFull) {
      this.#isFull = false;
      this.#replace(this.#recover());
    }
  }

  /** Until something comes, what may have been emitted by an earlier run counts as before. */
  #keep(): void {
    this.#isBehind = false;
    if (this.#position) this.#store.update(this.#key, new Entry(this.#position, this.#before ?? 1));
  }
}
