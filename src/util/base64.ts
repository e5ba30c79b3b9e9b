/**
 * Decodes Base64 strictly: the standard alphabet, padded, nothing between. `Buffer.from` alone never
 * fails: it skips what it does not know, which then is missing from the length, and of a character
 * beyond ASCII it may take the low byte.
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
