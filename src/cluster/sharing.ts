import type { Channels } from '../channel/pool';
import type { Ownership } from '../channel/ownership';
import type { ChannelPush } from '../channel/push';
import { CALLING } from '../commands/outcome';
import type { ApplicationPins, KeepDeps, KeptPins } from '../commands/pins';
import type { CommandLock } from '../commands/queue';
import type { Book } from '../fleet/book';
import type { FleetRegistry } from '../fleet/registry';
import { CLOSED, type Deadlines } from '../http/deadline';
import type { Listening } from '../recovery/listen';
import { clusterOf } from './cluster';
import { compareBooks, remoteLatest, shareWatches } from './fleet';
import { Following } from './followed';
import { Keepers } from './keepers';
import { endLeftCalls } from './left-calls';
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
export type Sharing = ReturnType<typeof share>;

interface LocalParts {
  readonly channels: Channels;
  readonly listening: Listening;
  readonly channelPush: ChannelPush;
  readonly deadlines: Deadlines;
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
) {
  const cluster = clusterOf(member);
  const bus = cluster.openBus();
  const latest = remoteLatest(cluster, bus, registry);
  const watches = shareWatches(cluster, bus);
  const calls = new SharedCalls(cluster, bus);
  const keepers = new Keepers(cluster, bus);
  const ends = [watches, calls, keepers, endLeftCalls(cluster)].map((each) => () => each.close());
  let isClosed = false;

  const lock: CommandLock = (chipid, longest, { signal, progress }, command) => {
    let hasWaited = false;
    const run = (): ReturnType<typeof command> => {
      if (hasWaited) progress?.(CALLING);
      return command();
    };
    return cluster.locks.run(chipid, longest, run, {
      gap,
      onWait() {
        hasWaited = true;
        progress?.({ state: 'awaiting-cluster' });
      },
      ended: () => (isClosed ? CLOSED : signal?.aborted ? explain(signal) : undefined),
    });
  };

  const ownership: Ownership = {
    access: (chipid) => cluster.access(chipid),
    mayEmit: (chipid) => cluster.mayEmit(chipid),
    reason: 'CLUSTER',
  };

  return {
    ...{ ownership, lock, latest, watches, calls },
    /** Has the pins of all processes kept, each by the one that has the device. @param make makes what keeps those of this process */
    pins: (make: (shared: KeepDeps['shared']) => KeptPins): ApplicationPins =>
      new SharedPins(cluster, bus, keepers, make),
    /** Makes the parts that work over channels of any process, from the parts of this process alone. Called once. */
    over({ channels, listening, channelPush, deadlines }: LocalParts) {
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
        listen: shared.listen,
        // With and without recovery, in whichever process the channel is.
        ...{ recover: follow, join: follow },
        channelPush: remotePush(cluster, bus, follow, channelPush, deadlines),
      };
    },
    /** Compares the device book with those of other processes. @returns the processes whose book has another content */
    compareBook(book: Book): () => string[] {
      const compared = compareBooks(cluster, bus, book);
      ends.push(() => compared.close());
      return () => compared.differing();
    },
    /** Ends the waiting commands, too. */
    close(): void {
      isClosed = true;
      for (const end of ends) end();
      bus.close();
    },
  };
}
