import type { UploadMessage } from '../common/upload-message';

/** Uploads that may wait for the expressions of their types, and their bytes: an expression may be slow, and devices fast. */
const MAX_WAITING = 1000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Milliseconds for which a close waits for them. */
const PATIENCE = 3000;

/** What is decoded later is emitted in the order in which it came from its device. Other devices do not wait for it. */
export class DecodeQueue {
  /** By chip number, what ends with the last upload that waits. */
  readonly #waiting = new Map<string, Promise<void>>();
  #uploads = 0;
  #bytes = 0;
  readonly #emit: (emitted: UploadMessage) => void;
  readonly #failed: (error: unknown) => void;

  /** @param failed is called with what `emit` throws when nobody calls it any more */
  constructor(emit: (emitted: UploadMessage) => void, failed: (error: unknown) => void) {
    this.#emit = emit;
    this.#failed = failed;
  }

  /** Whether no more uploads may wait. */
  get isFull(): boolean {
    return this.#uploads >= MAX_WAITING || this.#bytes >= MAX_BYTES;
  }

  /** Emits an upload: at once, unless it is decoded later or others of its device wait. */
  add(chipid: string, size: number, decoded: UploadMessage | Promise<UploadMessage>): void {
    if (!(decoded instanceof Promise) && !this.#waiting.has(chipid)) {
      this.#emit(decoded);
      return;
    }
    this.#uploads++;
    this.#bytes += size;
    const before = this.#waiting.get(chipid);
    const ready = before ? before.then(() => decoded) : Promise.resolve(decoded);
    const sent = ready.then((message) => {
      this.#uploads--;
      this.#bytes -= size;
      if (this.#waiting.get(chipid) === sent) this.#waiting.delete(chipid);
      try {
        this.#emit(message);
      } catch (error) {
        this.#failed(error);
      }
    });
    this.#waiting.set(chipid, sent);
  }

  /** @returns what resolves once all uploads of a device that wait have been emitted; undefined if none waits */
  waits(chipid: string): Promise<void> | undefined {
    return this.#waiting.get(chipid);
  }

  /** Resolves once nothing waits any more, or it has taken too long. */
  async flush(): Promise<void> {
    if (this.#waiting.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE)));
    await Promise.race([Promise.all(this.#waiting.values()), late]);
    clearTimeout(timer);
  }
}
