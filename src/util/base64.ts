/**
 * Decodes Base64 strictly: the standard alphabet, padded, no white space. `Buffer.from` alone never
 * fails: it skips unknown characters, which the length then lacks, and may take the low byte of a
 * character beyond ASCII.
 * @returns undefined if the text is not Base64
 */
export function decodeBase64(text: string): Buffer | undefined {
  const { length } = text;
  if (length % 4 !== 0 || text.includes('-') || text.includes('_')) return undefined;
  if (Buffer.byteLength(text) !== length) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === (length / 4) * 3 - padding ? bytes : undefined;
}

/** Another alphabet (RFC 4648, section 5), line ends, and padding that is left out. */
const VARIATIONS = /[-_\r\n]/g;
const STANDARD: Readonly<Record<string, string>> = { '-': '+', _: '/' };

/**
 * Decodes Base64 as an event may carry it (section 6), whose alphabet, padding and line ends are not shown: line ends may be
 * inside, the padding may be missing as a whole, and the alphabet may be that for URLs. A space is no line end: it may
 * once have been a `+`.
 * @returns undefined if the text is not Base64
 */
export function decodeLenientBase64(text: string): Buffer | undefined {
  const plain = text.replace(VARIATIONS, (character) => STANDARD[character] ?? '');
  const isPadded = plain.endsWith('=');
  return decodeBase64(isPadded ? plain : plain.padEnd(Math.ceil(plain.length / 4) * 4, '='));
}
