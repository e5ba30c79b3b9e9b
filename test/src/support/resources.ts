import assert from 'node:assert/strict';
import { comesToHold } from '../../tooling/until';

/** What keeps the process alive, sockets and timers among it, counted by kind. */
export function resources(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Waits until nothing is left of what came since. */
export async function gone(before: Record<string, number>): Promise<void> {
  const left = (): string[] =>
    Object.entries(resources())
      .filter(
        ([kind, count]) => /Timeout|TCP|TLS|Pipe|Getaddr/.test(kind) && count > (before[kind] ?? 0),
      )
      .map(([kind]) => kind);
  await comesToHold(() => left().length === 0);
  assert.deepEqual(left(), []);
}
