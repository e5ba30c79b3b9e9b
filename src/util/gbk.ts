/**
 * Pairs of bytes that GBK leaves open. Later standards assign them, and so do the decoders of newer versions of
 * Node.js: left out, the characters are the same 21,791 on each version.
 */
const LATER: readonly (readonly [first: number, last: number])[] = [
  [0xa2e3, 0xa2e3],
  [0xa3a0, 0xa3a0],
  [0xa6d9, 0xa6df],
  [0xa6ec, 0xa6ed],
  [0xa6f3, 0xa6f3],
  [0xa8bc, 0xa8bc],
  [0xa8bf, 0xa8bf],
  [0xa989, 0xa995],
  [0xfe50, 0xfea0],
];

/** What a decoder gives for a pair without a character: it is for private use, or replaced. */
const NO_CHARACTER = /[\ue000-\uf8ff\ufffd]/;

const FIRST_LEAD = 0x81;
const LAST_LEAD = 0xfe;
const FIRST_TRAIL = 0x40;
const LAST_TRAIL = 0xfe;
const ASCII = 0x80;
const NEW_LINE = 0x0a;

interface Table {
  /** The character of a pair of bytes. */
  characters: ReadonlyMap<number, string>;
  /** The pair of bytes of a character. */
  pairs: ReadonlyMap<string, number>;
}

let table: Table | undefined;

/**
 * The two-byte characters, from the platform's decoder, which has no encoder beside it. Both directions use the same
 * table, so that what one writes the other reads.
 * @throws RangeError if Node.js was built without GBK
 */
function gbk(): Table {
  if (table) return table;
  const pairs: number[] = [];
  for (let lead = FIRST_LEAD; lead <= LAST_LEAD; lead++) {
    for (let trail = FIRST_TRAIL; trail <= LAST_TRAIL; trail++) {
      const pair = lead * 256 + trail;
      if (!LATER.some(([first, last]) => pair >= first && pair <= last)) pairs.push(pair);
    }
  }
  // A line end cannot be part of a pair: each stays on its line, whatever a pair is decoded to.
  const bytes = pairs.flatMap((pair) => [pair >> 8, pair & 0xff, NEW_LINE]);
  const lines = new TextDecoder('gbk').decode(Uint8Array.from(bytes)).split('\n');
  const characters = new Map<number, string>();
  const reverse = new Map<string, number>();
  for (const [index, pair] of pairs.entries()) {
    const character = lines[index] ?? '';
    if (character.length !== 1 || NO_CHARACTER.test(character)) continue;
    characters.set(pair, character);
    reverse.set(character, pair);
  }
  table = { characters, pairs: reverse };
  return table;
}

/** Whether this Node.js can decode GBK: a build with little of ICU cannot. */
export function hasGbk(): boolean {
  try {
    return gbk().characters.size > 0;
  } catch {
    return false;
  }
}

/** Decodes GBK. @returns undefined if the bytes are not GBK */
export function decodeGbk(bytes: Uint8Array): string | undefined {
  const { characters } = gbk();
  // Of code units rather than a text that grows: an upload may have megabytes.
  const text = new Uint16Array(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    let unit = byte;
    if (byte >= ASCII) {
      const character = characters.get(byte * 256 + (bytes[++at] ?? 0));
      if (character === undefined) return undefined;
      unit = character.charCodeAt(0);
    }
    text[length++] = unit;
  }
  return Buffer.from(text.buffer, 0, length * 2).toString('utf16le');
}

/** Encodes text in GBK. @returns the first character that GBK does not have, if there is one */
export function encodeGbk(text: string): { bytes: Buffer } | { foreign: string } {
  const { pairs } = gbk();
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
