import type { Bus } from '../cluster/bus';
import type { Cluster } from '../cluster/cluster';

/** Milliseconds in which changes are collected. */
const COLLECT = 200;

/** Devices in one message. */
const MOST = 1000;

/** The state of one device of a watch, whose first element is the chip number; the watch knows the rest. */
export type WatchedState = readonly [chipid: string, ...rest: unknown[]];

/** A watch that runs in several processes. */
export interface SharedWatch {
  /** By which its counterparts in other processes are recognised: it has the same options there. */
  readonly key: string;
  states(): Iterable<WatchedState>;
  /** Takes the state of a device from the process that has it, whatever that has sent. */
  take(state: unknown): void;
  /** Devices of other processes may be this one's by now, or their events may be emitted again. */
  moved(): void;
}

/** A watch's place among the processes. */
export interface WatchPlace {
  /** A device of this process has changed. */
  changed(chipid: string): void;
  leave(): void;
}

/** Which process emits the events of a watch. */
export interface WatchShare {
  /** Whether this process emits the events of a device at this moment. */
  mayEmit(chipid: string): boolean;
  /** Whether it emits those that concern all devices. */
  readonly emitsForAll: boolean;
  join(watch: SharedWatch): WatchPlace;
}

/**
 * The watches of a client. The owner of a device emits its events, and shows its state to the others: the next
 * owner emits what changes from there on, and repeats nothing.
 */
export class SharedWatches implements WatchShare {
  private readonly watches = new Map<SharedWatch, Set<string>>();
  private readonly leave: () => void;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly cluster: Pick<
      Cluster,
      'owns' | 'mayEmit' | 'listen' | 'state' | 'members' | 'member'
    >,
    private readonly bus: Pick<Bus, 'on' | 'post'>,
  ) {
    bus.on('watched', ({ key, devices }) => this.take(key, devices));
    bus.on('watching', ({ key }, from) => this.show(key, from));
    const moved = (): void => {
      for (const watch of this.watches.keys()) watch.moved();
    };
    this.leave = cluster.listen({
      onShare: () => {
        // Who has the devices next is to know before.
        this.flush();
        moved();
      },
      onResumed: moved,
      onState: (state) => {
        // What others have shown meanwhile, or before the first beat, did not arrive.
        if (state === 'member') this.ask(this.watches.keys());
      },
    });
  }

  mayEmit(chipid: string): boolean {
    return this.cluster.mayEmit(chipid);
  }

  get emitsForAll(): boolean {
    const { state, members, member } = this.cluster;
    return state === 'member' && members[0] === member;
  }

  join(watch: SharedWatch): WatchPlace {
    const changed = new Set<string>();
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
        this.watches.delete(watch);
      },
    };
  }

  close(): void {
    this.leave();
    clearTimeout(this.timer);
    this.watches.clear();
  }

  /** Shows what has changed. */
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

  /** Asks the others what they know. */
  private ask(watches: Iterable<SharedWatch>): void {
    for (const { key } of watches) this.bus.post(undefined, 'watching', { key });
  }

  /** Another process has begun to watch. */
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

  private take(key: unknown, devices: unknown): void {
    if (!Array.isArray(devices)) return;
    for (const watch of this.watches.keys()) {
      if (watch.key !== key) continue;
      for (const device of devices.slice(0, MOST) as unknown[]) watch.take(device);
    }
  }
}
