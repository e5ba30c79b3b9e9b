import type { ChannelState } from '../channel/types';
import type { ErrorCode } from '../errors';
import type { KeptUpload } from './latest';

/** An error of a call to a device. */
export interface FleetError {
  /** `ERROR` if it is no error of this package. */
  code: ErrorCode | 'ERROR';
  /** What happened, and what to do. */
  message: string;
  /** When it came, in ms. */
  at: number;
}

/** An error, and whose it is. */
export interface ReportedError extends FleetError {
  /** Null: of a reading of the list. */
  chipid: string | null;
}

/** What is known of one device. There are up to 10,000: plain fields, times in ms by this clock. */
export class FleetDevice {
  /** Undefined until a list has shown it, and for a device without a name. */
  name: string | undefined = undefined;
  /** Whether the latest list of online devices has it; null before the first. */
  listed: boolean | null = null;
  /** Since when that is so. */
  listedSince: number | null = null;
  /** When its last live upload arrived. */
  lastUpload: number | null = null;
  /** Null if no channel is open. */
  channelState: ChannelState | null = null;
  channelReason: string | undefined = undefined;
  /** How often its channel was connected, those included that were closed since. */
  connections = 0;
  /** How often its channel came back after it had been lost. */
  reconnects = 0;
  /** Whether the channel that is open has been connected before. */
  wasConnected = false;
  /** Recoveries that are reading its history: one for each listener. */
  recoveries = 0;
  /** The most uploads that one of these has given back so far. */
  emitted = 0;
  /** Uploads that were recovered, each counted once. */
  recovered = 0;
  /** Commands that wait for their turn. */
  waiting = 0;
  /** Commands that have been sent and not answered. */
  running = 0;
  lastError: FleetError | null = null;
  latest: KeptUpload | undefined = undefined;
  /** That of the registry when something of this device last changed. */
  revision = 0;
  /** Grows with each sign of the device: the lowest is forgotten first. */
  seen = 0;

  constructor(readonly chipid: string) {}

  /** Whether a part of the client is at work for it, so that it is forgotten after all others. */
  get inUse(): boolean {
    return this.channelState !== null || this.waiting > 0 || this.running > 0;
  }
}
