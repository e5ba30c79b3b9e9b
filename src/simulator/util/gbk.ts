let codes: Map<string, number> | undefined;

/** The codes by character. The decoder of the platform knows them, so that no table is shipped. */
function readCodes(): Map<string, number> {
  const decoder = new TextDecoder('gbk');
  const table = new Map([['€', 0x80]]);
  for (let lead = 0x81; lead <= 0xfe; lead++) {
    for (let trail = 0x40; trail <= 0xfe; trail++) {
      const character = decoder.decode(Uint8Array.of(lead, trail));
      // Not a code: U+FFFD, or that and an ASCII character. Codes for private use stand for no character.
      const isCode = character.length === 1 && !/[\uFFFD\uE000-\uF8FF]/.test(character);
      if (isCode && !table.has(character)) table.set(character, (lead << 8) | trail);
    }
  }
  return table;
}

/**
 * Encodes text as GBK.
 * @returns undefined if GBK does not have one of the characters
 */
export function encodeGbk(text: string): Buffer | undefined {
  const bytes: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const code = point < 0x80 ? point : (codes ??= readCodes()).get(character);
    if (code === undefined) return undefined;
    if (code > 0xff) bytes.push(code >> 8);
    bytes.push(code & 0xff);
  }
  return Buffer.from(bytes);
}

/** Decodes GBK; invalid bytes become U+FFFD. */
export const decodeGbk = (bytes: Buffer): string => new TextDecoder('gbk').decode(bytes);
