import { oneLine } from '../util/show';
import type { Cluster } from './cluster';
import type { StoredCall } from './store';
import { readCall } from './waiting';

/** Milliseconds in which a process that has the node of a call takes it over, even one that is being started again. */
const PATIENCE = 5 * 60_000;

/** Milliseconds between two looks while there are calls of processes that are gone. */
const LOOK = 5000;

/**
 * Ends the calls that processes have left and whose nodes were removed. Whoever has the node of a call takes it over as soon as
 * its process is gone, so one that stays has none. Not at once: the only process with a newer flow may be starting again.
 */
export class LeftCalls {
  readonly #cluster: Cluster;
  readonly #patience: number;
  /** Since when each is seen to be left. */
  #since = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #leave: () => void;

  constructor(cluster: Cluster, patience = PATIENCE) {
    this.#cluster = cluster;
    this.#patience = patience;
    const look = (): void => this.#schedule(0);
    this.#leave = cluster.listen({ onMembers: look, onState: look });
    look();
  }

  close(): void {
    this.#isClosed = true;
    this.#leave();
    clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#look(), ms);
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    let isAnyLeft = true;
    try {
      const left = await this.#list();
      const now = performance.now();
      this.#since = new Map(left.map(({ id }) => [id, this.#since.get(id) ?? now]));
      isAnyLeft = left.length > 0;
      const isOver = ({ id }: StoredCall): boolean =>
        now - (this.#since.get(id) ?? now) > this.#patience;
      for (const each of left.filter(isOver)) await this.#end(each);
    } catch {
      // Those that have the nodes may have been cut off from the engine, too.
      for (const id of this.#since.keys()) this.#since.set(id, performance.now());
    }
    if (isAnyLeft) this.#schedule(LOOK);
  }

  /** @throws Error if the engine cannot be reached, or it is not known which processes are gone */
  async #list(): Promise<StoredCall[]> {
    const { calls, member, members, state } = this.#cluster;
    if (state !== 'member' || !members.includes(member)) throw new Error('It is not a member.');
    return (await calls.list()).filter((each) => !members.includes(each.member));
  }

  async #end(stored: StoredCall): Promise<void> {
    const { calls } = this.#cluster;
    const { id, member } = stored;
    const { call } = readCall(stored) ?? {};
    // A later version of the package may understand it.
    if (!call) return;
    const { chipids, node } = call;
    const [found] = await calls.read([{ id, chipids }]);
    // Another process may have ended it, or has taken it over after all.
    if (!(await calls.remove(member, id, chipids, true))) return;
    const waited = found?.devices.filter(([, mark]) => mark === '') ?? [];
    if (waited.length === 0) return;
    const others = waited.length > 1 ? ` and ${waited.length - 1} others` : '';
    this.#cluster.report(
      `CANCELLED: no process has the node ${oneLine(node, 64)} any more. Its waiting command to device ${waited[0]?.[0]}${others} was not sent.`,
      `left ${node}`,
    );
  }
}
