import { setTimeout as sleep } from 'node:timers/promises';
import { Recording } from '../src/recording/read';
import { BUILT_IN_DEVICES, startSimulator, type Simulator } from '../src/simulator/index';
import type { Seen } from './seen';
import type { Given, GivenDevice } from './tests';

/** How long an upload waits for the channel of its device, ms. */
const CHANNEL = 3000;
const LOOK = 5;
/** How long a recording may play, ms: as long as the longest "wait". */
const LONGEST = 3_600_000;
/** Devices of one recording. */
const MAX_DEVICES = 1000;

/** The service and the devices of one test. */
export class World {
  readonly simulator: Simulator;
  readonly #faults = new Map<string, () => void>();
  /** Devices whose channel did not open in time: nobody listens to them. */
  readonly #unheard = new Set<string>();

  private constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  /**
   * Starts the simulator with devices that upload nothing by themselves: the examples' devices, and others.
   * @param port 0: any that is free
   */
  static async start(port: number, chipids: readonly string[], appid?: string): Promise<World> {
    const builtIn = BUILT_IN_DEVICES.map(({ chipid, name = null, kind = 'climate' }) => ({
      ...{ chipid, name, kind },
    }));
    const known = new Set(builtIn.map(({ chipid }) => String(chipid)));
    const others = [...new Set(chipids)].filter((chipid) => !known.has(chipid));
    const devices = [...builtIn, ...others.map((chipid) => ({ chipid, name: null }))];
    const options = { port, devices, interval: 0, ...(appid === undefined ? {} : { appid }) };
    return new World(await startSimulator(options));
  }

  /** What has reached the devices. */
  get seen(): Seen[] {
    return [...this.simulator.devices.values()].flatMap(({ chipid, sets, received }) => [
      ...sets.map((set): Seen => ({ kind: 'pin', chipid, ...set })),
      ...received.map(({ at, text, format }): Seen => ({
        kind: 'pushed',
        chipid,
        at,
        text,
        format,
      })),
    ]);
  }

  /** The level of a pin; 0 of a device that is not there. */
  level(chipid: string, pin: number): 0 | 1 {
    return this.simulator.devices.get(chipid)?.levels[pin] === '1' ? 1 : 0;
  }

  /** @param isHeard whether a node may keep the channel of the device open */
  async upload(chipid: string, payload: unknown, isHeard: boolean): Promise<void> {
    if (isHeard) await this.#channels([chipid]);
    this.simulator.upload(chipid, payload);
  }

  /**
   * Plays a recording to its end.
   * @param goesOn whether there is still somebody to play it to
   * @throws an Error if it cannot be read, or takes too long
   */
  async play(file: string, speed: number, isHeard: boolean, goesOn: () => boolean): Promise<void> {
    if (isHeard) await this.#channels(await chipidsRecorded(file));
    const playing = await this.simulator.play({ file, speed });
    const limit = performance.now() + LONGEST;
    while (playing.state === 'playing' && goesOn()) {
      if (performance.now() > limit)
        throw new Error(`${file} plays longer than an hour. Choose a higher "speed".`);
      await sleep(LOOK);
    }
    if (playing.state === 'failed') await playing.done;
    playing.stop();
  }

  /** Waits until the channels of devices are open, each at most once. */
  async #channels(chipids: readonly string[]): Promise<void> {
    const limit = performance.now() + CHANNEL;
    const missing = (): string[] =>
      chipids.filter((each) => !this.#unheard.has(each) && this.simulator.channels(each) === 0);
    while (missing().length > 0) {
      if (performance.now() > limit) missing().forEach((each) => this.#unheard.add(each));
      else await sleep(LOOK);
    }
  }

  change(chipid: string, { asleep, offline, fails, pins = {} }: GivenDevice): void {
    const { simulator } = this;
    for (const [pin, level] of Object.entries(pins)) simulator.setPin(chipid, Number(pin), level);
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

/** Chip numbers that a test names. */
export const chipidsOf = (given: readonly Given[]): string[] =>
  given.flatMap((each) => ('chipid' in each ? [each.chipid] : []));

/** The devices of a recording that have uploaded. @throws RecordingError if it cannot be read */
export async function chipidsRecorded(file: string): Promise<string[]> {
  const found = new Set<string>();
  const recording = await Recording.open(file);
  for await (const lines of recording.lines())
    for (const line of lines)
      if (line.kind === 'upload' && found.size < MAX_DEVICES) found.add(line.chipid);
  return [...found];
}
