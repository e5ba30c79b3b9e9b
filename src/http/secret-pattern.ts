import { fold, type Reading } from './readings';

/**
 * How many units of a secret are searched: as many as a number has bits for, so that the time that a
 * search takes does not depend on the length of a secret.
 */
export const SEARCHED_UNITS = 32;

/**
 * The beginning of a secret as the Shift-And algorithm searches for it: bit `i` represents its first
 * `i + 1` units.
 */
export interface SecretPattern {
  /** For each unit of the secret, the places at which its beginning has it. */
  places: ReadonlyMap<number, number>;
  last: number;
  /** Whether the pattern is the whole secret. */
  isWhole: boolean;
}

export function patternOf(secret: string): SecretPattern {
  const units = Array.from(secret).flatMap(fold);
  const places = new Map<number, number>();
  units.forEach((unit, index) => {
    const place = index < SEARCHED_UNITS ? 1 << index : 0;
    places.set(unit, (places.get(unit) ?? 0) | place);
  });
  const searched = Math.min(units.length, SEARCHED_UNITS);
  return { places, last: 1 << (searched - 1), isWhole: searched === units.length };
}

/** The parts of the secret that may have been read after one more unit. */
const next = ({ places }: SecretPattern, read: number, unit: number): number =>
  ((read << 1) | 1) & (places.get(unit) ?? 0);

/** The readings of a text at each of its places. */
type Readings = readonly (readonly Reading[])[];

/** The result of the search for a pattern in a text. */
interface Search {
  /** The parts of the secret that may have been read before each place of the text. */
  read: Int32Array;
  /** The places at which a reading ends that completes the pattern. */
  ends: number[];
}

/** Follows all ways of reading a text at once, so that the time is in proportion to its length. */
function search(pattern: SecretPattern, readings: Readings): Search {
  const read = new Int32Array(readings.length + 1);
  const ends: number[] = [];
  for (let index = 0; index < readings.length; index++) {
    for (const { units, length } of readings[index] ?? []) {
      let now = read[index] ?? 0;
      let isComplete = false;
      for (const unit of units) {
        now = next(pattern, now, unit);
        isComplete ||= (now & pattern.last) !== 0;
      }
      const end = index + length;
      if (end < read.length) read[end] = (read[end] ?? 0) | now;
      if (isComplete) ends.push(end);
    }
  }
  return { read, ends };
}

/** Backwards: of all that may have been read, hides what leads to the whole pattern. */
function hideMatches(
  pattern: SecretPattern,
  readings: Readings,
  read: Int32Array,
  hidden: Uint8Array,
): void {
  const leads = new Int32Array(readings.length + 1);
  /** What may have been read after each unit of one reading. */
  const steps: number[] = [];
  for (let index = readings.length - 1; index >= 0; index--) {
    for (const { units, length } of readings[index] ?? []) {
      const before = read[index] ?? 0;
      let now = before;
      for (let step = 0; step < units.length; step++) {
        now = next(pattern, now, units[step] ?? 0);
        steps[step] = now;
      }
      let wanted = leads[index + length] ?? 0;
      let isPart = false;
      for (let step = units.length - 1; step >= 0; step--) {
        wanted = (wanted | pattern.last) & (steps[step] ?? 0);
        isPart ||= wanted !== 0;
        wanted >>>= 1;
      }
      leads[index] = (leads[index] ?? 0) | (wanted & before);
      if (isPart) hidden.fill(1, index, index + length);
    }
  }
}

/** Hides what follows the beginning of a long secret, up to what cannot be read as a part of it. */
function hideRest(
  { places }: SecretPattern,
  readings: Readings,
  ends: readonly number[],
  hidden: Uint8Array,
): void {
  const follows = new Uint8Array(readings.length + 1);
  for (const end of ends) follows[end] = 1;
  for (let index = 0; index < readings.length; index++) {
    if (follows[index] === 0) continue;
    for (const { units, length } of readings[index] ?? []) {
      if (!units.every((unit) => places.has(unit))) continue;
      follows[index + length] = 1;
      hidden.fill(1, index, index + length);
    }
  }
}

/**
 * Marks a secret in a text, wherever some sequence of readings is the secret. Of a long secret, its
 * beginning is enough.
 * @param readings those at each place of the text
 */
export function markSecret(pattern: SecretPattern, readings: Readings, hidden: Uint8Array): void {
  const { read, ends } = search(pattern, readings);
  if (ends.length === 0) return;
  hideMatches(pattern, readings, read, hidden);
  if (!pattern.isWhole) hideRest(pattern, readings, ends, hidden);
}
