import type { ChannelListener } from '../channel/listener';
import { type AckDeps, AckDevice, type AckOwner } from './ack-device';
import type { AckOptions, AckSubscription } from './options';
import { readToken } from './token';

/** How many uploads wait for an acknowledgement, and for how long the oldest does, in milliseconds. */
export interface AckCounts {
  count: number;
  age: number;
}

/** The listeners that wait for acknowledgements, wherever they are. */
export interface Acknowledging extends Pick<Acknowledged, 'listen'> {
  /** As of {@link Acknowledged}; a promise if the device may be another process's. */
  acknowledge(text: unknown): boolean | Promise<boolean>;
}

/** The listeners of a client that wait for acknowledgements. */
export class Acknowledged implements AckOwner {
  readonly deps: AckDeps;
  readonly #devices = new Map<string, AckDevice>();
  readonly #all: Set<Acknowledged>;
  #alone: Promise<void> = Promise.resolve();

  /** @param all those of the process that have listeners: a token is good at any client of its application */
  constructor(deps: AckDeps, all: Set<Acknowledged>) {
    this.deps = deps;
    this.#all = all;
  }

  /** As `listen` of the client with recovery, but the next upload follows when the one before is acknowledged. */
  listen(chipid: string, listener: ChannelListener, options: AckOptions): AckSubscription {
    const device = new AckDevice(this, chipid, listener, options);
    this.#devices.set(device.name, device);
    this.#all.add(this);
    return device;
  }

  left(device: AckDevice): void {
    if (this.#devices.get(device.name) === device) this.#devices.delete(device.name);
    if (this.#devices.size === 0) this.#all.delete(this);
  }

  alone(work: () => Promise<void>): void {
    this.#alone = this.#alone.then(work);
  }

  /**
   * Acknowledges an upload. It may be of an earlier attempt, of before a restart, or of another client of the application.
   * @returns whether it waited for it; if not, it was over already
   * @throws DeviceCloudError `INVALID_INPUT` if it is no token, or of another application
   */
  acknowledge(text: unknown): boolean {
    const token = readToken(text, this.deps.appid);
    const { origin, appid } = this.deps;
    for (const each of [this, ...this.#all]) {
      const isSame = each.deps.origin === origin && each.deps.appid === appid;
      const device = isSame && each.#devices.get(`${token.node}:${token.chipid}`);
      if (device) return device.acknowledge(token);
    }
    return false;
  }

  get counts(): AckCounts {
    const all = [...this.#devices.values()].flatMap(({ waitedFor }) => waitedFor ?? []);
    return { count: all.length, age: all.reduce((a, b) => Math.max(a, b), 0) };
  }
}
