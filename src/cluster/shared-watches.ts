import type { Bus } from './bus';
import type { SharedWatch, WatchedState, WatchPlace, WatchShare } from '../fleet/watch/watch-types';
import type { Cluster } from './cluster';

/** Milliseconds in which changes are collected. */
const COLLECT = 200;

/** The most devices in one message. */
const MOST = 1000;

/**
 * Whoever holds this device, whether or not it exists, emits the events of all devices: one process at a time, and none
 * that uses no devices.
 */
const OF_ALL = '0';

/**
 * The watches of a client. The owner of a device emits its events and sends its state to the others, so that the next
 * owner continues from there and repeats nothing.
 */
export class SharedWatches implements WatchShare {
  private readonly watches = new Map<SharedWatch, Set<string>>();
  private readonly leave: () => void;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly cluster: Pick<Cluster, 'owns' | 'mayEmit' | 'listen' | 'use'>,
    private readonly bus: Pick<Bus, 'on' | 'post'>,
  ) {
    bus.on('watched', ({ key, devices }) => this.receive(key, devices));
    bus.on('watching', ({ key }, from) => this.show(key, from));
    const moved = (): void => {
      for (const watch of this.watches.keys()) watch.moved();
    };
    this.leave = cluster.listen({
      onShare: () => {
        // The next owner of the devices needs their states first.
        this.flush();
        moved();
      },
      onResumed: moved,
      onState: (state) => {
        // Messages that others sent meanwhile, or before the first beat, did not arrive.
        if (state === 'member') this.ask(this.watches.keys());
      },
    });
  }

  mayEmit(chipid: string): boolean {
    return this.cluster.mayEmit(chipid);
  }

  get emitsForAll(): boolean {
    return this.cluster.mayEmit(OF_ALL);
  }

  join(watch: SharedWatch): WatchPlace {
    const changed = new Set<string>();
    // The owners of the devices emit their events.
    const endUse = this.cluster.use('follows');
    this.watches.set(watch, changed);
    this.ask([watch]);
    return {
      changed: (chipid) => {
        if (!this.cluster.owns(chipid)) return;
        changed.add(chipid);
        this.timer ??= setTimeout(() => this.flush(), COLLECT);
      },
      leave: () => {
        this.flush();
        endUse();
        this.watches.delete(watch);
      },
    };
  }

  close(): void {
    this.leave();
    clearTimeout(this.timer);
    this.watches.clear();
  }

  /** Sends what has changed. */
  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const [watch, changed] of this.watches) {
      if (changed.size === 0) continue;
      const states = [...watch.states()].filter(([chipid]) => changed.has(chipid));
      changed.clear();
      this.post(undefined, watch.key, states);
    }
  }

  /** Requests the states that the others know. */
  private ask(watches: Iterable<SharedWatch>): void {
    for (const { key } of watches) this.bus.post(undefined, 'watching', { key });
  }

  /** Sends the states of a watch to a process that has started to watch. */
  private show(key: unknown, to: string): void {
    const watch = [...this.watches.keys()].find((each) => each.key === key);
    if (!watch) return;
    const mine = [...watch.states()].filter(([chipid]) => this.cluster.owns(chipid));
    this.post(to, watch.key, mine);
  }

  private post(to: string | undefined, key: string, states: readonly WatchedState[]): void {
    for (let first = 0; first < states.length; first += MOST)
      this.bus.post(to, 'watched', { key, devices: states.slice(first, first + MOST) });
  }

  private receive(key: unknown, devices: unknown): void {
    if (!Array.isArray(devices)) return;
    for (const watch of this.watches.keys()) {
      if (watch.key !== key) continue;
      for (const device of devices.slice(0, MOST) as unknown[]) watch.apply(device);
    }
  }
}
