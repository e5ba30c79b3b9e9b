const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * Decodes Base64 bit by bit, and only what RFC 4648 lets an encoder write: the alphabet of its section 4,
 * padded, without anything between. The bits left over before the padding may be anything, since a
 * decoder may ignore them (its section 3.5).
 */
export function base64Bytes(text: string): Buffer | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = /={0,2}$/.exec(text)?.[0].length ?? 0;
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const character of text.slice(0, text.length - padding)) {
    const value = ALPHABET.indexOf(character);
    if (value === -1) return undefined;
    held = (held << 6) | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
    held &= (1 << bits) - 1;
  }
  return Buffer.from(bytes);
}

/**
 * The same of the body of an event: with line ends anywhere, without padding, and with the alphabet of RFC 4648,
 * section 5, for its last two characters.
 */
export function eventBytes(text: string): Buffer | undefined {
  let plain = '';
  for (const character of text) {
    if (character === '\n' || character === '\r') continue;
    plain += character === '-' ? '+' : character === '_' ? '/' : character;
  }
  if (plain.includes('=') || plain.length % 4 === 0) return base64Bytes(plain);
  return plain.length % 4 === 1
    ? undefined
    : base64Bytes(plain + '==='.slice((plain.length % 4) - 1));
}
