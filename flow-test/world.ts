import { setTimeout as sleep } from 'node:timers/promises';
import { BUILT_IN_DEVICES, startSimulator, type Simulator } from '../src/simulator/index';
import type { Seen } from './seen';
import type { Given } from './tests';

/** How long an upload waits for the channel of its device after something that may have opened it, ms. */
const CHANNEL = 3000;
const LOOK = 5;

/** The service and the devices of one test. */
export class World {
  readonly simulator: Simulator;
  readonly #faults = new Map<string, () => void>();
  /** Until when a channel may still open. */
  #opensUntil = 0;

  private constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  /** Starts the simulator with devices that upload nothing by themselves: the examples' devices, and others. */
  static async start(chipids: readonly string[], appid?: string): Promise<World> {
    const builtIn = BUILT_IN_DEVICES.map(({ chipid, name = null, kind = 'climate' }) => ({
      chipid: String(chipid),
      name,
      kind,
    }));
    const known = builtIn.map(({ chipid }) => chipid);
    const others = [...new Set(chipids)].filter((chipid) => !known.includes(chipid));
    const devices = [...builtIn, ...others.map((chipid) => ({ chipid, name: null }))];
    const options = { devices, interval: 0, ...(appid === undefined ? {} : { appid }) };
    return new World(await startSimulator(options));
  }

  /** What has reached the devices. */
  get seen(): Seen[] {
    return [...this.simulator.devices.values()].flatMap(({ chipid, sets, received }) => [
      ...sets.map((set) => ({ kind: 'pin', chipid, ...set }) as const),
      ...received.map(({ at, text }) => ({ kind: 'pushed', chipid, at, text }) as const),
    ]);
  }

  /** The level of a pin; 0 of a device that is not there. */
  level(chipid: string, pin: number): 0 | 1 {
    return this.simulator.devices.get(chipid)?.levels[pin] === '1' ? 1 : 0;
  }

  /** Says that nodes may open channels from now on. */
  mayOpen(): void {
    this.#opensUntil = performance.now() + CHANNEL;
  }

  /** @param isHeard whether a node may keep the channel of the device open */
  async upload(chipid: string, payload: unknown, isHeard: boolean): Promise<void> {
    const isOpen = (): boolean => this.simulator.channels(chipid) > 0;
    while (isHeard && !isOpen() && performance.now() < this.#opensUntil) await sleep(LOOK);
    this.simulator.upload(chipid, payload);
    // A flow may listen to another device because of it.
    if (isOpen()) this.mayOpen();
  }

  change({ chipid, asleep, offline, fails, pins = {} }: Given & { kind: 'device' }): void {
    const { simulator } = this;
    for (const [pin, level = 0] of Object.entries(pins))
      simulator.setPin(chipid, Number(pin), level);
    if (asleep === true) simulator.sleep(chipid);
    if (offline === true) simulator.switchOff(chipid);
    if (fails !== undefined) {
      this.#faults.get(chipid)?.();
      this.#faults.delete(chipid);
      if (fails) this.#faults.set(chipid, simulator.fail(fails, { chipid }));
    }
    if (offline === false) simulator.switchOn(chipid);
    if (asleep === false) simulator.wake(chipid);
  }

  close(): Promise<void> {
    return this.simulator.close();
  }
}
