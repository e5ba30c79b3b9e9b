import type { Channels } from '../channel/pool';
import type { Upload } from '../types';
import {
  IsolatedListener,
  type ChannelListener,
  type ChannelState,
  type ChannelSubscription,
  type ChannelView,
} from '../channel/listener';
import type { Cluster } from './cluster';
import type { Listening, RecoveringChannel } from '../recovery/listen';
import type { RecoverOptions } from '../recovery/options';
import type { Position } from '../recovery/position';
import { WANTED, type OwnerState } from './messages';
import { positionFromText } from './stored-position';
import type { Wanting, Wants } from './wants';

/** The dependencies that all followed devices share. */
export interface FollowedDeps {
  readonly cluster: Cluster;
  readonly listening: Pick<Listening, 'recover'>;
  readonly channels: Pick<Channels, 'join'>;
  readonly wants: Wants;
  /** Called when a followed device has ended. */
  readonly released: (followed: Followed) => void;
}

/** A placeholder: `save` only signals that recovery has advanced, while the position belongs to the owner. */
const SOMEWHERE: Position = { id: '-1', live: 0 };

/**
 * The uploads of a device for a part of this client that waits for one. The channel may be here, or in another process
 * that passes them on; either way, this looks like a channel of this process.
 */
export class Followed implements ChannelListener, ChannelView, Wanting, RecoveringChannel {
  state: ChannelState = 'connecting';
  reason: string | undefined = undefined;
  /** The process that passes uploads on; undefined while the channel is here, or no owner has answered. */
  owner: string | undefined;
  private readonly listener: IsolatedListener;
  private here: (ChannelSubscription & { readonly isComplete?: boolean }) | undefined;
  /** The epoch of the claim under which the channel is here; undefined while it is elsewhere. */
  private epochHere: number | undefined;
  private last: OwnerState | undefined;
  /** Whether uploads have arrived from any process, so that the next owner has to continue them. */
  hasHeard = false;
  private heardAt = 0;
  private hasBegun = false;
  private isReleased = false;

  /** @param recover undefined for live uploads only */
  constructor(
    readonly chipid: string,
    listener: ChannelListener,
    private readonly recover: RecoverOptions | undefined,
    private readonly deps: FollowedDeps,
  ) {
    this.listener = new IsolatedListener(listener);
  }

  /** Starts; the listener is not called before that. */
  start(): this {
    this.epochHere = this.deps.cluster.epochOf(this.chipid);
    if (this.epochHere === undefined) this.deps.wants.add(this);
    else this.join();
    this.hasBegun = true;
    return this;
  }

  get channel(): ChannelView {
    return this;
  }

  get isComplete(): boolean {
    return this.epochHere === undefined
      ? this.last?.isComplete === true && this.state === 'connected'
      : this.here?.isComplete === true;
  }

  /** The device may have another owner now. */
  update(): void {
    const epoch = this.deps.cluster.epochOf(this.chipid);
    if (this.isReleased || epoch === this.epochHere) return;
    const wasHere = this.epochHere !== undefined;
    this.here?.release();
    this.here = undefined;
    if (!wasHere) this.deps.wants.remove(this);
    this.lost();
    this.epochHere = epoch;
    this.last = undefined;
    if (epoch === undefined) this.deps.wants.add(this);
    else void this.joinAtPosition(epoch);
  }

  /** An upload from the channel here. */
  onUpload(upload: Upload): void {
    this.listener.onUpload(upload);
  }

  onState(state: ChannelState, reason?: string): void {
    this.show(state, reason);
  }

  onFault(fault: string, kind?: string): void {
    this.listener.onFault(fault, kind);
  }

  /** The state of the channel at its owner. */
  onOwner(state: OwnerState, from: string): void {
    const { last } = this;
    if (last && state.epoch < last.epoch) return;
    if (last && state.epoch > last.epoch) this.lost();
    this.owner = from;
    this.last = state;
    this.hasHeard = true;
    this.heardAt = performance.now();
    const isNews = state.isComplete && last?.isComplete !== true;
    this.show(state.state, state.reason);
    if (isNews) this.recover?.save?.(SOMEWHERE);
  }

  onPassed(upload: Upload, epoch: number): void {
    if (this.last && epoch < this.last.epoch) return;
    if (this.recover || !upload.replayed) this.listener.onUpload(upload);
  }

  check(): void {
    if (this.last && performance.now() - this.heardAt > WANTED.lasts) this.lost();
  }

  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.listener.release();
    if (this.epochHere === undefined) this.deps.wants.remove(this);
    this.here?.release();
    this.deps.released(this);
  }

  private join(start?: Position): void {
    const { listening, channels } = this.deps;
    this.hasHeard = true;
    this.here = this.recover
      ? listening.recover(this.chipid, this, { ...this.recover, start })
      : channels.join(this.chipid, this);
    const { state, reason } = this.here.channel;
    if (this.hasBegun) this.show(state, reason);
    else [this.state, this.reason] = [state, reason];
  }

  /** Recovers what was uploaded since the last owner's position. */
  private async joinAtPosition(epoch: number): Promise<void> {
    const { cluster } = this.deps;
    const text = await cluster.loadPosition(this.chipid).catch(() => undefined);
    const start = positionFromText(text);
    if (!this.isReleased && this.epochHere === epoch)
      this.join(start === 'invalid' ? undefined : start);
  }

  private lost(): void {
    this.owner = undefined;
    this.show('disconnected', 'CLUSTER');
  }

  private show(state: ChannelState, reason?: string): void {
    if (state === this.state && reason === this.reason) return;
    this.state = state;
    this.reason = reason;
    this.listener.onState(state, reason);
  }
}
