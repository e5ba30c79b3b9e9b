import { QUOTE, viewOf } from './json-bytes';
import { findLongIntegers } from './json-integers';
import { MAX_CONTAINERS, MAX_DEPTH } from './json-limits';

/** Pieces longer than this are copied natively: for short ones a loop is faster. */
const SHORT = 256;

/** Copies bytes, and puts quotes at places of them. */
class Quoting {
  readonly #from: Buffer;
  readonly #to: Buffer;
  readonly #fromView: DataView;
  readonly #toView: DataView;
  #copied = 0;
  #size = 0;

  /** @param quotes how many there will be at most */
  constructor(bytes: Buffer, quotes: number) {
    this.#from = bytes;
    this.#to = Buffer.allocUnsafeSlow(bytes.length + quotes);
    this.#fromView = viewOf(bytes);
    this.#toView = viewOf(this.#to);
  }

  /** Copies up to each of the first `count` places, and puts a quote there. */
  quote(places: Uint32Array, count: number): void {
    const from = this.#fromView;
    const to = this.#toView;
    let copied = this.#copied;
    let size = this.#size;
    for (let index = 0; index < count; index++) {
      const place = places[index] as number;
      if (place - copied > SHORT) {
        size += this.#from.copy(this.#to, size, copied, place);
        copied = place;
      }
      for (; copied + 4 <= place; copied += 4, size += 4) to.setInt32(size, from.getInt32(copied));
      while (copied < place) to.setUint8(size++, from.getUint8(copied++));
      to.setUint8(size++, QUOTE);
    }
    this.#copied = copied;
    this.#size = size;
  }

  end(): Buffer {
    const copied = this.#from.copy(this.#to, this.#size, this.#copied);
    return this.#to.subarray(0, this.#size + copied);
  }
}

/** Puts quotes around long integers. Copies the bytes only if there are any. */
function quoteInBytes(bytes: Buffer): Buffer {
  let quoting: Quoting | undefined;
  findLongIntegers(bytes, (places, count) => {
    // Each takes at least 17 bytes, the comma after it included.
    quoting ??= new Quoting(bytes, 2 * Math.ceil((bytes.length - (places[0] as number)) / 17));
    quoting.quote(places, count);
  });
  return quoting?.end() ?? bytes;
}

/** The same for text, which may hold what UTF-8 cannot, such as a lone surrogate. */
function quoteInText(text: string): string {
  const bytes = Buffer.allocUnsafe(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = Math.min(text.charCodeAt(at), 0x80);
  const pieces: string[] = [];
  let copied = 0;
  findLongIntegers(bytes, (places, count) => {
    for (const place of places.subarray(0, count)) {
      pieces.push(text.slice(copied, place));
      copied = place;
    }
  });
  if (pieces.length === 0) return text;
  pieces.push(text.slice(copied));
  return pieces.join('"');
}

/** Whether a parsed value is all that its text says: it is not too deep, and no integer may have lost digits. */
function isExact(value: unknown, levels = 0): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) || !Number.isInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  if (levels === MAX_DEPTH) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isExact(item, levels + 1)) return false;
    return true;
  }
  for (const key in value)
    if (!isExact((value as Record<string, unknown>)[key], levels + 1)) return false;
  return true;
}

/** Parses a text too short to exceed other limits than that of depth. @returns undefined if it has to be scanned */
function parseShort(text: string): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isExact(value) ? { value } : undefined;
  } catch {
    // The scan may give a better error.
    return undefined;
  }
}

/**
 * Parses JSON without losing a digit: an integer that a number cannot hold exactly, such as a chip number
 * of 20 digits, becomes a string. The limits of {@link scanJson} are checked; of a short text, such as a history of 1,000
 * records, in what was parsed, since that takes less time than the scan.
 * @param json bytes, in UTF-8, or text
 * @throws SyntaxError if it is not JSON; JsonLimitError, a subclass, if it exceeds a limit
 */
export function parseJson(json: Buffer | string): unknown {
  const short = json.length < MAX_CONTAINERS ? parseShort(json.toString()) : undefined;
  if (short) return short.value;
  const quoted = typeof json === 'string' ? quoteInText(json) : quoteInBytes(json).toString('utf8');
  return JSON.parse(quoted) as unknown;
}
