const isoIn = (ms: number, zone: number): string => new Date(ms + zone).toISOString();

/**
 * A time in the service's format `YYYY-MM-DD HH:MM:SS` (section 2.1).
 * @param zone milliseconds ahead of UTC
 */
export const serverTime = (ms: number, zone: number): string =>
  isoIn(ms, zone).slice(0, 19).replace('T', ' ');

/** The day of a time, `YYYYMMDD` (section 4.2.7). @param zone milliseconds ahead of UTC */
export const serverDay = (ms: number, zone: number): string =>
  isoIn(ms, zone).slice(0, 10).replaceAll('-', '');

/**
 * When a day begins, milliseconds since 1970.
 * @param text `YYYYMMDD`
 * @param zone milliseconds ahead of UTC
 * @returns undefined if there is no such day
 */
export function startOfDay(text: string, zone: number): number | undefined {
  const [, year, month, day] = /^(\d{4})(\d{2})(\d{2})$/.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const iso = `${year}-${month}-${day}`;
  const time = Date.parse(iso);
  const exists = !Number.isNaN(time) && new Date(time).toISOString().startsWith(iso);
  return exists ? time - zone : undefined;
}

/**
 * Writes JSON in which a bigint is a bare integer, so that a chip number of 20 digits keeps them all
 * (section 2.1: `chipid` is an integer). JSON.stringify would throw.
 */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => `${JSON.stringify(name)}:${toJson(member)}`);
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value ?? null);
}

let codes: Map<string, number> | undefined;

/** The codes by character. The decoder of the platform knows them, so that no table is shipped. */
function readCodes(): Map<string, number> {
  const decoder = new TextDecoder('gbk');
  const table = new Map<string, number>();
  for (let lead = 0x81; lead <= 0xfe; lead++) {
    for (let trail = 0x40; trail <= 0xfe; trail++) {
      const character = decoder.decode(Uint8Array.of(lead, trail));
      // Not a code: U+FFFD, or that and an ASCII character. Codes for private use stand for no character, and the euro is
      // only in later standards.
      const isCode = character.length === 1 && !/[\uFFFD\uE000-\uF8FF€]/.test(character);
      if (isCode && !table.has(character)) table.set(character, (lead << 8) | trail);
    }
  }
  return table;
}

/** Encodes text as GBK. @returns undefined if GBK does not have one of the characters */
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
