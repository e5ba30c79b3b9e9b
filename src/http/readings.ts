/** A character that a text may encode at one place, and the number of units of the text that encode it. */
export interface Reading {
  /** UTF-16 units of the character, without its case. */
  units: readonly number[];
  length: number;
}

/** The most units of a text that encode one unit of its content: UTF-8, percent-encoded twice. */
export const LONGEST_FORM = 15;

const HEX_PAIR = /[0-9a-f]{2}/iy;
const UNICODE_ESCAPE = /u([0-9a-f]{4})/iy;
/** An escape of JSON, percent-encoded: `%5C%22` for a quote. */
const ENCODED_ESCAPE = /%5c(?:%(22|27|2f|5c)|(["'/bfnrt])|u([0-9a-f]{4}))/iy;
const ENTITY = /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/iy;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '/': '/',
  "'": "'",
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** How often a percent sign or a backslash may itself be written in percent-encoding or JSON. */
const PERCENTS = ['%', '%25'];
const BACKSLASHES = ['\\', '\\\\', '\\\\\\'];

const at = (pattern: RegExp, text: string, index: number): RegExpExecArray | null => {
  pattern.lastIndex = index;
  return pattern.exec(text);
};

/**
 * A character without its case, and without what an encoding makes of it: a form writes a space as `+`,
 * and UTF-8 has no halves of surrogate pairs.
 */
export function fold(character: string): number[] {
  if (character === '+') return [0x20];
  // In this order one letter of each kind is left: `ß` and `ẞ` become `ss`, `ς` and `Σ` become `σ`.
  const text = character.toWellFormed().toLowerCase().toUpperCase().toLowerCase();
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
}

function percentEncoded(text: string, start: number, percent: string): Reading | undefined {
  const bytes: number[] = [];
  let index = start;
  let due = 1;
  while (bytes.length < due && text.startsWith(percent, index)) {
    const pair = at(HEX_PAIR, text, index + percent.length);
    if (!pair) break;
    const byte = parseInt(pair[0], 16);
    if (bytes.length === 0) due = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    bytes.push(byte);
    index += percent.length + 2;
  }
  if (bytes.length < due) return undefined;
  const character = Buffer.from(bytes).toString('utf8');
  return { units: fold(character), length: index - start };
}

function escaped(text: string, start: number, backslash: string): Reading | undefined {
  const index = start + backslash.length;
  const first = text.charAt(index);
  const plain = ESCAPES[first];
  if (plain !== undefined) return { units: fold(plain), length: backslash.length + 1 };
  // Most are not, and the search takes longer than this.
  if (first !== 'u' && first !== 'U') return undefined;
  const unicode = at(UNICODE_ESCAPE, text, index);
  if (!unicode) return undefined;
  let character = String.fromCharCode(parseInt(unicode[1] ?? '', 16));
  let length = backslash.length + unicode[0].length;
  // The other half of a surrogate pair has a separate escape.
  if (!character.isWellFormed() && text.startsWith(backslash, start + length)) {
    const second = at(UNICODE_ESCAPE, text, start + length + backslash.length);
    const pair = character + String.fromCharCode(parseInt(second?.[1] ?? '0', 16));
    if (second && pair.isWellFormed()) {
      character = pair;
      length += backslash.length + second[0].length;
    }
  }
  return { units: fold(character), length };
}

function entity(text: string, start: number): Reading | undefined {
  const found = at(ENTITY, text, start);
  if (!found) return undefined;
  const [whole, name, decimal, hex] = found;
  const code = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal);
  const character =
    name === undefined
      ? String.fromCodePoint(Math.min(code, 0x10ffff))
      : (ENTITIES[name.toLowerCase()] ?? '');
  return { units: fold(character), length: whole.length };
}

function encodedEscape(text: string, start: number): Reading | undefined {
  const found = at(ENCODED_ESCAPE, text, start);
  if (!found) return undefined;
  const [whole, hex, plain = '', unicode] = found;
  const code = hex ?? unicode;
  const character = code === undefined ? ESCAPES[plain] : String.fromCharCode(parseInt(code, 16));
  return character === undefined ? undefined : { units: fold(character), length: whole.length };
}

/** A backslash as JSON writes it, and as JSON in JSON does. */
const ESCAPED_BACKSLASHES: readonly Reading[] = [2, 4].map((length) => ({
  units: fold('\\'),
  length,
}));

function addForms(readings: Reading[], text: string, index: number, first: string): void {
  const add = (reading: Reading | undefined): void => {
    if (reading) readings.push(reading);
  };
  if (first === '%') {
    for (const percent of PERCENTS) add(percentEncoded(text, index, percent));
    add(encodedEscape(text, index));
  }
  if (first === '&') add(entity(text, index));
  if (first !== '\\') return;
  for (const reading of ESCAPED_BACKSLASHES) {
    if (text.startsWith('\\'.repeat(reading.length), index)) add(reading);
  }
  for (const backslash of BACKSLASHES) {
    if (text.startsWith(backslash, index)) add(escaped(text, index, backslash));
  }
}

/** The readings of unencoded ASCII characters. */
const PLAIN = Array.from({ length: 128 }, (_, code): readonly [Reading] => [
  { units: fold(String.fromCharCode(code)), length: 1 },
]);

function readingAsIs(text: string, index: number): readonly [Reading] {
  const character = String.fromCodePoint(text.codePointAt(index) ?? 0);
  return [{ units: fold(character), length: character.length }];
}

/**
 * All readings of a text at one place: the character as it is, percent-encoded, or escaped as
 * in JSON or HTML, each also encoded twice where that is common. At most a handful, whatever the text.
 */
export function readingsAt(text: string, index: number): readonly Reading[] {
  const plain = PLAIN[text.charCodeAt(index)] ?? readingAsIs(text, index);
  const first = text.charAt(index);
  if (first !== '%' && first !== '&' && first !== '\\') return plain;
  const readings: Reading[] = [...plain];
  addForms(readings, text, index, first);
  return readings;
}
