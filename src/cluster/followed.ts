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
import type { Cluster } from './cluster';
import {
  isChipid,
  MOST_DEVICES,
  readStates,
  uploadFromText,
  WANTED,
  type Bus,
  type OwnerState,
} from './messages';
import { positionFromText } from './positions';

/** A placeholder: `save` only signals that recovery has advanced, while the position belongs to the owner. */
const SOMEWHERE: Position = { id: '-1', live: 0 };

interface FollowedDeps {
  readonly cluster: Cluster;
  readonly listening: Pick<Listening, 'recover'>;
  readonly channels: Pick<Channels, 'join'>;
  /** Requests the uploads of a device from the other processes, or no longer. */
  readonly want: (followed: Followed, isWanted: boolean) => void;
  /** Called when a followed device has ended. */
  readonly released: (followed: Followed) => void;
}

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
  readonly #deps: FollowedDeps;
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
    deps: FollowedDeps,
  ) {
    this.chipid = chipid;
    this.#listener = listener;
    this.#recover = recover;
    this.#deps = deps;
    this.#epochHere = deps.cluster.epochOf(chipid);
    if (this.#epochHere === undefined) deps.want(this, true);
    else this.#join();
    this.#hasBegun = true;
  }

  get channel(): ChannelView {
    return this;
  }

  get isComplete(): boolean {
    return this.#epochHere === undefined
      ? this.#last?.isComplete === true && this.state === 'connected'
      : this.#here?.isComplete === true;
  }

  /** The device may have another owner now. */
  update(): void {
    const epoch = this.#deps.cluster.epochOf(this.chipid);
    if (this.#isReleased || epoch === this.#epochHere) return;
    this.#here?.release();
    this.#here = undefined;
    if (this.#epochHere === undefined) this.#deps.want(this, false);
    this.#lost();
    this.#epochHere = epoch;
    this.#last = undefined;
    if (epoch === undefined) this.#deps.want(this, true);
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
    const isNews = state.isComplete && last?.isComplete !== true;
    this.onState(state.state, state.reason);
    if (isNews) this.#recover?.save?.(SOMEWHERE);
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
    if (this.#epochHere === undefined) this.#deps.want(this, false);
    this.#here?.release();
    this.#deps.released(this);
  }

  #join(start?: Position): void {
    const { listening, channels } = this.#deps;
    this.hasHeard = true;
    this.#here = this.#recover
      ? listening.recover(this.chipid, this, { ...this.#recover, start })
      : channels.join(this.chipid, this);
    const { state, reason } = this.#here.channel;
    this.onState(state, reason);
  }

  /** Recovers what was uploaded since the last owner's position. */
  async #joinAtPosition(epoch: number): Promise<void> {
    const { cluster } = this.#deps;
    const start = positionFromText(await cluster.loadPosition(this.chipid).catch(() => undefined));
    if (!this.#isReleased && this.#epochHere === epoch)
      this.#join(start === 'invalid' ? undefined : start);
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

/** All devices that a client follows. */
export interface Following {
  readonly follow: Follow;
  /** This process may hold other devices by now. */
  update(): void;
  /** Repeats all requests at once, since the owners may have changed. */
  requestAll(): void;
  close(): void;
}

/** Follows devices: requests their uploads from the other processes, repeatedly as long as they are wanted. */
export function createFollowing(
  cluster: Cluster,
  bus: Bus,
  over: Pick<FollowedDeps, 'listening' | 'channels'>,
): Following {
  const followed = new Set<Followed>();
  const wanted = new Map<string, Set<Followed>>();
  let news = new Set<string>();
  let endUse: (() => void) | undefined;
  let timer: NodeJS.Timeout | undefined;

  const each = (chipid: string, call: (one: Followed) => void): void => {
    for (const one of [...(wanted.get(chipid) ?? [])]) call(one);
  };
  const request = (chipids: Iterable<string>): void => {
    const devices = [...chipids].flatMap((chipid) => {
      const all = wanted.get(chipid);
      return all ? [[chipid, [...all].some(({ hasHeard }) => hasHeard)] as const] : [];
    });
    news = new Set();
    for (let first = 0; first < devices.length; first += MOST_DEVICES)
      bus.post(undefined, 'want', { devices: devices.slice(first, first + MOST_DEVICES) });
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const want = (one: Followed, isWanted: boolean): void => {
    const { chipid } = one;
    const all = wanted.get(chipid) ?? new Set();
    if (!isWanted) {
      if (!all.delete(one) || all.size > 0) return;
      wanted.delete(chipid);
      if (wanted.size === 0) stop();
      return;
    }
    wanted.set(chipid, all.add(one));
    // Many are added in one turn when a process gives up its share.
    if (news.size === 0) queueMicrotask(() => request(news));
    news.add(chipid);
    timer ??= setInterval(() => {
      request(wanted.keys());
      for (const known of wanted.keys()) each(known, (other) => other.check());
    }, WANTED.again);
  };
  bus.on('state', ({ states }, from) => {
    for (const state of readStates(states)) each(state.chipid, (one) => one.onOwner(state, from));
  });
  bus.on('upload', ({ chipid, epoch, upload: text }) => {
    if (!isChipid(chipid) || !wanted.has(chipid)) return;
    const upload = uploadFromText(chipid, text);
    if (!upload || typeof epoch !== 'number')
      cluster.report('an upload of another process was malformed, and ignored', 'upload');
    else each(chipid, (one) => one.onPassed({ ...upload, body: Buffer.from(upload.body) }, epoch));
  });

  const released = (one: Followed): void => {
    followed.delete(one);
    if (followed.size > 0) return;
    endUse?.();
    endUse = undefined;
  };
  return {
    follow(chipid, listener, recover) {
      const one = new Followed(chipid, listener, recover, { ...over, cluster, want, released });
      followed.add(one);
      endUse ??= cluster.use('follows');
      return one;
    },
    update() {
      for (const one of [...followed]) one.update();
    },
    requestAll: () => request(wanted.keys()),
    close() {
      for (const one of [...followed]) one.release();
      stop();
    },
  };
}
