import type { Channels } from '../channel/pool';
import type {
  ChannelListener,
  ChannelState,
  ChannelSubscription,
  ChannelView,
} from '../channel/listener';
import type { Listening, RecoveringChannel } from '../recovery/listen';
import type { RecoverOptions } from '../recovery/options';
import type { Position } from '../recovery/position';
import type { Upload } from '../types';
import { isObject } from '../util/object';
import type { Cluster } from './cluster';
import {
  isChipid,
  itemsOf,
  partsOf,
  startFrom,
  uploadFromText,
  WANTED,
  type Bus,
  type OwnerState,
} from './messages';

/** A placeholder: `save` only signals that recovery has advanced, while the position belongs to the owner. */
const SOMEWHERE: Position = { id: '-1', live: 0 };

const isOwnerState = (each: unknown): each is OwnerState =>
  isObject(each) && isChipid(each['chipid']) && Number.isSafeInteger(each['epoch']);

/**
 * The uploads of a device for a part of this client that waits for one, whose callbacks do not throw. The channel may be
 * here, or in another process that passes them on; either way, this looks like a channel of this process.
 */
export class Followed implements ChannelListener, ChannelView, RecoveringChannel {
  state: ChannelState = 'connecting';
  reason: string | undefined = undefined;
  /** The process that passes uploads on; undefined while the channel is here, or no owner has answered. */
  owner: string | undefined = undefined;
  /** Whether uploads have arrived from any process, so that the next owner has to continue them. */
  hasHeard = false;
  readonly chipid: string;
  readonly #listener: ChannelListener;
  readonly #recover: RecoverOptions | undefined;
  readonly #all: Following;
  #here: (ChannelSubscription & { readonly isComplete?: boolean }) | undefined;
  /** The epoch of the claim under which the channel is here; undefined while it is elsewhere. */
  #epochHere: number | undefined;
  #last: OwnerState | undefined;
  #heardAt = 0;
  /** The listener is not called before that. */
  #hasBegun = false;
  #isReleased = false;

  /** @param recover undefined for live uploads only */
  constructor(
    chipid: string,
    listener: ChannelListener,
    recover: RecoverOptions | undefined,
    all: Following,
  ) {
    this.chipid = chipid;
    this.#listener = listener;
    this.#recover = recover;
    this.#all = all;
    this.#epochHere = all.cluster.epochOf(chipid);
    if (this.isHere) this.#join();
    else all.want(chipid);
    this.#hasBegun = true;
  }

  get channel(): ChannelView {
    return this;
  }

  /** Whether the channel is this process's. */
  get isHere(): boolean {
    return this.#epochHere !== undefined;
  }

  get isComplete(): boolean {
    if (this.isHere) return this.#here?.isComplete === true;
    return this.#last?.isComplete === true && this.state === 'connected';
  }

  /** The device may have another owner now. */
  update(): void {
    const epoch = this.#all.cluster.epochOf(this.chipid);
    if (this.#isReleased || epoch === this.#epochHere) return;
    this.#leave();
    this.#lost();
    this.#epochHere = epoch;
    this.#last = undefined;
    if (epoch === undefined) this.#all.want(this.chipid);
    else void this.#joinAtPosition(epoch);
  }

  /** An upload from the channel here. */
  onUpload(upload: Upload): void {
    if (!this.#isReleased) this.#listener.onUpload?.(upload);
  }

  onState(state: ChannelState, reason?: string): void {
    if (state === this.state && reason === this.reason) return;
    this.state = state;
    this.reason = reason;
    if (this.#hasBegun && !this.#isReleased) this.#listener.onState?.(state, reason);
  }

  onFault(fault: string, kind?: string): void {
    if (!this.#isReleased) this.#listener.onFault?.(fault, kind);
  }

  /** The state of the channel at its owner. @param from the id of the owner */
  onOwner(state: OwnerState, from: string): void {
    const last = this.#last;
    if (last && state.epoch < last.epoch) return;
    if (last && state.epoch > last.epoch) this.#lost();
    this.owner = from;
    this.#last = state;
    this.hasHeard = true;
    this.#heardAt = performance.now();
    this.onState(state.state, state.reason);
    if (state.isComplete && last?.isComplete !== true) this.#recover?.save?.(SOMEWHERE);
  }

  /** An upload that an owner has passed on. */
  onPassed(upload: Upload, epoch: number): void {
    if (this.#last && epoch < this.#last.epoch) return;
    if (this.#recover || !upload.replayed) this.onUpload(upload);
  }

  /** Checks whether the owner still answers. */
  check(): void {
    if (this.#last && performance.now() - this.#heardAt > WANTED.lasts) this.#lost();
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#leave();
    this.#all.released(this);
  }

  #join(start?: Position): void {
    const { listening, channels } = this.#all;
    this.hasHeard = true;
    this.#here = this.#recover
      ? listening.recover(this.chipid, this, { ...this.#recover, start })
      : channels.join(this.chipid, this);
    const { state, reason } = this.#here.channel;
    this.onState(state, reason);
  }

  /** Recovers what was uploaded since the last owner's position. */
  async #joinAtPosition(epoch: number): Promise<void> {
    const start = await startFrom(this.#all.cluster.positions, this.chipid);
    if (!this.#isReleased && this.#epochHere === epoch) this.#join(start);
  }

  #leave(): void {
    this.#here?.release();
    this.#here = undefined;
  }

  #lost(): void {
    this.owner = undefined;
    this.onState('disconnected', 'CLUSTER');
  }
}

/** Follows the uploads of a device, in whichever process its channel is. */
export type Follow = (
  chipid: string,
  listener: ChannelListener,
  recover?: RecoverOptions,
) => Followed;

/**
 * All devices that a client follows. Their uploads are requested from the other processes, repeatedly as long as they are
 * wanted.
 */
export class Following {
  readonly cluster: Cluster;
  readonly listening: Pick<Listening, 'recover'>;
  readonly channels: Pick<Channels, 'join'>;
  readonly #bus: Bus;
  readonly #followed = new Map<string, Set<Followed>>();
  /** Devices whose uploads have yet to be requested. */
  readonly #news = new Set<string>();
  #endUse: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    cluster: Cluster,
    bus: Bus,
    listening: Pick<Listening, 'recover'>,
    channels: Pick<Channels, 'join'>,
  ) {
    this.cluster = cluster;
    this.listening = listening;
    this.channels = channels;
    this.#bus = bus;
    bus.on('state', ({ states }, from) => {
      for (const state of itemsOf(states).filter(isOwnerState))
        for (const one of this.#elsewhere(state.chipid)) one.onOwner(state, from);
    });
    bus.on('upload', ({ chipid, epoch, upload: text }) => {
      if (!isChipid(chipid)) return;
      const elsewhere = this.#elsewhere(chipid);
      if (elsewhere.length === 0) return;
      const upload = uploadFromText(chipid, text);
      if (!upload || typeof epoch !== 'number')
        cluster.report('An upload of another process was malformed, and ignored.', 'upload');
      else
        for (const one of elsewhere)
          one.onPassed({ ...upload, body: Buffer.from(upload.body) }, epoch);
    });
  }

  readonly follow: Follow = (chipid, listener, recover) => {
    const one = new Followed(chipid, listener, recover, this);
    this.#endUse ??= this.cluster.claims.use('follows');
    this.#timer ??= setInterval(() => {
      this.requestAll();
      for (const each of this.#all()) each.check();
    }, WANTED.again);
    this.#followed.set(chipid, (this.#followed.get(chipid) ?? new Set()).add(one));
    return one;
  };

  /** This process may hold other devices by now. */
  update(): void {
    for (const one of this.#all()) one.update();
  }

  /** Repeats all requests at once, since the owners may have changed. */
  requestAll(): void {
    this.#request(this.#followed.keys());
  }

  /** Requests the uploads of a device from the other processes. */
  want(chipid: string): void {
    // Many are added in one turn when a process gives up its share.
    if (this.#news.size === 0) queueMicrotask(() => this.#request(this.#news));
    this.#news.add(chipid);
  }

  /** A followed device has ended. */
  released(one: Followed): void {
    const all = this.#followed.get(one.chipid);
    if (!all?.delete(one) || all.size > 0) return;
    this.#followed.delete(one.chipid);
    if (this.#followed.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#endUse?.();
    this.#endUse = undefined;
  }

  close(): void {
    for (const one of this.#all()) one.release();
  }

  #all(): Followed[] {
    return [...this.#followed.values()].flatMap((all) => [...all]);
  }

  /** What of a device waits for the uploads of another process. */
  #elsewhere(chipid: string): Followed[] {
    return [...(this.#followed.get(chipid) ?? [])].filter(({ isHere }) => !isHere);
  }

  #request(chipids: Iterable<string>): void {
    const devices = [...chipids].flatMap((chipid) => {
      const elsewhere = this.#elsewhere(chipid);
      return elsewhere.length === 0
        ? []
        : [[chipid, elsewhere.some(({ hasHeard }) => hasHeard)] as const];
    });
    this.#news.clear();
    for (const part of partsOf(devices)) this.#bus.post(undefined, 'want', { devices: part });
  }
}
