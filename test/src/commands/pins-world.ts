import { TimerQueue } from '../../../src/channel/timer-queue';
import { openApi } from '../../../src/protocol/open-api';
import { KeptPins, type KeepDeps, type KeeperOptions } from '../../../src/commands/pins';
import { DeviceCloudError, isOffline, isSilence, type ErrorCode } from '../../../src/errors';
import { FleetRegistry } from '../../../src/fleet/registry';
import { parseCodes } from '../../../src/protocol/gpio';
import { Store } from '../../../src/store/store';
import type { KeptPin, PinKeeper } from '../../../src/types';
import { settled } from '../../tooling/until';
import { FakeChannels, FakeList } from './waiting-world';
import { tick } from '../../support/clock';
import { MemoryPort } from '../../support/memory-store';

/** A call that has reached a device: when, in seconds, and which. */
export type PinCall = [at: number, call: string];

/** A device whose power and pins a test has in its hand. */
class PinDevice {
  levels = '0000000000';
  isOn = true;
  /** Pins that do not follow. */
  readonly stuck = new Set<number>();
  /** What the next calls fail with. */
  readonly failures: ErrorCode[] = [];
  /** What each set of a pin fails with. */
  refusal: ErrorCode | undefined;

  loseAndRegainPower(): void {
    this.levels = this.levels.replaceAll('1', '0');
  }
}

const NO_KEEPER: PinKeeper = {};
export const optionsOf = (keeper = NO_KEEPER, check = 300): KeeperOptions => ({
  ...{ keeper, id: keeper.id ?? '', check: check * 1000, codes: parseCodes({ 0: 0, 1: 1 }) },
  timeout: 12_000,
});

/** Pins that are kept, on devices, a list and a clock that a test has in its hand. */
export function keepWorld() {
  const began = Date.now();
  const registry = new FleetRegistry(Date.now);
  const list = new FakeList(() => undefined, registry);
  const channels = new FakeChannels(() => undefined, registry);
  const devices = new Map<string, PinDevice>();
  const calls: PinCall[] = [];
  const timers = new TimerQueue(Date.now);
  const deviceOf = (chipid: string): PinDevice => {
    const device = devices.get(chipid) ?? new PinDevice();
    devices.set(chipid, device);
    return device;
  };
  /** Calls that wait for others in the queue of a device, until a test lets them go. */
  const gates: (() => void)[] = [];
  const state = { isQueued: false };
  const turn = async (): Promise<void> => {
    if (state.isQueued) await new Promise<void>((resolve) => gates.push(resolve));
  };
  const reach = (chipid: string, call: string): PinDevice => {
    calls.push([(Date.now() - began) / 1000, `${chipid} ${call}`]);
    const device = deviceOf(chipid);
    const refusal = call === 'read' ? undefined : device.refusal;
    const failure = device.failures.shift() ?? refusal ?? (device.isOn ? undefined : 'TIMEOUT');
    const error = failure && new DeviceCloudError(failure, 'it failed');
    if (!error || isSilence(error))
      registry.onCalled(chipid, error ? (isOffline(error) ? false : null) : true);
    if (error) throw error;
    return device;
  };
  const call: KeepDeps['call'] = async (chipid, make) => {
    await turn();
    const path = make()?.unsigned?.path.split('/');
    if (!path) return undefined;
    const [what, , pin, edge] = path;
    if (what === 'gpio_status')
      return { statusCode: 200, body: { result: reach(chipid, 'read').levels } };
    const device = reach(chipid, `${pin}=${edge}`);
    if (!device.stuck.has(Number(pin)))
      device.levels = Array.from(device.levels, (old, index) =>
        index === Number(pin) ? edge : old,
      ).join('');
    return { statusCode: 200, body: { result: 'OK' } };
  };
  const identity = { appid: '1', appkey: 'key', now: Date.now };
  const port = new MemoryPort();
  const make = (): KeptPins =>
    new KeptPins({
      ...{ api: openApi(identity), order: 'position', channels, list, timers },
      ...{ registry, store: new Store(port), call },
    });
  let pins = make();
  const states: string[] = [];
  const keeper: PinKeeper = {
    id: 'node',
    onState: ({ chipid, pin, wanted, found, state: to }: KeptPin) =>
      void states.push(`${chipid}/${pin} ${String(wanted)} ${String(found)} ${to}`),
    onError: ({ chipid, pin }: KeptPin, { code }: DeviceCloudError) =>
      void states.push(`${chipid}/${pin} ${code}`),
  };

  return {
    ...{ list, channels, calls, timers, states, keeper, gates, state, port },
    device: deviceOf,
    get pins() {
      return pins;
    },
    async keep(chipid: string, pin: number, level: 0 | 1 | null, by = keeper, check = 300) {
      const kept = await pins.keep(chipid, pin, level, optionsOf(by, check));
      await settled(20);
      return kept.state;
    },
    /** Lets time pass, with a reading of the list each minute. */
    async pass(seconds: number): Promise<void> {
      for (let left = seconds; left > 0; left -= 1) {
        tick(1000);
        if ((Date.now() / 1000) % 60 === 0) list.refresh();
        await settled(20);
      }
    },
    /** Ends the process and begins another one, after some seconds. */
    async restart(seconds: number): Promise<void> {
      tick(1000);
      await settled(20);
      pins.close();
      tick(seconds * 1000 - 1000);
      pins = make();
      await pins.restore(optionsOf(keeper));
      await settled(20);
    },
    /** What was called since the last time, and which states were shown. */
    take: () => ({ calls: calls.splice(0).map(([, call]) => call), states: states.splice(0) }),
    left: () => [channels.listeners.size, list.users.length, timers.size],
  };
}
