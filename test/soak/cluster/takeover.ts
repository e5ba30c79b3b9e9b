import type { Match } from '../audit';
import type { Emitted, Opened } from '../lines';
import type { Trouble } from './trouble';

/** How long devices were without a process that emits their uploads. */
export interface Takeovers {
  /** Milliseconds of each device that was taken over, in ascending order. */
  times: number[];
  /** Devices of which no other process had opened the channel when the next trouble came. */
  missing: number;
}

export interface Evidence {
  troubles: readonly Trouble[];
  /** What each process has emitted, in the order of time. */
  emittedBy: readonly (readonly Emitted[])[];
  opened: readonly Opened[];
  /** Each upload with its emission. */
  matches: readonly Match[];
  /** When the last trouble was over, in ms. */
  end: number;
}

/**
 * Which process has which device at a moment: the one that emitted last for it, unless its channel has been opened
 * since, perhaps by another one.
 */
function holders({ emittedBy, opened }: Evidence, moment: number): Map<string, number> {
  const last = new Map<string, { at: number; member: number }>();
  emittedBy.forEach((emitted, member) => {
    for (const { at, chipid } of emitted) {
      if (at <= moment && at >= (last.get(chipid)?.at ?? 0)) last.set(chipid, { at, member });
    }
  });
  for (const { chipid, at } of opened) {
    if (at <= moment && at > (last.get(chipid)?.at ?? Infinity)) last.delete(chipid);
  }
  return new Map([...last].map(([chipid, { member }]) => [chipid, member]));
}

/**
 * A device is taken over when another process has opened its channel, and has emitted the first upload that had to
 * wait for that.
 */
function takeover(
  { opened, matches }: Evidence,
  chipid: string,
  from: number,
  to: number,
): number | undefined {
  const open = opened.find((each) => each.chipid === chipid && each.at > from && each.at < to);
  if (!open) return undefined;
  const waited = matches.find(
    ({ accepted }) => accepted.chipid === chipid && accepted.at > from && accepted.at < open.at,
  );
  return Math.max(open.at, waited?.emitted.at ?? 0) - from;
}

/** Measures all takeovers of a run. */
export function measureTakeovers(evidence: Evidence): Takeovers {
  const { troubles, end } = evidence;
  const result: Takeovers = { times: [], missing: 0 };
  troubles.forEach(({ at, member }, index) => {
    if (member === undefined) return;
    const to = troubles[index + 1]?.at ?? end;
    for (const [chipid, holder] of holders(evidence, at)) {
      if (holder !== member) continue;
      const time = takeover(evidence, chipid, at, to);
      if (time === undefined) result.missing++;
      else result.times.push(time);
    }
  });
  result.times.sort((a, b) => a - b);
  return result;
}

/** @returns the value that this share of the values does not exceed; 0 of none */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
