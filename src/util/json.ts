import { QUOTE, viewOf } from './json-bytes';
import { findLongIntegers } from './json-integers';

/** Pieces longer than this are copied natively: for short ones a loop is faster. */
const SHORT = 256;

/** Copies bytes piece by piece, with quotes between the pieces. */
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

  copyUntil(end: number): void {
    let copied = this.#copied;
    let size = this.#size;
    if (end - copied > SHORT) {
      this.#from.copy(this.#to, size, copied, end);
      size += end - copied;
      copied = end;
    }
    for (; copied + 4 <= end; copied += 4, size += 4) {
      this.#toView.setInt32(size, this.#fromView.getInt32(copied));
    }
    while (copied < end) this.#to[size++] = this.#from[copied++] as number;
    this.#copied = copied;
    this.#size = size;
  }

  quote(): void {
    this.#to[this.#size++] = QUOTE;
  }

  end(): Buffer {
    this.copyUntil(this.#from.length);
    return this.#to.subarray(0, this.#size);
  }
}

/** Puts quotes around long integers. Copies the bytes only if there are any. */
function quoteInBytes(bytes: Buffer): Buffer {
  let quoting: Quoting | undefined;
  findLongIntegers(bytes, (start, end) => {
    // Each takes at least 17 bytes, the comma after it included.
    quoting ??= new Quoting(bytes, 2 * Math.ceil((bytes.length - start) / 17));
    quoting.copyUntil(start);
    quoting.quote();
    quoting.copyUntil(end);
    quoting.quote();
  });
  return quoting?.end() ?? bytes;
}

/** The same for text, which may hold what UTF-8 cannot, such as a lone surrogate. */
function quoteInText(text: string): string {
  const bytes = Buffer.allocUnsafe(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = Math.min(text.charCodeAt(at), 0x80);
  const pieces: string[] = [];
  let copied = 0;
  findLongIntegers(bytes, (start, end) => {
    pieces.push(text.slice(copied, start), text.slice(start, end));
    copied = end;
  });
  if (pieces.length === 0) return text;
  pieces.push(text.slice(copied));
  return pieces.join('"');
}

/**
 * Parses JSON without losing a digit: an integer that a number cannot hold exactly, such as a chip number
 * of 20 digits, becomes a string. Before anything is parsed, the limits of {@link scanJson} are checked.
 * @param json bytes, in UTF-8, or text
 * @throws SyntaxError if it is not JSON; JsonLimitError, a subclass, if it exceeds a limit
 */
export function parseJson(json: Buffer | string): unknown {
  const quoted = typeof json === 'string' ? quoteInText(json) : quoteInBytes(json).toString('utf8');
  return JSON.parse(quoted) as unknown;
}
