import events from '@node-red/util/lib/events';
import { until } from '../../tooling/until';

/** The open resources of the process, such as sockets and timers, and who listens to it, counted by kind. */
export type Held = Readonly<Record<string, number>>;

function count(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  for (const [name, emitter] of Object.entries({ process, events }))
    for (const event of emitter.eventNames())
      counts[`listeners of ${name}: ${String(event)}`] = emitter.listenerCount(event);
  return counts;
}

/** What is held once the files are through that Node-RED or the test runner is reading or writing. */
export async function held(): Promise<Held> {
  await until(() => count()['FSReqCallback'] === undefined, 'no file is being read or written');
  return count();
}

/** Waits until no more is held than before. */
export async function nothingMore(before: Held): Promise<void> {
  const more = (): string[] =>
    Object.entries(count()).flatMap(([kind, number]) =>
      number > (before[kind] ?? 0) ? `${number} ${kind}` : [],
    );
  await until(() => more().length === 0, 'no more is held than before').catch((error: unknown) => {
    throw new Error(`${more().join(', ')} held, before ${JSON.stringify(before)}`, {
      cause: error,
    });
  });
}
