import type { ChannelState } from '../channel/listener';
import type { ErrorCode } from '../errors';
import type { Alarm } from './limits';
import type { KeptUpload } from './latest';
import { Presence } from './presence';

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

/** What is known of a device at a moment; times in ms by this clock. */
export interface DeviceSnapshot {
  /** Its chip number, as digits. */
  chipid: string;
  /** That of the book or, without one, of the list; null if neither names it. */
  name: string | null;
  /** Whether it is online, by the latest list, upload or call; null without any. */
  online: boolean | null;
  /** Whether the latest list of online devices has it; null before the first. */
  listed: boolean | null;
  /** Since when `online` is so. */
  since: number | null;
  /** When its last live upload arrived. */
  lastUpload: number | null;
  /** Its channel; null if none is open. */
  channel: { state: ChannelState; reason: string | null } | null;
  /** How often its channel came back after it had been lost. */
  reconnects: number;
  /** Uploads that were recovered, each counted once. */
  recovered: number;
  /** Commands that wait for their turn. */
  waiting: number;
  /** Commands that have been sent and not answered. */
  running: number;
  /** The last error of a call to it. */
  lastError: FleetError | null;
  /** The groups that the book names, if the device has a row there. */
  groups?: string[];
  /** The type that the book names. */
  type?: string;
  /** Limits of its type that are crossed, if any. */
  alarms?: Alarm[];
  /** Only of a device of the book that no list and no upload has shown. */
  missing?: true;
}

/** What has changed since a revision. */
export interface FleetChanges {
  /** To ask with the next time. */
  revision: number;
  /** Devices that have changed, to be read once: they are made one by one, since there may be 50,000. */
  devices: Iterable<DeviceSnapshot>;
  /** Chip numbers of devices that are no longer known. */
  removed: string[];
  /** Whether `devices` are all that are known: forget any others. */
  complete: boolean;
}

/** What is known of one device: see {@link DeviceSnapshot}. Plain fields, since there are up to 10,000; times in ms by this clock. */
export class FleetDevice {
  /** Undefined until a list contains it, and for a device without a name. */
  name: string | undefined = undefined;
  readonly presence = new Presence();
  lastUpload: number | null = null;
  /** Whether a list, an upload or the service has ever shown that it exists. */
  wasSeen = false;
  /** Null if no channel is open. */
  channelState: ChannelState | null = null;
  channelReason: string | undefined = undefined;
  /** How often one of its channels connected, closed ones included. */
  connections = 0;
  reconnects = 0;
  /** Whether the current channel has been connected before. */
  wasConnected = false;
  /** How many listeners hold back live uploads for older ones. */
  holding = 0;
  /** The number of recoveries under way: each listener has its own. */
  recoveries = 0;
  /** The most uploads that one of these recoveries has emitted, and that were altered. */
  emitted = 0;
  altered = 0;
  recovered = 0;
  /** Commands that wait for their turn. */
  queued = 0;
  /** Commands that wait for the device to show itself. */
  held = 0;
  running = 0;
  lastError: FleetError | null = null;
  latest: KeptUpload | undefined = undefined;
  alarms: readonly Alarm[] = [];
  /** The revision of the registry at the last change of this device. */
  revision = 0;
  /** A counter of the registry, set with each sign of life: the device with the lowest value is forgotten first. */
  seen = 0;

  constructor(readonly chipid: string) {}

  /** Commands that have not been sent. */
  get waiting(): number {
    return this.queued + this.held;
  }

  /** Whether it has a channel or commands, so that it is forgotten after all others. */
  get isInUse(): boolean {
    return this.channelState !== null || this.waiting > 0 || this.running > 0;
  }

  /** @param isListRead whether a list has been read */
  snapshot(isListRead: boolean): DeviceSnapshot {
    const { chipid, presence, lastUpload, channelState, channelReason } = this;
    const { reconnects, recovered, waiting, running, lastError } = this;
    const { listed, since } = presence;
    const online = presence.isOnline(isListRead);
    return {
      ...{ chipid, name: this.name ?? null, online, listed, since: online === null ? null : since },
      ...{ lastUpload, reconnects, recovered, waiting, running },
      channel: channelState && { state: channelState, reason: channelReason ?? null },
      // Without its chip number, and a copy: the caller may change it.
      lastError: lastError && {
        code: lastError.code,
        message: lastError.message,
        at: lastError.at,
      },
      ...(this.alarms.length > 0 && { alarms: this.alarms.map((alarm) => ({ ...alarm })) }),
    };
  }
}
