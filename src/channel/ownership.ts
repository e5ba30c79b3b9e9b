/**
 * Whether this process may open a device's channel. `hold`: not now, but a channel that is open stays open.
 * `elsewhere`: another process has the device.
 */
export type ChannelAccess = 'open' | 'hold' | 'elsewhere';

/** Which devices this process has, if several share them: it opens their channels, and emits for them. */
export interface Ownership {
  access(chipid: string): ChannelAccess;
  /** Whether an upload or an event of a device may be emitted now. */
  mayEmit(chipid: string): boolean;
  /** What a channel has as its reason while it may not be opened here. */
  readonly reason: string | undefined;
}

/** A process alone has all devices. */
export const ALONE: Ownership = {
  access: () => 'open',
  mayEmit: () => true,
  reason: undefined,
};
