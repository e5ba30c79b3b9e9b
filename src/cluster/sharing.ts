import type { Channels } from '../channel/pool';
import type { Ownership } from '../channel/ownership';
import type { ChannelPush } from '../channel/push';
import type { CommandLock } from '../commands/lock';
import type { OtherLatest } from '../fleet/latest';
import type { FleetRegistry } from '../fleet/registry';
import type { WatchShare } from '../fleet/watch/watch-types';
import type { Deadlines } from '../http/deadline';
import type { Listen, Listening } from '../recovery/listen';
import { commandLock } from './command-lock';
import { createFollowing, type Follow } from './followed';
import { shareListening } from './listening';
import { clusterOf } from './member';
import { passUploads } from './passing';
import { knownUploads, remoteLatest } from './remote-latest';
import { remotePush } from './remote-push';
import { shareWatches } from './shared-watches';
import type { ClusterMember } from './types';

/** What the parts of a client are made with if several processes share its devices. */
export interface Sharing {
  readonly ownership: Ownership;
  /** Runs commands of all processes, one at a time for each device. */
  readonly lock: CommandLock;
  readonly latest: OtherLatest;
  readonly watches: WatchShare;
  /** Makes the parts that work over channels of any process. Called once. */
  readonly over: (local: LocalParts) => SharedParts;
  close(): void;
}

/** The parts of this process alone. */
export interface LocalParts {
  readonly channels: Channels;
  readonly listening: Listening;
  readonly channelPush: ChannelPush;
  readonly deadlines: Deadlines;
}

/** Those parts, over channels of any process. */
export interface SharedParts {
  readonly listen: Listen;
  /** Follows the uploads of a device for a part of the client, in whichever process its channel is. */
  readonly recover: Follow;
  /** The same without recovery. */
  readonly join: Follow;
  readonly channelPush: ChannelPush;
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
  const lock = commandLock(cluster.withLock, gap, explain);
  const latest = remoteLatest(cluster, bus, (chipid) => knownUploads(registry, chipid));
  const watches = shareWatches(cluster, bus);
  const ends: (() => void)[] = [];

  const over = ({ channels, listening, channelPush, deadlines }: LocalParts): SharedParts => {
    const shared = shareListening(cluster, listening, channels);
    const endPassing = passUploads(cluster, bus, listening, shared.history);
    const following = createFollowing(cluster, bus, { listening, channels });
    // Processes that wait for a device ask its new owner.
    const moved = (): void => bus.post(undefined, 'moved', {});
    bus.on('moved', () => {
      following.requestAll();
      cluster.lookSoon();
    });
    const leave = cluster.listen({
      onShare() {
        following.update();
        moved();
        // After all listeners: they leave the channels of devices that have gone, and join the channels of new ones.
        channels.checkAccess();
      },
      onState: () => channels.checkAccess(),
      onResumed: () => channels.checkAccess(),
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
  };

  return {
    ownership: {
      access: (chipid) => cluster.access(chipid),
      mayEmit: (chipid) => cluster.mayEmit(chipid),
      reason: 'CLUSTER',
    },
    ...{ lock: lock.run, latest, watches, over },
    close() {
      lock.close();
      for (const end of ends) end();
      latest.close();
      watches.close();
      bus.close();
    },
  };
}
