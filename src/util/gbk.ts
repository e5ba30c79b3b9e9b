const FIRST_LEAD = 0x81;
const LAST_LEAD = 0xfe;
const FIRST_TRAIL = 0x40;
const LAST_TRAIL = 0xfe;
const ASCII = 0x80;
const NEW_LINE = 0x0a;

/** What the decoder gives for bytes without a character: it is for private use, or replaced. */
const NO_CHARACTER = /[\ue000-\uf8ff\ufffd]/;

/** The pair of bytes of each character that has one. */
let pairs: Map<string, number> | undefined;

/**
 * Reads the two-byte characters from the platform's decoder, which has no encoder beside it.
 * @throws RangeError if Node.js was built without GBK
 */
function readPairs(): Map<string, number> {
  const all: number[] = [];
  for (let lead = FIRST_LEAD; lead <= LAST_LEAD; lead++)
    for (let trail = FIRST_TRAIL; trail <= LAST_TRAIL; trail++) all.push(lead * 256 + trail);
  // A line end cannot be part of a pair: each stays on its line, whatever a pair is decoded to.
  const bytes = all.flatMap((pair) => [pair >> 8, pair & 0xff, NEW_LINE]);
  const lines = new TextDecoder('gbk').decode(Uint8Array.from(bytes)).split('\n');
  const found = new Map<string, number>();
  for (const [index, pair] of all.entries()) {
    const character = lines[index] ?? '';
    if (character.length !== 1 || NO_CHARACTER.test(character)) continue;
    // The first pair counts: newer versions of Node.js read one that GBK leaves open, a3a0, as the ideographic space, too.
    if (!found.has(character)) found.set(character, pair);
  }
  return found;
}

/** Whether this Node.js can decode GBK: a build with little of ICU cannot. */
export function hasGbk(): boolean {
  try {
    return new TextDecoder('gbk').encoding === 'gbk';
  } catch {
    return false;
  }
}

/** Decodes GBK. @returns undefined if the bytes are not GBK */
export function decodeGbk(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('gbk', { fatal: true }).decode(bytes);
    return NO_CHARACTER.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Encodes text in GBK. @returns the first character that GBK does not have, if there is one */
export function encodeGbk(text: string): { bytes: Buffer } | { foreign: string } {
  pairs ??= readPairs();
  const bytes = Buffer.alloc(text.length * 2);
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < ASCII) {
      bytes[length++] = code;
      continue;
    }
    const pair = pairs.get(character);
    if (pair === undefined) return { foreign: character };
    length = bytes.writeUInt16BE(pair, length);
  }
  return { bytes: bytes.subarray(0, length) };
}
