import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';

/** How many bytes of items a list keeps that others fill. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A list that keeps its last items. */
export class Bounded<T> {
  readonly items: T[] = [];
  readonly #limit: number;
  readonly #sizeOf: (item: T) => number;
  #bytes = 0;

  /**
   * @param limit how many items are kept
   * @param sizeOf bytes of an item: the oldest go when all together have more than 64 MiB. The newest stays.
   */
  constructor(limit: number, sizeOf: (item: T) => number = () => 0) {
    this.#limit = limit;
    this.#sizeOf = sizeOf;
  }

  add(item: T): void {
    this.items.push(item);
    this.#bytes += this.#sizeOf(item);
    let kept = this.items.length;
    for (const oldest of this.items) {
      if (kept <= this.#limit && (this.#bytes <= MAX_BYTES || kept === 1)) break;
      this.#bytes -= this.#sizeOf(oldest);
      kept--;
    }
    if (kept < this.items.length) this.items.splice(0, this.items.length - kept);
  }

  /** Drops the newest items from the first one on for which `from` is true. */
  cut(from: (item: T) => boolean): void {
    const first = this.items.findIndex(from);
    if (first === -1) return;
    for (const item of this.items.splice(first)) this.#bytes -= this.#sizeOf(item);
  }
}

/** A request that has arrived, the upgrade to a channel included. */
export interface RequestRecord {
  /** In upper case. */
  readonly method: string;
  /** The path as sent, without the query. */
  readonly path: string;
  /** The query as sent, `sign` included: the simulator's keys are no secrets. */
  readonly query: string;
  /** The body as UTF-8, of a long one the first 64 KiB. */
  readonly body: string;
  /** Names in lower case, as Node.js gives them. */
  readonly headers: IncomingHttpHeaders;
  /** Milliseconds since 1970, by the simulator's clock. */
  readonly at: number;
  /** The answer's status; 0 until there is one. */
  readonly status: number;
}

/** A text frame that has arrived on a channel. */
export interface FrameRecord {
  /** The channel's device, as digits. */
  readonly chipid: string;
  /** The frame, JSON if it is a good one; of a long one the first 64 KiB. */
  readonly text: string;
  /** Bytes of the whole frame. */
  readonly size: number;
  /** Milliseconds since 1970, by the simulator's clock. */
  readonly at: number;
}

export type OpenRecord = { -readonly [Name in keyof RequestRecord]: RequestRecord[Name] };

/** How many bytes of a body or a frame are kept. */
const LOGGED = 64 * 1024;
const KEPT = 1000;

/**
 * The start of a text, without half a character at its end. It is decoded from the bytes: a slice of a
 * long string would keep all of it in memory.
 */
export const logged = (bytes: Buffer): string =>
  new StringDecoder('utf8').write(bytes.subarray(0, LOGGED));

/** The last 1000 requests, and the last 1000 frames that came over channels. */
export function createRequestLog(now: () => number) {
  const requests = new Bounded<OpenRecord>(KEPT);
  const frames = new Bounded<FrameRecord>(KEPT);
  return {
    requests: requests.items as readonly RequestRecord[],
    frames: frames.items as readonly FrameRecord[],
    /** Notes a request; its body and status are filled in later. */
    open({ method = '', url = '', headers }: IncomingMessage): OpenRecord {
      const mark = url.indexOf('?');
      const record: OpenRecord = {
        method,
        path: mark === -1 ? url : url.slice(0, mark),
        query: mark === -1 ? '' : url.slice(mark + 1),
        body: '',
        headers,
        at: now(),
        status: 0,
      };
      requests.add(record);
      return record;
    },
    frame: (chipid: string, bytes: Buffer): void =>
      frames.add({ chipid, text: logged(bytes), size: bytes.length, at: now() }),
  };
}

export type RequestLog = ReturnType<typeof createRequestLog>;
