/** The first size of the buffer, in bytes, when a second chunk arrives. */
const SMALL = 16 * 1024;

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Collects the chunks of an answer in one buffer, which doubles. A list of them would need a hundred
 * bytes or more for each: an answer in chunks of one byte would fill the heap long before its limit.
 */
export class AnswerBody {
  #bytes = NOTHING;
  #size = 0;

  /** @param limit the most bytes it may hold */
  constructor(readonly limit: number) {}

  /** Adds a chunk. @returns false, without adding it, if it does not fit */
  add(chunk: Buffer): boolean {
    const size = this.#size + chunk.length;
    if (size > this.limit) return false;
    if (this.#size === 0) this.#bytes = chunk;
    else {
      if (size > this.#bytes.length) this.#grow(size);
      chunk.copy(this.#bytes, this.#size);
    }
    this.#size = size;
    return true;
  }

  #grow(size: number): void {
    const room = Math.min(this.limit, Math.max(SMALL, 2 * this.#bytes.length, size));
    const bytes = Buffer.allocUnsafeSlow(room);
    this.#bytes.copy(bytes, 0, 0, this.#size);
    this.#bytes = bytes;
  }

  read(): Buffer {
    const bytes = this.#bytes;
    // Most answers come in one chunk, which needs no other view.
    return bytes.length === this.#size ? bytes : bytes.subarray(0, this.#size);
  }
}
