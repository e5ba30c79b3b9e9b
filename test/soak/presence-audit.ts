import type { Note } from './notes';

type Event = Extract<Note, { what: 'event' }>;

/** The devices whose presence is judged. */
export interface World {
  /** Those that were never away. */
  chipids: readonly string[];
  /** Those that came and went. */
  peers: readonly string[];
  /** When everything had healed, in ms: from then on all devices are awake. */
  calmAt: number;
}

/** What is wrong in the events of one device, in order, some of them from before a kill. */
function judge(events: readonly Event[], isPeer: boolean, calmAt: number): string[] {
  const wrong: string[] = [];
  events.forEach(({ event, life }, index) => {
    const before = events[index - 1];
    // A start emits the state once more.
    if (before?.event === event && before.life === life) wrong.push(`${event} twice`);
    if (!isPeer && event === 'offline') wrong.push('offline, and was not away');
  });
  const healed = events.filter(({ at }) => at >= calmAt).map(({ event }) => event);
  const online = healed.indexOf('online');
  if (online >= 0 && healed.lastIndexOf('offline') > online)
    wrong.push('offline again after everything had healed');
  if (events.at(-1)?.event === 'offline') wrong.push('offline in the end');
  return wrong;
}

/** @returns what is wrong in the events of presence, in words */
export function auditPresence(
  events: readonly Event[],
  { chipids, peers, calmAt }: World,
): string[] {
  const devices = [...chipids, ...peers].flatMap((chipid) => {
    const own = events.filter((each) => each.chipid === chipid);
    return judge(own, peers.includes(chipid), calmAt).map((each) => `${chipid} is ${each}`);
  });
  const last = events.findLast(({ chipid }) => chipid === undefined);
  const isUnknown = last?.event === 'unknown' && last.life === events.at(-1)?.life;
  return isUnknown ? [...devices, 'the list is unknown in the end'] : devices;
}
