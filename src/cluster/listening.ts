import {
  ELSEWHERE,
  type ChannelListener,
  type ChannelSubscription,
  type ChannelView,
} from '../channel/listener';
import { isDeviceCloudError } from '../errors';
import { isolated } from '../protocol/values';
import type { AckSubscription } from '../recovery/options';
import { shareOf } from '../store/shared';

/** Milliseconds between two trials of a key that the service has refused. */
const TRY_KEY = 30_000;

/** The place of a listener on the channel of a device, which acknowledges or does not. */
type Joined = ChannelSubscription & Partial<AckSubscription>;

/** A listener's place on the channel of a device, which is open while the device is this process's. */
class SharedSubscription implements AckSubscription {
  #joined: Joined | undefined;

  constructor(
    readonly chipid: string,
    readonly listener: ChannelListener,
    readonly join: () => Joined,
    readonly onRelease: (subscription: SharedSubscription) => void,
  ) {}

  get channel(): ChannelView {
    return this.#joined?.channel ?? { state: 'connecting', reason: ELSEWHERE };
  }

  get waitedFor(): number | undefined {
    return this.#joined?.waitedFor;
  }

  get hasPosition(): boolean {
    return this.#joined?.hasPosition ?? true;
  }

  begin(): void {
    if (this.#joined) return;
    this.#joined = this.join();
    this.#show();
  }

  end(): void {
    if (this.#leave()) this.#show();
  }

  release(isForgotten?: boolean): void {
    this.#leave(isForgotten);
    this.onRelease(this);
  }

  #leave(isForgotten?: boolean): boolean {
    const joined = this.#joined;
    this.#joined = undefined;
    // The place of a listener that does not acknowledge takes no argument.
    (joined as AckSubscription | undefined)?.release(isForgotten);
    return joined !== undefined;
  }

  #show(): void {
    const { state, reason } = this.channel;
    isolated(() => this.listener.onState?.(state, reason));
  }
}

/** The listeners of a process of a cluster. */
export class SharedListening {
  readonly #all = new Set<SharedSubscription>();
  readonly #owns: (chipid: string) => boolean;
  readonly #readList: () => Promise<unknown>;
  #hasWrongKey = false;
  #keyTriedAt = -Infinity;

  /** @param readList tries the key */
  constructor(owns: (chipid: string) => boolean, readList: () => Promise<unknown>) {
    this.#owns = owns;
    this.#readList = readList;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Whether the service refuses the key of this process, which would leave its devices unheard. In doubt it tries the key again. */
  isKeyRefused(): boolean {
    const isRefused = ({ channel: { reason } }: SharedSubscription): boolean =>
      reason === '401' || reason === '403';
    const now = performance.now();
    const isDoubtful = this.#hasWrongKey || [...this.#all].some(isRefused);
    if (isDoubtful && now - this.#keyTriedAt > TRY_KEY) {
      this.#keyTriedAt = now;
      this.#readList().then(
        () => (this.#hasWrongKey = false),
        (error: unknown) => (this.#hasWrongKey = isDeviceCloudError(error, 'UNAUTHORIZED')),
      );
    }
    return this.#hasWrongKey;
  }

  /** @param join is called each time the device has come: what is kept has come with it */
  listen(chipid: string, listener: ChannelListener, join: () => Joined): AckSubscription {
    const shared = new SharedSubscription(chipid, listener, join, (left) => this.#all.delete(left));
    this.#all.add(shared);
    if (this.#owns(chipid)) shared.begin();
    return shared;
  }

  /** Devices have come, or this process may act again: also for listeners that have come meanwhile. */
  begin(): void {
    for (const each of this.#all) if (this.#owns(each.chipid)) each.begin();
  }

  end(share: number): void {
    for (const each of this.#all) if (shareOf(each.chipid) === share) each.end();
  }
}
