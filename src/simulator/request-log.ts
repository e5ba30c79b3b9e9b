import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createBounded } from './bounded';

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
  /** The answer's status; 0 as long as there is none, and for good if there never was one. */
  readonly status: number;
}

/** A text frame that has arrived on a channel. */
export interface FrameRecord {
  /** The channel's device, as digits. */
  readonly chipid: string;
  /** The frame, JSON if it is a good one. */
  readonly text: string;
  /** Milliseconds since 1970, by the simulator's clock. */
  readonly at: number;
}

export type OpenRecord = { -readonly [Name in keyof RequestRecord]: RequestRecord[Name] };

/** How much of a body is kept. */
export const LOGGED_BODY = 64 * 1024;
const KEPT = 1000;

/** The last 1000 requests, and the last 1000 frames that came over channels. */
export function createRequestLog(now: () => number) {
  const requests = createBounded<OpenRecord>(KEPT);
  const frames = createBounded<FrameRecord>(KEPT);
  return {
    requests: requests.items as readonly RequestRecord[],
    frames: frames.items,
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
    frame: (chipid: string, text: string): void => frames.add({ chipid, text, at: now() }),
  };
}

export type RequestLog = ReturnType<typeof createRequestLog>;
