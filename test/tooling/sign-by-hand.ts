import { createHash } from 'node:crypto';

/*
 * The signatures of section 5 written down a second time, byte by byte: nothing of src/ is called, since the
 * client must not be checked with its own code.
 */

const md5 = (...parts: Buffer[]): string =>
  createHash('md5').update(Buffer.concat(parts)).digest('hex');

/** UTF-8 (RFC 3629) by hand. Half a surrogate pair has no form in it and becomes U+FFFD. */
export function utf8(text: string): Buffer {
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const isHalf = point >= 0xd800 && point <= 0xdfff;
    const code = isHalf ? 0xfffd : point;
    const tail = (shift: number): number => 0x80 | ((code >> shift) & 0x3f);
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), tail(0));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), tail(6), tail(0));
    else bytes.push(0xf0 | (code >> 18), tail(12), tail(6), tail(0));
  }
  return Buffer.from(bytes);
}

/** Code units as bytes, the high one first: these compare as the text does. */
const units = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

interface Row {
  key: Buffer;
  pair: Buffer;
}

/** Takes the row with the greatest key out of the rows. */
function takeGreatest(rows: Row[]): Row | undefined {
  let at = 0;
  rows.forEach(({ key }, index) => {
    if (Buffer.compare(key, rows[at]?.key ?? key) > 0) at = index;
  });
  return rows.splice(at, 1)[0];
}

/** Section 5.2: A + B + C. */
export function openSignature(
  method: string,
  params: readonly (readonly [name: string, value: string])[],
  appkey: string,
): string {
  const rows = params
    .map(([name, value]) => ({
      key: units(name.toLowerCase()),
      // Lowercased as a whole, not URL-encoded.
      pair: utf8(`${name}=${value}`.toLowerCase()),
    }))
    .filter(({ key }) => !key.equals(units('sign')));
  const b: Buffer[] = [];
  for (let row = takeGreatest(rows); row; row = takeGreatest(rows)) {
    if (b.length > 0) b.push(Buffer.of(0x26));
    b.push(row.pair);
  }
  return md5(utf8(method.toLowerCase()), ...b, utf8(appkey));
}

/** Section 5.1: M + P + C + K, lowercased. */
export function signServerByHand(
  method: string,
  path: string,
  key: string,
  timestamp: string,
  password: string,
): string {
  const text = [method, path, 'key=', key, 'timestamp=', timestamp, password].join('');
  return md5(utf8(text.toLowerCase()));
}

/** The signature of section 5.2 for parameters of different names. */
export const signByHand = (
  method: string,
  params: Readonly<Record<string, string>>,
  appkey: string,
): string => openSignature(method, Object.entries(params), appkey);
