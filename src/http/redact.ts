import { LONGEST_FORM, readingsAt, type Reading } from './readings';
import { markSecret, patternOf, SEARCHED_UNITS } from './secret-pattern';

/** Anything of the form of a signature (section 5: 32 characters, hexadecimal). */
const SIGN = /[0-9a-f]{32}/gi;
const SIGN_LENGTH = 32;

/** A shorter secret would blot out ordinary words. */
export const MIN_SECRET = 4;

/** Characters of a text that are returned: errors show fewer. */
const MAX_RETURNED = 512;

/** A signature, or the beginning of a secret, that starts in what is returned ends within this many. */
const SEARCHED = MAX_RETURNED + SEARCHED_UNITS * LONGEST_FORM;

/**
 * Makes a function that removes secrets, and whatever looks like a signature, from a text that came
 * from the service: a service may repeat a request in its error, in any of the ways in which requests
 * are written. Returns the first 512 characters, and searches no further than the first 32 units of a
 * secret that begins among them may reach. What begins like a longer secret is hidden as that secret.
 */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = secrets.filter(
    (secret): secret is string => secret !== undefined && secret.length >= MIN_SECRET,
  );
  const patterns = known.map(patternOf);

  return (whole) => {
    const text = whole.slice(0, SEARCHED);
    const hidden = new Uint8Array(text.length);
    for (const { index } of text.matchAll(SIGN)) hidden.fill(1, index, index + SIGN_LENGTH);
    if (patterns.length > 0) {
      const readings: (readonly Reading[])[] = [];
      for (let index = 0; index < text.length; index++) readings.push(readingsAt(text, index));
      for (const pattern of patterns) markSecret(pattern, readings, hidden);
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
