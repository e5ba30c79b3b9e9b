import {
  ELSEWHERE,
  type ChannelListener,
  type ChannelSubscription,
  type ChannelView,
} from '../channel/listener';
import type { AckSubscription } from '../recovery/acknowledged';
import { isolated } from '../util/thrown';

/** A listener's place on the channel of a device, which is open while the device is this process's. */
export class SharedSubscription implements AckSubscription {
  #joined: (ChannelSubscription & Partial<AckSubscription>) | undefined;

  constructor(
    readonly chipid: string,
    readonly listener: ChannelListener,
    readonly join: () => ChannelSubscription & Partial<AckSubscription>,
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

  /** The device is this process's from now on. */
  begin(): void {
    if (this.#joined) return;
    this.#joined = this.join();
    const { state, reason } = this.channel;
    isolated(() => this.listener.onState?.(state, reason));
  }

  /** It is another's. */
  end(): void {
    if (!this.#joined) return;
    this.#joined.release();
    this.#joined = undefined;
    isolated(() => this.listener.onState?.('connecting', ELSEWHERE));
  }

  release(isForgotten?: boolean): void {
    // That of a listener that does not acknowledge takes no argument.
    (this.#joined as AckSubscription | undefined)?.release(isForgotten);
    this.#joined = undefined;
    this.onRelease(this);
  }
}
