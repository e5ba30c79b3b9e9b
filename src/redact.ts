/** Anything of the form of a signature (section 8: 32 characters, hexadecimal). */
const SIGN = /[0-9a-f]{32}/gi;

/** A shorter secret would blot out ordinary words. */
const MIN_SECRET = 4;

const units = (text: string): number[] =>
  Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));

const escaped = (text: string): string =>
  units(text)
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

const percentEncoded = (text: string): string =>
  Buffer.from(text.toWellFormed()).toString('hex').replace(/../g, '%$&');

const isAscii = (character: string): boolean => character <= '\x7f';

/** A pattern for a character as it is, percent-encoded, or escaped as in JSON; case does not count. */
function inAnyForm(character: string): string {
  // In percent-encoding and escapes the cases of another letter are different ones.
  const cases = isAscii(character)
    ? [character]
    : [character, character.toLowerCase(), character.toUpperCase()];
  const forms = cases.flatMap((each) => [
    each,
    percentEncoded(each),
    isAscii(each) ? JSON.stringify(each).slice(1, -1) : escaped(each),
  ]);
  // As a form writes it.
  if (character === ' ') forms.push('+');
  return `(?:${[...new Set(forms)].map(escaped).join('|')})`;
}

const patternsOf = (secret: string): string[] => [
  Array.from(secret, inAnyForm).join(''),
  // As section 5.1 has it: a letter may become another one for what stands beside it.
  escaped(secret.toLowerCase()),
];

/**
 * Makes a function that takes secrets, and whatever looks like a signature, out of a text that came
 * from the service: a service may repeat a request in its error, in any of the ways in which requests
 * are written.
 */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = secrets.flatMap((secret) =>
    secret !== undefined && secret.length >= MIN_SECRET ? [secret] : [],
  );
  // The longest first, since one may begin with another; signatures last, since a key may look like one.
  const patterns = known.sort((a, b) => b.length - a.length).flatMap(patternsOf);
  const hidden = patterns.length === 0 ? undefined : new RegExp(patterns.join('|'), 'gi');
  return (text) => (hidden ? text.replace(hidden, '***') : text).replace(SIGN, '***');
}
