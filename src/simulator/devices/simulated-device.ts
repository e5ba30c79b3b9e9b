import type { PushFormat } from '../../types';
import type { PushEntry, UploadEntry } from './history';
import type { Reading } from '../sensors/sensor';

/** A push that has reached a device. */
export interface Received {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The way of the push: endpoint 3, endpoint 4, the server API, or a channel. */
  readonly via: 'open-api' | 'app-push' | 'server-api' | 'channel';
  /** As it was given; `B64` over a channel. */
  readonly format: PushFormat;
  /** What the device got: hexadecimal and Base64 decoded. */
  readonly bytes: Buffer;
  /** The bytes as UTF-8. */
  readonly text: string;
}

/** A device, as the program that runs the simulator sees it. */
export interface SimulatedDevice {
  /** Chip number, as digits. */
  readonly chipid: string;
  /** The name that it was given, if any. */
  readonly name: string | number | null;
  /** Whether it is on, awake, not disabled and not away for a reboot. */
  readonly online: boolean;
  /** Whether it sleeps. */
  readonly asleep: boolean;
  /** Whether the server API has disabled it. */
  readonly disabled: boolean;
  /** The pins' level characters, index = pin. */
  readonly levels: string;
  /** The last reading, by name: what it uploads. */
  readonly reading: Reading;
  /** The last reading, °C; NaN if it measures none. */
  readonly temperature: number;
  /** The last reading, %; NaN if it measures none. */
  readonly humidity: number;
  /** Pushes that have reached the device, oldest first. */
  readonly received: readonly Received[];
  /** What the service keeps of its uploads, oldest first. */
  readonly uploads: readonly UploadEntry[];
  /** What the service keeps of the pushes to it, oldest first. */
  readonly pushes: readonly PushEntry[];
  /** How often it has been reset: by a reboot or by being switched on again. */
  readonly boots: number;
  /** Device calls it is answering now. */
  readonly inFlight: number;
  /** How many device calls it ever was answering at once. */
  readonly maxInFlight: number;
}
