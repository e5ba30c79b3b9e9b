/** Anything of the form of a signature (section 5: 32 characters, hexadecimal). */
const SIGN = /[0-9a-f]{32}/g;

/** A shorter secret would blot out ordinary words. */
export const MIN_SECRET = 4;

/** Characters of a text that are returned: errors show fewer. */
const MAX_RETURNED = 512;
/** Characters of a secret that are searched, so that the time of a search does not depend on its length … */
const SEARCHED = 32;
/** … and characters of a text that write one of them: UTF-8, percent-encoded three times, takes 21. */
const LONGEST_FORM = 24;

/* The characters that encode others, themselves encoded any number of times. */
const PERCENT = '%(?:25)*';
const BACKSLASH = String.raw`(?:\\|${PERCENT}5c)`;
/** A whole run: to read a part of one for each backslash of a secret would take exponential time. */
const BACKSLASHES = `(?<!${BACKSLASH})${BACKSLASH}+(?!${BACKSLASH})`;
/** Of an escape. After a backslash of a secret, the run of that one includes it. */
const ESCAPING = `(?:${BACKSLASHES}|(?<=${BACKSLASH}))`;
const AMPERSAND = `(?:&|${PERCENT}26)(?:amp(?:;|${PERCENT}3b))*`;

/** All forms of these but escapes: each is read in one way, so that the time of a search is linear. */
const ENCODING = new Map([
  ['%', PERCENT],
  ['\\', BACKSLASHES],
  ['&', AMPERSAND],
]);
const ENTITIES = new Map(Object.entries({ '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }));
const ESCAPES = new Map(Object.entries({ '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' }));

const ASCII = /^[\0-\x7f]*$/;

/** Of the same length: only İ has a longer one. Without the flag `i`, which makes patterns slow. */
const inLowerCase = (text: string): string =>
  ASCII.test(text)
    ? text.toLowerCase()
    : Array.from(text.replaceAll('İ', 'i'), (each) => each.toLowerCase()).join('');

const oneOf = (patterns: Iterable<string>): string => `(?:${[...new Set(patterns)].join('|')})`;
const hexOf = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');

/** The pattern of a character as a text may write it: as it is, or as a URL, a form, JSON or HTML has it, in any case. */
function patternOf(character: string): string {
  const upper = character.toUpperCase();
  // A form writes a space as `+`, and UTF-8 has no halves of surrogate pairs.
  const cases = /^[+ ]/.test(character)
    ? ['+', ' ']
    : [character, character.toWellFormed(), character.toLowerCase(), upper, upper.toLowerCase()];
  const bytes = cases.map((text) =>
    Array.from(Buffer.from(text), (byte) => hexOf(byte, 2)).join(PERCENT),
  );
  const units = cases.map((text) =>
    Array.from({ length: text.length }, (_, index) => hexOf(text.charCodeAt(index), 4)).join(
      `${ESCAPING}u`,
    ),
  );
  const codes = cases.map((text) => text.codePointAt(0) ?? 0);
  const entities = codes.flatMap((code) => [`#0*${code}`, `#x0*${code.toString(16)}`]);
  const encoding = ENCODING.get(character);
  const plain = cases.map((text) => text.replace(/[$(-+./?[\\\]^{|}]/g, String.raw`\$&`));
  const [entity, escape] = [ENTITIES.get(character), ESCAPES.get(character)];
  const all = oneOf([
    ...(encoding === undefined ? [...plain, PERCENT + oneOf(bytes)] : [encoding]),
    `${ESCAPING}u${oneOf(units)}`,
    `${AMPERSAND}${oneOf(entity === undefined ? entities : [entity, ...entities])}(?:;|${PERCENT}3b)`,
    ...(escape === undefined ? [] : [ESCAPING + escape]),
  ]);
  return '"\'/'.includes(character) ? `(?:${BACKSLASHES})?${all}` : all;
}

/** A pattern of the beginning of a secret, and of what follows and may be the rest of a long one. */
function secretPattern(secret: string): RegExp {
  // As in a text, one of a run stands for all.
  const single = secret
    .replace(/\\+/g, '\\')
    .replace(/%(?:25)+/g, '%')
    .replace(/&(?:amp;)+/gi, '&');
  const characters = Array.from(single, patternOf);
  const rest = characters.length > SEARCHED ? `(?:${[...new Set(characters)].join('|')})*` : '';
  return new RegExp(characters.slice(0, SEARCHED).join('') + rest, 'g');
}

/**
 * Makes a function that removes secrets, and whatever looks like a signature, from a text that came
 * from the service: a service may repeat a request in its error, in any of the ways in which requests
 * are written. Returns the first 512 characters, and searches no further than the first 32 characters of a
 * secret that begins among them may reach. What begins like a longer secret is hidden as that secret.
 * @param longest characters that are returned, default 512
 */
export function redactor(
  secrets: readonly (string | undefined)[],
  longest = MAX_RETURNED,
): (text: string) => string {
  const patterns = secrets
    .filter((secret) => secret !== undefined && secret.length >= MIN_SECRET)
    .map((secret) => secretPattern(secret as string));
  patterns.push(SIGN);

  return (whole) => {
    const text = inLowerCase(whole.slice(0, longest + SEARCHED * LONGEST_FORM));
    const hidden = new Uint8Array(text.length);
    for (const pattern of patterns) {
      pattern.lastIndex = 0;
      for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
        hidden.fill(1, found.index, pattern.lastIndex);
        // Another may begin within it.
        pattern.lastIndex = found.index + 1;
      }
    }
    const returned = Math.min(whole.length, longest);
    let clean = '';
    for (let index = 0; index < returned; index++) {
      if (hidden[index] === 0) clean += whole.charAt(index);
      else if (index === 0 || hidden[index - 1] === 0) clean += '***';
    }
    return whole.length > returned ? `${clean}…` : clean;
  };
}
