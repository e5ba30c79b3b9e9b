const MAX = 60;

/**
 * What could garble or forge a log line, or hide in it: control characters, line ends, lone surrogates,
 * and invisible characters, among them those that reverse the direction of what follows.
 */
export const UNPRINTABLE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** A space of another width may be overlooked. */
const SPACES = /\p{Zs}/gu;

/** Text from outside as one line of a log: nothing unprintable, and cut if it is long. */
export function oneLine(text: string, max: number): string {
  const clean = text.slice(0, max).replace(UNPRINTABLE, '�').replace(SPACES, ' ');
  return text.length > max ? `${clean}…` : clean;
}

/** What GitHub Actions takes for a command: `::name` at the beginning of a line, `##[name]` anywhere; Azure and TeamCity `##name[`. */
const COMMANDS = [/^(\s*:)(?=:)/gm, /(##)(?=\w*\[)/g];

/**
 * A text of any origin as it may be printed: it moves no cursor, sets no clipboard, and is no command of a service that reads
 * the output.
 */
export function printable(text: string): string {
  const lines = text.replaceAll('\r\n', '\n').replaceAll('\t', '  ').split('\n');
  const clean = lines.map((line) => line.replace(UNPRINTABLE, '\uFFFD')).join('\n');
  return COMMANDS.reduce((safe, command) => safe.replace(command, '$1 '), clean);
}

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** JSON on one line, in which what no terminal may get is escaped. */
export const printableJson = (value: object): string =>
  JSON.stringify(value).replace(UNPRINTABLE, (character) =>
    character.split('').map(escaped).join(''),
  );

/** What errors call a device. @param name if it has one, from outside */
export const deviceTitle = (chipid: string, name?: string): string =>
  name === undefined ? `device ${chipid}` : `device ${oneLine(name, MAX)} (${chipid})`;

/** A sentence of a text that begins with a small letter. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function kindOf(value: object): string {
  if (Array.isArray(value)) return 'an array';
  if (Buffer.isBuffer(value)) return 'a Buffer';
  return value instanceof Date ? 'a Date' : 'an object';
}

/** Shows a value from outside in an error: short, on one line, whatever it is. */
export function show(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value === '' ? 'empty' : `"${oneLine(value, MAX)}"`;
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'bigint':
      return oneLine(`${value}n`, MAX);
    case 'object':
      return value === null ? 'null' : kindOf(value);
    default:
      return `a ${typeof value}`;
  }
}

/** A thrown value as text; anything can be thrown, even values without a text. */
export function thrownText(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'a value without a text';
  }
}

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
