import { auditPresence, type World } from './presence-audit';
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
  if (ends.length > 1 || (isLast && ends.length === 0))
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
