import type { ChannelState } from '../channel/types';
import type { ErrorCode } from '../errors';
import type { KeptUpload } from './latest';

/** An error of a call to a device. */
export interface FleetError {
  /** `ERROR` if it is no error of this package. */
  code: ErrorCode | 'ERROR';
  /** What happened, and what to do. */
  message: string;
  /** When it occurred, in ms. */
  at: number;
}

/** An error, with the device that it concerns. */
export interface ReportedError extends FleetError {
  /** Null for an error of reading the list. */
  chipid: string | null;
}

/** What is known of one device. Plain fields, since there are up to 10,000 devices; times in ms by this clock. */
export class FleetDevice {
  /** Undefined until a list contains it, and for a device without a name. */
  name: string | undefined = undefined;
  /** Whether the latest list of online devices has it; null before the first. */
  listed: boolean | null = null;
  /** Since when `listed` has this value. */
  listedSince: number | null = null;
  /** Whether the service has said, asked for its status alone, that it is online; null: not since the latest list. */
  refreshed: boolean | null = null;
  /** When the service said so, in ms. */
  refreshedAt = 0;
  /** When its last live upload arrived. */
  lastUpload: number | null = null;
  /** Null if no channel is open. */
  channelState: ChannelState | null = null;
  channelReason: string | undefined = undefined;
  /** How often one of its channels connected, closed ones included. */
  connections = 0;
  /** How often its channel came back after it had been lost. */
  reconnects = 0;
  /** Whether the current channel has been connected before. */
  wasConnected = false;
  /** The number of recoveries under way: each listener has its own. */
  recoveries = 0;
  /** The most uploads that one of these recoveries has emitted. */
  emitted = 0;
  /** Uploads that were recovered, each counted once. */
  recovered = 0;
  /** Commands that wait for their turn. */
  waiting = 0;
  /** Commands that have been sent and not answered. */
  running = 0;
  lastError: FleetError | null = null;
  latest: KeptUpload | undefined = undefined;
  /** The revision of the registry at the last change of this device. */
  revision = 0;
  /** A counter of the registry, set with each sign of life: the device with the lowest value is forgotten first. */
  seen = 0;

  constructor(readonly chipid: string) {}

  /** Whether it has a channel or commands, so that it is forgotten after all others. */
  get inUse(): boolean {
    return this.channelState !== null || this.waiting > 0 || this.running > 0;
  }
}
