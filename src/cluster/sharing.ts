import type { Channels } from '../channel/pool';
import { createChannelPush, type ChannelPush } from '../channel/push';
import type { ChannelListener } from '../channel/listener';
import { clusterOf } from './join';
import type { Cluster } from './cluster';
import type { ClusterMember } from './types';
import type { Deadlines } from '../http/deadline';
import type { Listening } from '../recovery/listen';
import type { RecoverOptions } from '../recovery/options';
import type { CommandLock } from '../commands/lock';
import { ExclusiveCommands } from './exclusive';
import { Followed } from './followed';
import { Passing } from './passing';
import type { KnownUpload } from '../fleet/latest';
import { RemoteLatest } from './remote-latest';
import { RemotePush } from './remote-push';
import { SharedListening } from './shared-listening';
import { SharedWatches } from './shared-watches';
import { Wants } from './wants';

/** The parts of a client that work with the other processes of its cluster. */
export interface Sharing {
  readonly cluster: Cluster;
  readonly listening: SharedListening;
  /** Runs commands of all processes, one at a time for each device. */
  readonly exclusive: CommandLock;
  /** Follows the uploads of a device, in whichever process its channel is. */
  readonly follow: (
    chipid: string,
    listener: ChannelListener,
    recover?: RecoverOptions,
  ) => Followed;
  /** Pushes over a channel, in whichever process it is. */
  readonly channelPush: ChannelPush;
  readonly latest: RemoteLatest;
  readonly watches: SharedWatches;
  close(): void;
}

/** The parts of a client that sharing needs. */
export interface SharedParts {
  readonly listening: Listening;
  readonly channels: Channels;
  readonly deadlines: Deadlines;
  /** Milliseconds between two commands to one device. */
  readonly gap: number;
  /** Why a signal aborted, without secrets. */
  readonly explain: (signal: AbortSignal) => string;
  /** The latest upload of a device that is known here, or of all. */
  readonly known: (chipid: string | undefined) => Iterable<KnownUpload>;
}

/** @throws DeviceCloudError `NOT_CONFIGURED` if it is not what `joinCluster` has returned */
export function share(member: ClusterMember, parts: SharedParts): Sharing {
  const cluster = clusterOf(member);
  const { listening, channels, deadlines, gap, explain, known } = parts;
  const bus = cluster.openBus();
  const exclusive = new ExclusiveCommands(cluster, gap, explain);
  const shared = new SharedListening(cluster, listening, channels);
  const passing = new Passing(cluster, bus, listening, () => shared.history);
  const wants = new Wants(bus, () =>
    cluster.report('an upload of another process was malformed, and ignored', 'upload'),
  );
  const followed = new Set<Followed>();
  let endUse: (() => void) | undefined;
  const follow: Sharing['follow'] = (chipid, listener, recover) => {
    const one = new Followed(chipid, listener, recover, {
      ...{ cluster, listening, channels, wants },
      released() {
        followed.delete(one);
        if (followed.size > 0) return;
        endUse?.();
        endUse = undefined;
      },
    });
    followed.add(one);
    endUse ??= cluster.use('follows');
    return one.start();
  };
  // Processes that wait for a device ask its new owner.
  const moved = (): void => bus.post(undefined, 'moved', {});
  bus.on('moved', () => {
    wants.requestAll();
    cluster.lookSoon();
  });
  const leave = cluster.listen({
    onShare() {
      for (const one of [...followed]) one.update();
      moved();
      // After all listeners, which leave the channels of devices that have moved, and join those that came.
      channels.checkAccess();
    },
    onState: () => channels.checkAccess(),
    onResumed: () => channels.checkAccess(),
    onMembers: () => wants.requestAll(),
  });
  moved();
  const local = createChannelPush(channels, deadlines);
  const channelPush = new RemotePush({ cluster, bus, local, deadlines, follow });
  const latest = new RemoteLatest(cluster, bus, known);
  const watches = new SharedWatches(cluster, bus);
  return {
    ...{
      cluster,
      watches,
      listening: shared,
      exclusive: exclusive.run,
      follow,
      channelPush,
      latest,
    },
    close() {
      leave();
      exclusive.close();
      shared.close();
      passing.close();
      for (const one of [...followed]) one.release();
      wants.close();
      latest.close();
      watches.close();
      bus.close();
    },
  };
}
