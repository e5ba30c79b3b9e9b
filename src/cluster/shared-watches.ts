import type { SharedWatch, WatchedState, WatchShare } from '../fleet/watch/watch-types';
import type { Cluster } from './cluster';
import type { Bus } from './messages';

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
export function shareWatches(
  cluster: Pick<Cluster, 'owns' | 'mayEmit' | 'listen' | 'use'>,
  bus: Pick<Bus, 'on' | 'post'>,
): WatchShare & { close(): void } {
  /** The devices of each watch that have changed. */
  const watches = new Map<SharedWatch, Set<string>>();
  let timer: NodeJS.Timeout | undefined;

  const post = (to: string | undefined, key: string, states: readonly WatchedState[]): void => {
    for (let first = 0; first < states.length; first += MOST)
      bus.post(to, 'watched', { key, devices: states.slice(first, first + MOST) });
  };
  /** Sends what has changed. */
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [watch, changed] of watches) {
      if (changed.size === 0) continue;
      const states = [...watch.states()].filter(([chipid]) => changed.has(chipid));
      changed.clear();
      post(undefined, watch.key, states);
    }
  };
  /** Requests the states that the others know. */
  const request = (key: string): void => bus.post(undefined, 'watching', { key });
  const moved = (): void => {
    for (const watch of watches.keys()) watch.moved();
  };

  bus.on('watched', ({ key, devices }) => {
    if (!Array.isArray(devices)) return;
    for (const watch of watches.keys())
      if (watch.key === key)
        for (const device of devices.slice(0, MOST) as unknown[]) watch.apply(device);
  });
  // A process has started to watch.
  bus.on('watching', ({ key }, from) => {
    const watch = [...watches.keys()].find((each) => each.key === key);
    if (!watch) return;
    const mine = [...watch.states()].filter(([chipid]) => cluster.owns(chipid));
    post(from, watch.key, mine);
  });
  const leave = cluster.listen({
    onShare() {
      // The next owner of the devices needs their states first.
      flush();
      moved();
    },
    onResumed: moved,
    onState(state) {
      // Messages that others sent meanwhile, or before the first beat, did not arrive.
      if (state === 'member') for (const { key } of watches.keys()) request(key);
    },
  });

  return {
    mayEmit: (chipid) => cluster.mayEmit(chipid),
    get emitsForAll() {
      return cluster.mayEmit(OF_ALL);
    },
    join(watch) {
      const changed = new Set<string>();
      // The owners of the devices emit their events.
      const endUse = cluster.use('follows');
      watches.set(watch, changed);
      request(watch.key);
      return {
        changed(chipid) {
          if (!cluster.owns(chipid)) return;
          changed.add(chipid);
          timer ??= setTimeout(flush, COLLECT);
        },
        leave() {
          flush();
          endUse();
          watches.delete(watch);
        },
      };
    },
    close() {
      leave();
      clearTimeout(timer);
      watches.clear();
    },
  };
}
