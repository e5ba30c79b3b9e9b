import {
  DeviceCloudClient,
  joinCluster,
  type ClientOptions,
  type ClusterMember,
  type ClusterSettings,
} from '../../src/index';
import { FaultLog } from '../common/fault-log';

/** Milliseconds that a membership outlives its last user: a deploy ends one user and begins the next. */
const KEPT = 2000;

/** A use of a membership, which may be shared. */
export interface MembershipUse {
  /**
   * Joins, and makes the client of all who use the membership, since a process has one channel for each device. It is
   * closed with the last use.
   * @returns undefined while it is used with other options
   * @throws DeviceCloudError `NOT_CONFIGURED` if the settings are wrong or a package is missing
   */
  client(options: ClientOptions): Promise<DeviceCloudClient | undefined>;
  /** Ends the use. @returns a promise that resolves once the devices are free for others, if that is to be now */
  leave(): Promise<void>;
}

interface UsedClient {
  readonly options: string;
  readonly made: DeviceCloudClient;
  users: number;
}

interface Membership {
  readonly settings: string;
  readonly ready: Promise<ClusterMember>;
  readonly log: FaultLog;
  client: UsedClient | undefined;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

/** This process's memberships: one for each cluster and application, whichever nodes use it. */
export class Memberships {
  readonly #memberships = new Map<string, Membership>();

  /**
   * @param cluster the id of the config node: its membership is given up if it has other settings now
   * @param isStopping whether the end of the last use frees the devices at once, or a next one may follow
   * @param warn logs the faults of the cluster, if this is the first use: once, however many nodes use it
   */
  use(
    cluster: string,
    settings: ClusterSettings,
    isStopping: () => boolean,
    warn: (line: string) => void,
  ): MembershipUse {
    const key = JSON.stringify([cluster, settings.application]);
    const membership = this.#membership(key, settings, warn);
    membership.users++;
    clearTimeout(membership.timer);
    let client: UsedClient | undefined;
    let isOver = false;
    return {
      client: async (options) => {
        client = await this.#client(membership, options);
        return client?.made;
      },
      leave: async () => {
        if (isOver) return;
        isOver = true;
        if (client && --client.users === 0) {
          // The next user makes another.
          membership.client = undefined;
          await client.made.close();
        }
        if (--membership.users > 0) return;
        const end = (): Promise<void> => this.#end(key, membership);
        if (isStopping()) await end();
        else membership.timer = setTimeout(() => void end(), KEPT);
      },
    };
  }

  async #client(membership: Membership, options: ClientOptions): Promise<UsedClient | undefined> {
    const cluster = await membership.ready;
    const text = JSON.stringify(options);
    const client = (membership.client ??= {
      ...{ options: text, made: new DeviceCloudClient({ ...options, cluster }), users: 0 },
    });
    if (client.options !== text) return undefined;
    client.users++;
    return client;
  }

  #membership(key: string, settings: ClusterSettings, warn: (line: string) => void): Membership {
    const text = JSON.stringify(settings);
    const known = this.#memberships.get(key);
    if (known?.settings === text) return known;
    // One that waits for its next user is not in use.
    if (known?.users === 0) void this.#end(key, known);
    const ready = joinCluster(settings);
    const log = new FaultLog(warn);
    const membership: Membership = {
      ...{ settings: text, ready, log },
      ...{ client: undefined, users: 0, timer: undefined },
    };
    this.#memberships.set(key, membership);
    ready.then(
      (member) => member.listen({ onFault: (fault, kind = fault) => log.write(kind, fault) }),
      // The next user tries again.
      () => this.#forget(key, membership),
    );
    return membership;
  }

  #forget(key: string, membership: Membership): void {
    if (this.#memberships.get(key) === membership) this.#memberships.delete(key);
  }

  /** Never rejects: an engine that cannot be reached frees the devices by itself. */
  async #end(key: string, membership: Membership): Promise<void> {
    clearTimeout(membership.timer);
    this.#forget(key, membership);
    await membership.ready.then((member) => member.close()).catch(() => undefined);
    membership.log.close();
  }
}
