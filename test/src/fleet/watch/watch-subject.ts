import type { ChannelState } from '../../../../src/channel/listener';
import { DeviceCloudError } from '../../../../src/errors';
import { type ListUser, sortList } from '../../../../src/fleet/list-poller';
import { FleetRegistry } from '../../../../src/fleet/registry';
import { Watch } from '../../../../src/fleet/watch/watch';
import { readWatchOptions } from '../../../../src/fleet/watch/watch-types';
import type {
  FleetEvent,
  WatchListener,
  WatchOptions,
} from '../../../../src/fleet/watch/watch-types';
import { MEMORY, Store } from '../../../../src/store/store';
import type { DeviceRecord, Upload } from '../../../../src/types';
import { tick } from '../../../support/clock';

const record = (chipid: unknown, name: unknown = null): DeviceRecord =>
  ({ chipid, name }) as DeviceRecord;

/** An application of which a test says what happens. Its clock, and the timers, are mocked. */
export class World {
  /** By how much the clock of the machine has been set; the timers do not know of it. */
  ahead = 0;
  readonly now = (): number => Date.now() + this.ahead;
  readonly registry = new FleetRegistry(this.now);
  #users: ListUser[] = [];

  /** Starts a watch, whose events are written down as `10000001 online`. */
  watch(
    options: WatchOptions = {},
    store = new Store(MEMORY),
    more: Partial<WatchListener> = {},
  ): Watched {
    const events: FleetEvent[] = [];
    const poller = {
      poll: (_ms: number, user: ListUser) => {
        this.#users = [...this.#users, user];
        return () => void (this.#users = this.#users.filter((each) => each !== user));
      },
    };
    const source = {
      appid: '10001',
      registry: this.registry,
      poller,
      now: this.now,
      clock: Date.now,
      keeping: { store, node: 'events', owns: () => true },
    };
    const listener = { onEvent: (event: FleetEvent) => void events.push(event), ...more };
    return new Watched(new Watch(source, readWatchOptions(options), listener), events, store);
  }

  /** A reading of the list: chip numbers, or whole records. */
  read(devices: readonly unknown[], polled = true, at = this.now()): void {
    const records = devices.map((each) =>
      typeof each === 'object' ? (each as DeviceRecord) : record(each),
    );
    const reading = { at, polled, ...sortList(records) };
    this.registry.applyList(reading);
    for (const user of this.#users) user.onReading?.(reading);
  }

  fail(times = 1): void {
    const error = new DeviceCloudError('UNREACHABLE', 'The service cannot be reached.');
    for (let i = 0; i < times; i++) for (const user of this.#users) user.onReadError?.(error);
  }

  upload(chipid: string): void {
    const body = Buffer.from('x');
    this.registry.onLive({ chipid, appid: '10001', timestamp: Date.now(), body } as Upload);
  }

  channel(chipid: string, state: ChannelState, reason?: string): void {
    this.registry.onState(chipid, state, reason);
  }

  pass(seconds: number): void {
    tick(seconds * 1000);
  }
}

/** A watch and what it has emitted. */
export class Watched {
  constructor(
    readonly watch: Watch,
    readonly events: FleetEvent[],
    readonly store: Store,
  ) {}

  /** What it has kept, in another store. */
  async kept(): Promise<Store> {
    await new Promise(setImmediate);
    const store = new Store(MEMORY);
    for (const [key, value] of this.store.list('event:events:'))
      store.update(key, JSON.parse(JSON.stringify(value)));
    return store;
  }

  /** What has been emitted since the last call, as `online 10000001`. */
  emitted(): string[] {
    return this.events
      .splice(0)
      .map(({ event, chipid }) => (chipid === undefined ? event : `${event} ${chipid}`));
  }
}
