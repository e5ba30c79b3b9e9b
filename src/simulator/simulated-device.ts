import type { PushFormat } from '../records';
import type { PushEntry, UploadEntry } from './history';

/** A push that has reached a device. */
export interface Received {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly via: 'open-api' | 'app-push' | 'server-api' | 'channel';
  readonly format: PushFormat;
  readonly bytes: Buffer;
  /** The bytes as UTF-8. */
  readonly text: string;
}

/** A device, as whoever runs the simulator sees it. */
export interface SimulatedDevice {
  readonly chipid: string;
  readonly name: string | number | null;
  /** Whether it is on, not disabled and not away for a reboot. */
  readonly online: boolean;
  readonly disabled: boolean;
  /** The pins' level characters, index = pin. */
  readonly levels: string;
  /** The last reading, °C and %. */
  readonly temperature: number;
  readonly humidity: number;
  /** Pushes that have reached the device, oldest first. */
  readonly received: readonly Received[];
  /** What the service keeps of its uploads and of the pushes to it, oldest first. */
  readonly uploads: readonly UploadEntry[];
  readonly pushes: readonly PushEntry[];
  /** How often it has been reset: by a reboot or by being switched on again. */
  readonly boots: number;
  /** Device calls it is answering now, and how many it ever was at once. */
  readonly inFlight: number;
  readonly maxInFlight: number;
}
