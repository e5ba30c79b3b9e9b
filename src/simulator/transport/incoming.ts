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

/** A body that is sent as it is, in place of JSON. */
export class RawBody {
  readonly bytes: Buffer;
  constructor(
    text: string | Buffer,
    readonly type: string,
  ) {
    this.bytes = Buffer.from(text as string);
  }
}

/** An answer, as JSON unless its body is a {@link RawBody}. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
