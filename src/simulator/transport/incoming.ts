import type { IncomingHttpHeaders } from 'node:http';

/** A request whose body has been read whole. */
export interface Incoming {
  readonly method: string;
  /** The path as sent, without the query: the server API's sign is over it. */
  readonly path: string;
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

/** An answer that is JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
