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
