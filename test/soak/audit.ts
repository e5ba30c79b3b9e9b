import type { Accepted, Emitted } from './lines';
import { isUnique, mannerOf } from './traffic';

/** What became of the uploads. */
export interface Audit {
  accepted: number;
  emitted: number;
  /** Emitted with the mark `replayed`. */
  recovered: number;
  lost: number;
  doubled: number;
  /** Emitted after a later one of the same device, where bodies tell; a second time does not count. */
  outOfOrder: number;
  /** Not what was uploaded and not marked so, or marked so without a reason. */
  mismarked: number;
  /** Longest time from acceptance to emission, in milliseconds. */
  longestDelay: number;
  /** Some of what went wrong, for a first look. */
  examples: string[];
}

/** An upload and the message that it became. */
export interface Match {
  accepted: Accepted;
  emitted: Emitted;
}

const EXAMPLES = 5;

function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

const byDevice = <T extends { chipid: string }>(items: readonly T[]): Map<string, T[]> =>
  groupBy(items, ({ chipid }) => chipid);

/** Takes the first upload of a device with a body that no message has become yet. */
function takeFrom(
  uploads: Map<string, Accepted[]>,
  taken: Set<Accepted>,
  { chipid, body }: Emitted,
): Accepted | undefined {
  const waiting = uploads.get(`${chipid} ${body}`) ?? [];
  for (let source = waiting.shift(); source; source = waiting.shift()) {
    if (taken.has(source)) continue;
    taken.add(source);
    return source;
  }
  return undefined;
}

/**
 * Each upload with the message that it became; a message that is left over is a doubled one. What is not
 * marked as altered is held against what was uploaded, the rest against what the history keeps of it.
 */
export function matchUploads(accepted: readonly Accepted[], emitted: readonly Emitted[]): Match[] {
  const whole = groupBy(accepted, ({ chipid, body }) => `${chipid} ${body}`);
  const kept = groupBy(accepted, ({ chipid, body, kept: rest = body }) => `${chipid} ${rest}`);
  const taken = new Set<Accepted>();
  const sources = new Map<Emitted, Accepted>();
  const match = (messages: readonly Emitted[], uploads: Map<string, Accepted[]>): void => {
    for (const message of messages) {
      const source = sources.has(message) ? undefined : takeFrom(uploads, taken, message);
      if (source) sources.set(message, source);
    }
  };
  const isLossy = accepted.some(({ kept: rest }) => rest !== undefined);
  const [marked, others] = [true, false].map((mark) =>
    emitted.filter(({ altered = false }) => altered === mark),
  ) as [Emitted[], Emitted[]];
  // What was given back may be the remains of another upload: it takes nothing from what came live.
  if (isLossy) {
    match(
      others.filter(({ replayed }) => !replayed),
      whole,
    );
  }
  match(marked, kept);
  match(others, whole);
  // And what passes for whole, but is not.
  match(
    others.filter(({ replayed }) => replayed),
    kept,
  );
  return emitted.flatMap((message) => {
    const source = sources.get(message);
    return source ? [{ accepted: source, emitted: message }] : [];
  });
}

/** Holds what one device's listener has emitted against what the service has accepted. */
function auditDevice(
  accepted: readonly Accepted[],
  emitted: readonly Emitted[],
  unique: boolean,
  lossy: boolean,
) {
  const sources = new Map(
    matchUploads(accepted, emitted).map((match) => [match.emitted, match.accepted]),
  );
  const taken = new Set<Accepted>();
  const result = {
    ...{ doubled: 0, outOfOrder: 0, mismarked: 0, longestDelay: 0 },
    examples: [] as string[],
  };
  let newest = 0;
  for (const message of emitted) {
    const { at, body, chipid, replayed, altered } = message;
    const source = sources.get(message);
    if (!source) {
      result.doubled++;
      result.examples.push(`doubled: ${chipid} ${body.slice(0, 40)} replayed ${replayed}`);
      continue;
    }
    taken.add(source);
    if (altered ? !replayed || !lossy : body !== source.body) {
      result.mismarked++;
      const mark = altered ? 'altered' : 'not altered';
      result.examples.push(`marked ${mark}: ${chipid} ${body.slice(0, 40)} replayed ${replayed}`);
    }
    result.longestDelay = Math.max(result.longestDelay, at - source.at);
    if (unique && source.id < newest) {
      result.outOfOrder++;
      result.examples.push(`out of order: ${chipid} ${source.id} after ${newest}`);
    }
    newest = Math.max(newest, source.id);
  }
  const missing = accepted.filter((upload) => !taken.has(upload));
  const lost = missing.length;
  for (const { chipid, id } of missing) result.examples.push(`lost: ${chipid} ${id}`);
  return { ...result, lost };
}

/**
 * Holds what was emitted against what was accepted: as counted sets of bodies for each device, and in
 * order for those devices whose bodies differ.
 * @param lossy whether the history does not keep what was uploaded
 */
export function audit(
  chipids: readonly string[],
  accepted: readonly Accepted[],
  emitted: readonly Emitted[],
  lossy = false,
): Audit {
  const acceptedBy = byDevice(accepted);
  const emittedBy = byDevice(emitted);
  const total: Audit = {
    accepted: accepted.length,
    emitted: emitted.length,
    recovered: emitted.filter(({ replayed }) => replayed).length,
    lost: 0,
    doubled: 0,
    outOfOrder: 0,
    mismarked: 0,
    longestDelay: 0,
    examples: [],
  };
  chipids.forEach((chipid, index) => {
    const unique = isUnique(mannerOf(index));
    const one = auditDevice(
      acceptedBy.get(chipid) ?? [],
      emittedBy.get(chipid) ?? [],
      unique,
      lossy,
    );
    total.lost += one.lost;
    total.doubled += one.doubled;
    total.outOfOrder += one.outOfOrder;
    total.mismarked += one.mismarked;
    total.longestDelay = Math.max(total.longestDelay, one.longestDelay);
    total.examples.push(...one.examples);
  });
  // A kill may double: it is the other faults that have to be seen.
  const isDoubled = (example: string): boolean => example.startsWith('doubled');
  const { examples } = total;
  const others = examples.filter((example) => !isDoubled(example));
  total.examples = [...others, ...examples.filter(isDoubled)].slice(0, EXAMPLES);
  return total;
}
