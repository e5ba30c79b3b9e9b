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
export function endLeftCalls(cluster: Cluster, patience = PATIENCE): { close(): void } {
  const { calls } = cluster.store;
  /** Since when each is seen to be left. */
  let since = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const schedule = (ms: number): void => {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(() => void look(), ms);
  };
  const end = async (stored: StoredCall): Promise<void> => {
    const { id, member } = stored;
    const { call } = readCall(stored) ?? {};
    // A later version of the package may understand it.
    if (!call) return;
    const { chipids, node } = call;
    const [found] = await calls.read([{ id, chipids }]);
    // Another process may have ended it, or has taken it over after all.
    if (!(await calls.remove(member, id, chipids))) return;
    const waited = found?.devices.filter(([, mark]) => mark === '') ?? [];
    if (waited.length === 0) return;
    const others = waited.length > 1 ? ` and ${waited.length - 1} others` : '';
    cluster.report(
      `CANCELLED: no process has the node ${oneLine(node, 64)} any more. Its waiting command to device ${waited[0]?.[0]}${others} was not sent.`,
      `left ${node}`,
    );
  };
  /** Never rejects. */
  async function look(): Promise<void> {
    const { member, members, state } = cluster;
    const now = performance.now();
    try {
      if (state !== 'member' || !members.includes(member)) throw new Error('It is not a member.');
      const left = (await calls.list()).filter((each) => !members.includes(each.member));
      since = new Map(left.map(({ id }) => [id, since.get(id) ?? now]));
      for (const each of left) if (now - (since.get(each.id) ?? now) > patience) await end(each);
      if (left.length > 0) schedule(LOOK);
    } catch {
      // Those that have the nodes may have been cut off from the engine, too.
      for (const id of since.keys()) since.set(id, performance.now());
      schedule(LOOK);
    }
  }
  const lookSoon = (): void => schedule(0);
  const leave = cluster.listen({ onMembers: lookSoon, onState: lookSoon });
  lookSoon();
  return {
    close() {
      isClosed = true;
      leave();
      clearTimeout(timer);
    },
  };
}
