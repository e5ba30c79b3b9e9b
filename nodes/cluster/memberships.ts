import { joinCluster, type ClusterMember, type ClusterSettings } from '../../src/index';

/** Milliseconds that a membership outlives its last user: a deploy ends one user and begins the next. */
const KEPT = 2000;

/** A use of a membership, which may be shared. */
export interface MembershipUse {
  /** Rejects with `NOT_CONFIGURED` if the settings are wrong or a package is missing. */
  readonly ready: Promise<ClusterMember>;
  /** Ends the use. @returns resolves once the devices are free for others, if that is to be now */
  leave(): Promise<void>;
}

interface Membership {
  readonly settings: string;
  readonly ready: Promise<ClusterMember>;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

/** This process's memberships: one for each cluster and application, whichever nodes use it. */
export class Memberships {
  readonly #memberships = new Map<string, Membership>();

  /**
   * @param cluster the id of the config node: its membership is given up if it has other settings now
   * @param isStopping whether the end of the last use frees the devices at once, or a next one may follow
   */
  use(cluster: string, settings: ClusterSettings, isStopping: () => boolean): MembershipUse {
    const key = JSON.stringify([cluster, settings.application]);
    const membership = this.#membership(key, settings);
    membership.users++;
    clearTimeout(membership.timer);
    let isOver = false;
    return {
      ready: membership.ready,
      leave: async () => {
        if (isOver) return;
        isOver = true;
        if (--membership.users > 0) return;
        const end = (): Promise<void> => this.#end(key, membership);
        if (isStopping()) await end();
        else membership.timer = setTimeout(() => void end(), KEPT);
      },
    };
  }

  #membership(key: string, settings: ClusterSettings): Membership {
    const text = JSON.stringify(settings);
    const known = this.#memberships.get(key);
    if (known?.settings === text) return known;
    // Nobody uses one that waits for its next user.
    if (known?.users === 0) void this.#end(key, known);
    const ready = joinCluster(settings);
    const membership: Membership = { settings: text, ready, users: 0, timer: undefined };
    this.#memberships.set(key, membership);
    // Whoever uses it next tries again.
    ready.catch(() => this.#forget(key, membership));
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
  }
}
