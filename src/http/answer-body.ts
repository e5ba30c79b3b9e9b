/** The first size of the buffer, in bytes, when a second chunk arrives: unless the length is announced … */
const SMALL = 16 * 1024;
/** … which is believed up to this many bytes, before they have come. */
const BELIEVED = 1024 * 1024;

const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Collects the chunks of an answer in one buffer, which doubles. A list of them would need a hundred
 * bytes or more for each: an answer in chunks of one byte would fill the heap long before its limit.
 */
export class AnswerBody {
  #bytes = NOTHING;
  #size = 0;
  readonly #announced: number;

  /**
   * @param limit the most bytes it may hold
   * @param announced the answer's length in bytes, as its header says, which may be wrong or no number
   */
  constructor(
    readonly limit: number,
    announced = 0,
  ) {
    this.#announced = announced <= BELIEVED ? announced : 0;
  }

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
    const room = Math.min(
      this.limit,
      Math.max(this.#announced || SMALL, 2 * this.#bytes.length, size),
    );
    const bytes = Buffer.allocUnsafeSlow(room);
    this.#bytes.copy(bytes, 0, 0, this.#size);
    this.#bytes = bytes;
  }

  /** All that was added. */
  read(): Buffer {
    const bytes = this.#bytes;
    // Most answers come in one chunk, which needs no other view.
    return bytes.length === this.#size ? bytes : bytes.subarray(0, this.#size);
  }
}
