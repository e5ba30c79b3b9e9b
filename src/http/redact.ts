/** Anything of the form of a signature (section 5: 32 hexadecimal digits). */
const SIGN = '[0-9a-f]{32}';

/** A secret of at least this many characters is hidden wherever it stands … */
const LONG = 8;
/** … a shorter one as a word of its own, if it has this many and is not made of letters alone: "sign is wrong" stays. */
const SHORT = 4;

/** Characters of a text that are looked at, and those that are returned at most: errors show fewer. */
const MAX_READ = 65_536;
const MAX_RETURNED = 512;

/** The pattern of a secret; undefined if it looks like an ordinary word. */
function patternOf(secret: string): string | undefined {
  const pattern = secret.replace(/[$(-+./?[\\\]^{|}]/g, String.raw`\$&`);
  if (secret.length >= LONG) return pattern;
  const isWord = secret.length < SHORT || /^\p{L}+$/u.test(secret);
  return isWord ? undefined : String.raw`(?<![\w-])${pattern}(?![\w-])`;
}

/**
 * Makes a function that removes secrets, in any case, and whatever looks like a signature from a text that came from the
 * service or a caller. Keys and passwords are sent as an MD5 only, and the server API's key as it is, so encodings of them are
 * not looked for.
 */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const patterns = secrets
    .filter((secret) => secret !== undefined)
    .toSorted((one, other) => other.length - one.length)
    .map(patternOf)
    .filter((pattern) => pattern !== undefined);
  const hidden = new RegExp([...patterns, SIGN].join('|'), 'gi');
  return (whole) => {
    const clean = whole.slice(0, MAX_READ).replace(hidden, '***');
    return clean.length > MAX_RETURNED ? `${clean.slice(0, MAX_RETURNED)}…` : clean;
  };
}
