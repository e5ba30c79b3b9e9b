import { ANOTHER, WISHED_PIN } from './flow';
import type { Kill, Sent, World } from './world';

type Line = readonly string[];

/** Numbers by what they count; those in bold must be 0. */
export type Counts = Record<string, number>;

/** What is printed: counts by their titles, and some of what must not be, in words. */
export interface Verdict {
  tables: Map<string, Counts>;
  wrong: string[];
}

/** Milliseconds from an upload until its position is written, and some more. A kill before that repeats it. */
const WRITTEN = 5000;

/** Codes of commands that were certainly not sent. */
const SURE = new Set([
  ...['UNREACHABLE', 'EXPIRED', 'CANCELLED', 'QUEUE_FULL', 'NOT_CONNECTED', 'INVALID_INPUT'],
]);

const tableOf = <T extends Counts>(all: Map<string, Counts>, title: string, empty: T): T => {
  const table = (all.get(title) as T | undefined) ?? { ...empty };
  all.set(title, table);
  return table;
};

const isExcused = (kills: readonly Kill[], [, pid, , , , , , at]: Line): boolean =>
  kills.some((kill) => kill.pid === pid && kill.at - Number(at) < WRITTEN);

/** Compares uploads with what the processes have written down. @param of what the lines about them begin with */
function judgeUploads(
  world: World,
  sent: readonly Sent[],
  lines: readonly Line[],
  of: 'upload' | 'acked',
  verdict: Verdict,
): void {
  const { isShared, isPublic, kills } = world;
  const uploads = new Map(sent.map((each) => [`${each.chipid} ${each.count}`, each]));
  const tableFor = ({ fault }: Sent) =>
    tableOf(verdict.tables, of === 'upload' ? fault : `acknowledged: ${fault}`, {
      uploads: 0,
      '**lost**': 0,
      '**out of order**': 0,
      'later than in order, as the log says': 0,
      '**wrong body or mark**': 0,
      'given back': 0,
      'doubled without a mark': 0,
      'doubled with a mark': 0,
      '**doubled without a kill**': 0,
      'longest delay, in ms': 0,
    });
  for (const each of sent) tableFor(each).uploads++;
  const latest = new Map<string, number>();
  const seen = new Map<string, Line>();
  for (const line of lines) {
    const [what, pid = '', chipid = '', count = '', hash, marked, altered, at] = line;
    const key = `${chipid} ${count}`;
    const upload = what === of ? uploads.get(key) : undefined;
    if (!upload) continue;
    const table = tableFor(upload);
    const isMarked = marked === 'true';
    const isWhole = hash === '-' || hash === upload.hash;
    const isAltered = isMarked && isPublic && hash === upload.kept;
    if (altered === 'true' ? !isAltered : !isWhole) {
      table['**wrong body or mark**']++;
      verdict.wrong.push(`${line.join(' ')}: was not uploaded so, or has the wrong mark`);
    }
    const first = seen.get(key);
    if (first) {
      table[isMarked ? 'doubled with a mark' : 'doubled without a mark']++;
      if (isShared || (isMarked && isExcused(kills, first))) continue;
      table['**doubled without a kill**']++;
      verdict.wrong.push(`${line.join(' ')}: came before as ${first.join(' ')}`);
      continue;
    }
    seen.set(key, line);
    if (isMarked) table['given back']++;
    const newest = latest.get(chipid) ?? 0;
    if (Number(count) < newest && world.isOrdered(chipid)) {
      if (isMarked && world.saidLate(pid)) table['later than in order, as the log says']++;
      else {
        table['**out of order**']++;
        verdict.wrong.push(`${line.join(' ')}: came after ${newest}`);
      }
    }
    latest.set(chipid, Math.max(newest, Number(count)));
    const delay = Number(at) - upload.at;
    table['longest delay, in ms'] = Math.max(table['longest delay, in ms'], delay);
  }
  for (const [key, upload] of uploads) {
    if (seen.has(key)) continue;
    tableFor(upload)['**lost**']++;
    verdict.wrong.push(`${of} ${key} was lost`);
  }
}

/** Counts the devices that stay where they are during a fault of a cluster: their channels have to stay open. */
function judgeChannels({ sent, opened }: World, lines: readonly Line[], verdict: Verdict): void {
  for (const fault of new Set(sent.map((each) => each.fault))) {
    const times = sent.filter((each) => each.fault === fault).map(({ at }) => at);
    const [begin, end] = [times[0] ?? 0, times.at(-1) ?? 0];
    const before = new Map<string, string>();
    const meanwhile = new Map<string, Set<string>>();
    for (const [what, pid = '', chipid = '', , , , , at] of lines) {
      if (what !== 'upload' || Number(at) > end) continue;
      if (Number(at) < begin) before.set(chipid, pid);
      else meanwhile.set(chipid, (meanwhile.get(chipid) ?? new Set()).add(pid));
    }
    const anew = opened.filter(({ at }) => at >= begin && at <= end).map(({ chipid }) => chipid);
    const stayed = [...meanwhile].filter(([chipid, pids]) => {
      const [first = ''] = pids;
      return pids.size === 1 && (before.get(chipid) ?? first) === first;
    });
    Object.assign(tableOf(verdict.tables, fault, {}), {
      'channels opened': anew.length,
      'devices that stayed where they were': stayed.length,
      '**of them, whose channel was opened anew**': stayed.filter(([chipid]) =>
        anew.includes(chipid),
      ).length,
    });
  }
}

/** The texts of commands that devices have received, and how often. */
function actedOn({ simulator }: World): Map<string, number> {
  const acted = new Map<string, number>();
  for (const { received } of simulator.devices.values())
    for (const { text = '' } of received) {
      const [topic = ''] = /\w+:\d+:\d+/.exec(text) ?? [];
      acted.set(topic, (acted.get(topic) ?? 0) + 1);
    }
  return acted;
}

function judgeCommands(
  world: World,
  alive: readonly string[],
  lines: readonly Line[],
  verdict: Verdict,
): void {
  const table = tableOf(verdict.tables, 'commands', {
    'in all': 0,
    succeeded: 0,
    'not sent': 0,
    uncertain: 0,
    '**without an end**': 0,
    '**ended twice**': 0,
    '**acted twice**': 0,
    '**not sent, but acted**': 0,
    '**succeeded, but did not act**': 0,
    "**with another one's reply**": 0,
  });
  const acted = actedOn(world);
  const ends = new Map<string, Line[]>();
  for (const line of lines)
    if (line[0] === 'ended') ends.set(line[2] ?? '', [...(ends.get(line[2] ?? '') ?? []), line]);
  const blame = (what: keyof typeof table, topic: string): void => {
    table[what]++;
    verdict.wrong.push(`${topic}: ${what.replaceAll('**', '')}`);
  };
  for (const [what, pid = '', topic = '', at] of lines) {
    if (what !== 'asked' || Number(at) > world.calmAt) continue;
    table['in all']++;
    const own = ends.get(topic) ?? [];
    const [end] = own;
    const count = acted.get(topic) ?? 0;
    if (count > 1) blame('**acted twice**', topic);
    // A process that is killed right after it has passed an end on has the next one pass it on again.
    if (own.length > new Set(own.map(([, by]) => by)).size) blame('**ended twice**', topic);
    if (!end) {
      if (alive.includes(pid)) blame('**without an end**', topic);
      continue;
    }
    const [, , , code = '', uncertain] = end;
    if (code === 'OK' || code === ANOTHER) {
      table.succeeded++;
      if (count === 0) blame('**succeeded, but did not act**', topic);
      if (code === ANOTHER) blame("**with another one's reply**", topic);
    } else if (uncertain === 'true' || !SURE.has(code)) table.uncertain++;
    else {
      table['not sent']++;
      if (count > 0) blame('**not sent, but acted**', topic);
    }
  }
}

/** What became of what the killed processes of a cluster had to do. */
function judgeKills(world: World, lines: readonly Line[], verdict: Verdict): void {
  const { kills, simulator } = world;
  const acknowledged = new Map<string, Set<string>>();
  const ended = new Set(lines.flatMap(([what, , topic = '']) => (what === 'ended' ? [topic] : [])));
  for (const topic of actedOn(world).keys()) ended.add(topic);
  const wishes = new Map<string, { level: string; isConfirmed: boolean; topic: string }[]>();
  for (const [what, first = '', chipid = '', third = ''] of lines) {
    if (what === 'acked') {
      const upload = `${chipid} ${third}`;
      acknowledged.set(upload, (acknowledged.get(upload) ?? new Set()).add(first));
    } else if (what === 'wished') {
      const wish = { topic: first, level: third, isConfirmed: false };
      wishes.set(chipid, [...(wishes.get(chipid) ?? []), wish]);
    } else if (what === 'kept') {
      for (const wish of wishes.get(chipid) ?? [])
        if (wish.topic === first) wish.isConfirmed = true;
    }
  }
  const hits = kills.filter(
    ({ pid, chipid, count }) => !acknowledged.get(`${chipid} ${count}`)?.has(pid),
  );
  const waited = new Set(kills.flatMap(({ waiting }) => waiting));
  let [wrong, twice] = [0, 0];
  for (const [chipid, all] of wishes) {
    const { levels: pins, sets } = simulator.device(chipid);
    // Of a wish that was not confirmed it is unknown whether it counts.
    const last = all.findLastIndex(({ isConfirmed }) => isConfirmed);
    const levels = all.slice(Math.max(0, last)).map(({ level }) => level);
    if (last >= 0 && !levels.includes(pins[WISHED_PIN] ?? '')) wrong++;
    twice += Math.max(0, sets.length - all.length);
  }
  tableOf(verdict.tables, 'what was under way at a kill, and wishes', {
    kills: kills.length,
    'of them between emission and acknowledgement': hits.length,
    '**of their uploads, never acknowledged**': hits.filter(
      ({ chipid, count }) => !acknowledged.has(`${chipid} ${count}`),
    ).length,
    'commands that waited at a kill': waited.size,
    '**of them without an end**': [...waited].filter((topic) => !ended.has(topic)).length,
    wishes: [...wishes.values()].reduce((sum, { length }) => sum + length, 0),
    '**pins with another level than wished last**': wrong,
    '**pins set more often than wished**': twice,
  });
}

/** What is wrong in the events of presence, of the devices that were never away and of those that came and went. */
function judgePresence(
  { devices, peers, calmAt }: World,
  lines: readonly Line[],
  verdict: Verdict,
): void {
  const events = lines.filter(([what]) => what === 'event');
  const wrong: string[] = [];
  for (const chipid of new Set([...devices, ...peers])) {
    const own = events.filter((line) => line[3] === chipid);
    own.forEach(([, pid, event], index) => {
      const [, before, earlier] = own[index - 1] ?? [];
      if (earlier === event && before === pid) wrong.push(`${chipid} is ${event} twice`);
      if (event === 'offline' && devices.includes(chipid))
        wrong.push(`${chipid} is offline, and was not away`);
    });
    const healed = own.filter(([, , , , at]) => Number(at) >= calmAt).map(([, , event]) => event);
    const online = healed.indexOf('online');
    if (online >= 0 && healed.lastIndexOf('offline') > online)
      wrong.push(`${chipid} is offline again after everything had healed`);
    if (own.at(-1)?.[2] === 'offline') wrong.push(`${chipid} is offline in the end`);
  }
  const last = events.findLast((line) => line[3] === '-');
  if (last?.[2] === 'unknown' && last[1] === events.at(-1)?.[1])
    wrong.push('the list is unknown in the end');
  verdict.wrong.push(...wrong);
  tableOf(verdict.tables, 'presence', { events: events.length, '**wrong**': wrong.length });
}

/** Compares what was sent with what the processes have written down. */
export function judge(world: World): Verdict & { isGood: boolean } {
  const lines = world.lines();
  const verdict: Verdict = { tables: new Map(), wrong: [] };
  judgeUploads(world, world.sent, lines, 'upload', verdict);
  if (world.isShared) {
    judgeChannels(world, lines, verdict);
    const acked = world.sent.filter(({ chipid }) => world.acked.includes(chipid));
    judgeUploads(world, acked, lines, 'acked', verdict);
    judgeKills(world, lines, verdict);
  }
  judgeCommands(world, world.pids(), lines, verdict);
  judgePresence(world, lines, verdict);
  const counts = [...verdict.tables.values()].flatMap((table) => Object.entries(table));
  const isGood = counts.every(([what, count]) => !what.startsWith('**') || count === 0);
  return { ...verdict, isGood };
}
