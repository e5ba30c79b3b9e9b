import { fold, LONGEST_FORM, readingsAt, type Reading } from './readings';

/** Anything of the form of a signature (section 5: 32 characters, hexadecimal). */
const SIGN = /[0-9a-f]{32}/gi;
const SIGN_LENGTH = 32;

/** A shorter secret would blot out ordinary words. */
const MIN_SECRET = 4;

/** Characters of a text that are returned: errors show fewer. */
const MAX_RETURNED = 512;

/** A secret as the Shift-And algorithm searches for it: bit `i` stands for its first `i + 1` units. */
interface Pattern {
  /** For each unit, the places at which the secret has it. */
  places: ReadonlyMap<number, bigint>;
  last: bigint;
}

function patternOf(secret: string): Pattern {
  const units = Array.from(secret).flatMap(fold);
  const places = new Map<number, bigint>();
  units.forEach((unit, index) => {
    places.set(unit, (places.get(unit) ?? 0n) | (1n << BigInt(index)));
  });
  return { places, last: 1n << BigInt(units.length - 1) };
}

/**
 * What may have been read of the secret at the beginning of a reading, and after each of its units.
 * @param read what may have been read before it
 */
function advance({ places }: Pattern, read: bigint, { units }: Reading): bigint[] {
  const steps = [read];
  for (const unit of units) {
    read = ((read << 1n) | 1n) & (places.get(unit) ?? 0n);
    steps.push(read);
  }
  return steps;
}

/**
 * Marks a secret in a text, wherever some sequence of readings is the secret. The time it takes is in
 * proportion to the length of the text, since all ways of reading it are followed at once.
 * @param readings those at each place of the text
 */
function mark(pattern: Pattern, readings: readonly Reading[][], hidden: Uint8Array): void {
  const read = new Array<bigint>(readings.length + 1).fill(0n);
  let found = false;
  for (const [index, here] of readings.entries()) {
    for (const reading of here) {
      const steps = advance(pattern, read[index] ?? 0n, reading);
      const end = index + reading.length;
      if (end < read.length) read[end] = (read[end] ?? 0n) | (steps.at(-1) ?? 0n);
      found ||= steps.some((step) => (step & pattern.last) !== 0n);
    }
  }
  if (!found) return;

  // Backwards: of all that may have been read, what leads to the whole secret.
  const leads = new Array<bigint>(readings.length + 1).fill(0n);
  for (let index = readings.length - 1; index >= 0; index--) {
    for (const reading of readings[index] ?? []) {
      const steps = advance(pattern, read[index] ?? 0n, reading);
      const end = index + reading.length;
      let wanted = leads[end] ?? 0n;
      let isPart = false;
      for (let step = steps.length - 1; step > 0; step--) {
        wanted = (wanted | pattern.last) & (steps[step] ?? 0n);
        isPart ||= wanted !== 0n;
        wanted >>= 1n;
      }
      leads[index] = (leads[index] ?? 0n) | (wanted & (steps[0] ?? 0n));
      if (isPart) hidden.fill(1, index, end);
    }
  }
}

/**
 * Makes a function that takes secrets, and whatever looks like a signature, out of a text that came
 * from the service: a service may repeat a request in its error, in any of the ways in which requests
 * are written. Returns the first 512 characters, and searches no further than a secret among them may
 * reach: each character costs several microseconds.
 */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = secrets.filter(
    (secret): secret is string => secret !== undefined && secret.length >= MIN_SECRET,
  );
  const patterns = known.map(patternOf);
  const longest = known.reduce((most, { length }) => Math.max(most, length), SIGN_LENGTH);
  const searched = MAX_RETURNED + longest * LONGEST_FORM;

  return (whole) => {
    const text = whole.slice(0, searched);
    const hidden = new Uint8Array(text.length);
    for (const { index } of text.matchAll(SIGN)) hidden.fill(1, index, index + SIGN_LENGTH);
    if (patterns.length > 0) {
      const readings = Array.from({ length: text.length }, (_, index) => readingsAt(text, index));
      for (const pattern of patterns) mark(pattern, readings, hidden);
    }
    const returned = Math.min(whole.length, MAX_RETURNED);
    let clean = '';
    for (let index = 0; index < returned; index++) {
      if (hidden[index] === 0) clean += text.charAt(index);
      else if (index === 0 || hidden[index - 1] === 0) clean += '***';
    }
    return whole.length > returned ? `${clean}…` : clean;
  };
}
