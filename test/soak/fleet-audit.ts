import { ANOTHER, type Kind, type Note } from './notes';

/** What became of requests, of commands that waited, and of presence. */
export interface FleetAudit {
  requests: number;
  replied: number;
  held: number;
  sent: number;
  /** Events `online` and `offline`. */
  presence: number;
  /** Events `unknown` and `known`. */
  unknown: number;
  /** Each thing that must not be, in words. */
  wrong: string[];
}

type Event = Extract<Note, { what: 'event' }>;

/** The devices whose presence is judged. */
interface World {
  /** Those that were never away. */
  chipids: readonly string[];
  /** Those that came and went. */
  peers: readonly string[];
  /** When everything had healed, in ms: from then on all devices are awake. */
  calmAt: number;
}

/** What is wrong in the events of one device, in order, some of them from before a kill. */
function judgePresence(events: readonly Event[], isPeer: boolean, calmAt: number): string[] {
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
function auditPresence(events: readonly Event[], { chipids, peers, calmAt }: World): string[] {
  const devices = [...chipids, ...peers].flatMap((chipid) => {
    const own = events.filter((each) => each.chipid === chipid);
    return judgePresence(own, peers.includes(chipid), calmAt).map((each) => `${chipid} is ${each}`);
  });
  const last = events.findLast(({ chipid }) => chipid === undefined);
  const isUnknown = last?.event === 'unknown' && last.life === events.at(-1)?.life;
  return isUnknown ? [...devices, 'the list is unknown in the end'] : devices;
}

type Asked = Extract<Note, { what: 'asked' }>;
type Ended = Extract<Note, { what: 'ended' }>;

/** Errors of a command that was certainly not sent. */
const NOT_SENT = ['EXPIRED', 'UNREACHABLE', 'QUEUE_FULL', 'NOT_CONNECTED', 'INVALID_INPUT'];

const of = <W extends Note['what']>(notes: readonly Note[], what: W) =>
  notes.filter((note): note is Extract<Note, { what: W }> => note.what === what);

function endsOf(notes: readonly Note[]): Map<string, Ended[]> {
  const ends = new Map<string, Ended[]>();
  for (const end of of(notes, 'ended')) {
    const own = ends.get(end.serial);
    if (own) own.push(end);
    else ends.set(end.serial, [end]);
  }
  return ends;
}

/** How many messages have not ended, of the process that is alive. */
export function unsettled(notes: readonly Note[]): number {
  const ends = endsOf(notes);
  const life = notes.at(-1)?.life;
  return of(notes, 'asked').filter((each) => each.life === life && !ends.has(each.serial)).length;
}

/** @param isLast whether its process was not killed */
function judge(
  { kind, serial }: Asked,
  ends: readonly Ended[],
  acted: number,
  isLast: boolean,
): string[] {
  const [code] = ends.map((end) => end.code);
  const wrong: string[] = [];
  // A process that is killed right after it has passed an outcome on has the next one pass it on again.
  const lives = new Set(ends.map(({ life }) => life));
  if (ends.length > lives.size || (isLast && ends.length === 0))
    wrong.push(`was settled ${ends.length} times`);
  if (acted > 1) wrong.push(`acted ${acted} times`);
  if (code === 'ok' && acted === 0) wrong.push('succeeded and did not act');
  if (code === ANOTHER) wrong.push(`got ${code}`);
  if (code && NOT_SENT.includes(code) && acted > 0) wrong.push(`acted, and says ${code}`);
  return wrong.map((each) => `${kind} ${serial} ${each}`);
}

/**
 * Judges the outcome of requests, commands and presence.
 * @param acted how often each serial arrived at its device
 */
export function auditFleet(
  notes: readonly Note[],
  acted: Readonly<Record<string, number>>,
  world: World,
): FleetAudit {
  const asked = of(notes, 'asked');
  const ended = of(notes, 'ended');
  const events = of(notes, 'event');
  const ends = endsOf(notes);
  const life = notes.at(-1)?.life;
  const count = (kind: Kind) => asked.filter((each) => each.kind === kind).length;
  const good = (kind: Kind) => ended.filter((end) => end.kind === kind && end.code === 'ok').length;
  const presence = events.filter(({ event }) => event === 'online' || event === 'offline').length;
  return {
    requests: count('request'),
    replied: good('request'),
    held: count('held'),
    sent: good('held'),
    presence,
    unknown: events.length - presence,
    wrong: [
      ...asked.flatMap((each) =>
        judge(each, ends.get(each.serial) ?? [], acted[each.serial] ?? 0, each.life === life),
      ),
      ...auditPresence(events, world),
    ],
  };
}
