import type { Channels } from '../channel/pool';
import type { Ownership } from '../channel/ownership';
import type { ChannelPush } from '../channel/push';
import { CALLING } from '../commands/outcome';
import type { ApplicationPins, KeepDeps, KeptPins } from '../commands/keep';
import type { CommandLock } from '../commands/queue';
import type { Book } from '../fleet/book';
import type { OtherLatest } from '../fleet/latest';
import type { FleetRegistry } from '../fleet/registry';
import type { WatchShare } from '../fleet/watch/watch-types';
import { CLOSED, type Deadlines } from '../http/deadline';
import type { Listen, Listening } from '../recovery/listen';
import { clusterOf } from './cluster';
import { compareBooks, remoteLatest, shareWatches } from './fleet';
import { Following, type Follow } from './followed';
import { Keepers } from './keepers';
import { LeftCalls } from './left-calls';
import { shareListening } from './listening';
import { passUploads } from './passing';
import { SharedPins } from './pins';
import { remotePush } from './remote-push';
import { SharedCalls } from './waiting';
import type { ClusterMember } from './types';

export { Cluster, clusterOf } from './cluster';
export { openRedisStore } from './redis/redis-store';
export { StoreError } from './store';
export { SharedValue } from './values';

/** What the parts of a client are made with if several processes share its devices. */
export interface Sharing {
  readonly ownership: Ownership;
  /** Runs commands of all processes, one at a time for each device. */
  readonly lock: CommandLock;
  readonly latest: OtherLatest;
  readonly watches: WatchShare;
  /** The commands of the other processes that wait, and where they are kept. */
  readonly calls: SharedCalls;
  /** Has the pins of all processes kept, each by the one that has the device. @param make makes what keeps those of this process */
  readonly pins: (make: (shared: KeepDeps['shared']) => KeptPins) => ApplicationPins;
  /** Makes the parts that work over channels of any process, from the parts of this process alone. Called once. */
  readonly over: (local: {
    readonly channels: Channels;
    readonly listening: Listening;
    readonly channelPush: ChannelPush;
    readonly deadlines: Deadlines;
  }) => {
    readonly listen: Listen;
    /** Follows the uploads of a device for a part of the client, in whichever process its channel is. */
    readonly recover: Follow;
    /** The same without recovery. */
    readonly join: Follow;
    readonly channelPush: ChannelPush;
  };
  /** Compares the device book with those of other processes. @returns the processes whose book has another content */
  readonly compareBook: (book: Book) => () => string[];
  close(): void;
}

/**
 * Shares the devices of a client with other processes.
 * @param gap milliseconds between two commands to one device
 * @param explain why a signal aborted, without secrets
 * @param registry has what this process knows of the devices
 * @throws DeviceCloudError `NOT_CONFIGURED` if the member is not what `joinCluster` has returned
 */
export function share(
  member: ClusterMember,
  gap: number,
  explain: (signal: AbortSignal) => string,
  registry: FleetRegistry,
): Sharing {
  const cluster = clusterOf(member);
  const bus = cluster.openBus();
  const latest = remoteLatest(cluster, bus, registry);
  const watches = shareWatches(cluster, bus);
  const calls = new SharedCalls(cluster, bus);
  const keepers = new Keepers(cluster, bus);
  const ends = [latest, watches, calls, keepers, new LeftCalls(cluster)].map(
    (each) => () => each.close(),
  );
  let isClosed = false;

  const lock: CommandLock = (chipid, longest, { signal, progress }, command) => {
    let hasWaited = false;
    const run = (): ReturnType<typeof command> => {
      if (hasWaited) progress?.(CALLING);
      return command();
    };
    return cluster.withLock(chipid, longest, run, {
      gap,
      onWait() {
        hasWaited = true;
        progress?.({ state: 'awaiting-cluster' });
      },
      ended: () => (isClosed ? CLOSED : signal?.aborted ? explain(signal) : undefined),
    });
  };

  return {
    ownership: {
      access: (chipid) => cluster.access(chipid),
      mayEmit: (chipid) => cluster.mayEmit(chipid),
      reason: 'CLUSTER',
    },
    ...{ lock, latest, watches, calls },
    pins: (make) => new SharedPins(cluster, bus, keepers, make),
    over({ channels, listening, channelPush, deadlines }) {
      const shared = shareListening(cluster, listening, channels);
      const endPassing = passUploads(cluster, bus, listening, shared.history);
      const following = new Following(cluster, bus, listening, channels);
      // Processes that wait for a device ask its new owner.
      const moved = (): void => bus.post(undefined, 'moved', {});
      bus.on('moved', () => {
        following.requestAll();
        cluster.lookSoon();
      });
      const checkAccess = (): void => channels.checkAccess();
      const leave = cluster.listen({
        onShare() {
          following.update();
          moved();
          // After all listeners: they leave the channels of devices that have gone, and join the channels of new ones.
          checkAccess();
        },
        onState: checkAccess,
        onResumed: checkAccess,
        onMembers: () => following.requestAll(),
      });
      moved();
      ends.push(
        leave,
        () => shared.close(),
        endPassing,
        () => following.close(),
      );
      const { follow } = following;
      return {
        ...{ listen: shared.listen, recover: follow, join: follow },
        channelPush: remotePush(cluster, bus, follow, channelPush, deadlines),
      };
    },
    compareBook(book) {
      const compared = compareBooks(cluster, bus, book);
      ends.push(() => compared.close());
      return () => compared.differing();
    },
    /** Ends the waiting commands, too. */
    close() {
      isClosed = true;
      for (const end of ends) end();
      bus.close();
    },
  };
}
