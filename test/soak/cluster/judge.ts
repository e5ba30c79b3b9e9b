/** An upload that was sent. */
export interface Sent {
  readonly chipid: string;
  /** The number of the upload of its device. */
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly fault: string;
}

/** A channel that was opened. */
export interface Opened {
  readonly chipid: string;
  /** By the same clock as the uploads. */
  readonly at: number;
}

interface Row {
  uploads: number;
  lost: number;
  doubled: number;
  marked: number;
  outOfOrder: number;
  /** The longest, in milliseconds. */
  delay: number;
  /** Channels that were opened; devices whose uploads came from one process all the time, and those of them whose channel was opened. */
  opened: number;
  stayed: number;
  reopened: number;
}

interface Commands {
  all: number;
  ok: number;
  notSent: number;
  uncertain: number;
  open: number;
  twice: number;
  lied: number;
  missing: number;
  /** The texts of those that must not be. */
  wrong: string[];
}

const SURE = new Set(['UNREACHABLE', 'EXPIRED', 'CANCELLED', 'QUEUE_FULL']);

type Line = readonly string[];

/** Compares uploads with what the processes have written down. @param of what the lines about them begin with */
function judgeUploads(sent: readonly Sent[], lines: readonly Line[], of: string): Map<string, Row> {
  const faults = new Map<string, Row>();
  const uploads = new Map(sent.map((each) => [`${each.chipid} ${each.count}`, each]));
  const rowOf = (fault: string): Row => {
    const empty = {
      uploads: 0,
      lost: 0,
      doubled: 0,
      marked: 0,
      outOfOrder: 0,
      delay: 0,
      opened: 0,
      stayed: 0,
      reopened: 0,
    };
    const row = faults.get(fault) ?? empty;
    faults.set(fault, row);
    return row;
  };
  for (const { fault } of sent) rowOf(fault).uploads++;
  const latest = new Map<string, number>();
  const seen = new Set<string>();
  for (const [what, , chipid = '', count = '', replayed, at] of lines) {
    if (what !== of) continue;
    const upload = uploads.get(`${chipid} ${count}`);
    if (!upload) continue;
    const row = rowOf(upload.fault);
    const key = `${chipid} ${count}`;
    if (seen.has(key)) {
      if (replayed === 'true') row.marked++;
      else row.doubled++;
      continue;
    }
    seen.add(key);
    if (Number(count) < (latest.get(chipid) ?? 0)) row.outOfOrder++;
    latest.set(chipid, Math.max(latest.get(chipid) ?? 0, Number(count)));
    row.delay = Math.max(row.delay, Number(at) - upload.at);
  }
  for (const [key, { fault }] of uploads) if (!seen.has(key)) rowOf(fault).lost++;
  return faults;
}

/** Counts the devices that stay where they are during a fault: their channels have to stay open. */
function judgeChannels(
  faults: ReadonlyMap<string, Row>,
  sent: readonly Sent[],
  lines: readonly Line[],
  opened: readonly Opened[],
): void {
  for (const [name, row] of faults) {
    const times = sent.filter(({ fault }) => fault === name).map(({ at }) => at);
    const [begin, end] = [times[0] ?? 0, times.at(-1) ?? 0];
    const before = new Map<string, string>();
    const meanwhile = new Map<string, Set<string>>();
    for (const [what, process = '', chipid = '', , , at] of lines) {
      if (what !== 'upload' || Number(at) > end) continue;
      if (Number(at) < begin) before.set(chipid, process);
      else meanwhile.set(chipid, (meanwhile.get(chipid) ?? new Set()).add(process));
    }
    const anew = opened.filter(({ at }) => at >= begin && at <= end).map(({ chipid }) => chipid);
    row.opened = anew.length;
    for (const [chipid, processes] of meanwhile) {
      const first = before.get(chipid) ?? [...processes][0];
      if (processes.size > 1 || !processes.has(first ?? '')) continue;
      row.stayed++;
      if (anew.includes(chipid)) row.reopened++;
    }
  }
}

/**
 * Compares what was sent with what the processes have written down.
 * @param received texts that reached devices
 * @param acked devices whose uploads are acknowledged, too
 * @param opened all channels that were opened
 */
export function judge(
  sent: readonly Sent[],
  lines: readonly Line[],
  received: readonly string[],
  acked: ReadonlySet<string>,
  opened: readonly Opened[],
): {
  faults: Map<string, Row>;
  acked: Map<string, Row>;
  commands: Commands;
  isGood: boolean;
} {
  const faults = judgeUploads(sent, lines, 'upload');
  judgeChannels(faults, sent, lines, opened);
  const ofAcked = sent.filter(({ chipid }) => acked.has(chipid));
  const acknowledged = judgeUploads(ofAcked, lines, 'acked');

  const acted = new Map<string, number>();
  for (const text of received) acted.set(text, (acted.get(text) ?? 0) + 1);
  const commands: Commands = {
    ...{ all: 0, ok: 0, notSent: 0, uncertain: 0, open: 0 },
    ...{ twice: 0, lied: 0, missing: 0, wrong: [] },
  };
  const ended = new Set<string>();
  for (const [what, topic = '', code = '', uncertain] of lines) {
    if (what !== 'done') continue;
    ended.add(topic);
    commands.all++;
    const count = acted.get(topic) ?? 0;
    if (code === 'OK') {
      commands.ok++;
      if (count > 0) continue;
      commands.missing++;
      commands.wrong.push(`${topic} succeeded, but did not act`);
    } else if (uncertain === 'true' || !SURE.has(code)) commands.uncertain++;
    else {
      commands.notSent++;
      if (count === 0) continue;
      commands.lied++;
      commands.wrong.push(`${topic} acted, but was not sent: ${code}`);
    }
  }
  for (const [topic, count] of acted) {
    if (count > 1) {
      commands.twice++;
      commands.wrong.push(`${topic} acted ${count} times`);
    }
    if (!ended.has(topic)) commands.open++;
  }
  const rows = [...faults.values(), ...acknowledged.values()];
  const isGood =
    rows.every(({ lost, outOfOrder, reopened }) => lost + outOfOrder + reopened === 0) &&
    commands.twice + commands.lied + commands.missing === 0;
  return { faults, acked: acknowledged, commands, isGood };
}
