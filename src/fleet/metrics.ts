import type { ChannelState } from '../channel/listener';
import type { AckCounts } from '../recovery/acknowledged';

/** Commands of one kind that ended with one code. */
export interface CommandCount {
  /** What it does, such as `push`. */
  call: string;
  /** `OK`, or the code of its error. */
  code: string;
  count: number;
}

/** What an application has done since its client was made, and how it is now. */
export interface FleetMetrics {
  /** Devices that are known, and how many of them are online. */
  devices: number;
  online: number;
  /** Channels by their state. */
  channels: Record<ChannelState, number>;
  /** Uploads that came live. */
  uploads: number;
  /** Uploads that were missed and recovered, and how many of them the history may have altered. */
  replayed: number;
  altered: number;
  /** Commands to devices that have ended. */
  commands: CommandCount[];
  /** Commands that wait for their devices. */
  waiting: number;
  /** Milliseconds since the last good reading of the list began; null before the first. */
  listAge: number | null;
  /** Bytes of live uploads that are held back until a history is read, or an upload is acknowledged. */
  heldBytes: number;
  /** Uploads that wait for an acknowledgement. */
  unacknowledged: AckCounts;
}

/** Counts what happens in an application. */
export class Counters {
  uploads = 0;
  replayed = 0;
  altered = 0;
  /** Few: kinds and codes are. */
  readonly #commands = new Map<string, CommandCount>();

  /** A command has ended. */
  command(call: string, code: string): void {
    const key = `${call} ${code}`;
    const known = this.#commands.get(key);
    if (known) known.count++;
    else this.#commands.set(key, { call, code, count: 1 });
  }

  commands(): CommandCount[] {
    return [...this.#commands.values()].map((each) => ({ ...each }));
  }
}
