import type { ErrorCode } from '../errors';

/** A call as its errors name it. */
export interface Call {
  /** What the call does and to which device: `Push to device 10000001`. */
  readonly name: string;
  /** Whether its errors advise to wait for the device: it is a command that could, and has not. */
  canWait?: boolean;
  /**
   * Whether the call waits for a `device` to answer; is a `command` that does something but is not known
   * to wait; or only reads in the `cloud`. Only the last is ever repeated.
   */
  reach: 'device' | 'command' | 'cloud';
  /** Whether the call names a device, which then may not exist. */
  ofDevice: boolean;
  /** The interface, which has its own keys. The server API knows no application id, and its answers are not shown. */
  api: 'open' | 'server';
}

/** A request before it is signed: nothing of it is secret. */
export interface UnsignedRequest {
  method: 'GET' | 'POST' | 'PUT';
  /** Of the open API: relative to `/openapi/`, with the final `/`. Of the server API: from `/api/server/` on, without the query. */
  path: string;
  /** Of the open API, without the common ones. */
  params?: Readonly<Record<string, string>>;
  /** Of the server API: percent-encoded, and JSON. */
  query?: string;
  body?: string | undefined;
}

/** A request ready to be sent: every part validated and encoded, since undici loses a slot to a bad one. */
export interface HttpRequest {
  method: UnsignedRequest['method'];
  /** Path and query, percent-encoded. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** Reads the body of a success while it arrives. Nothing of it is collected, so its length needs no limit. */
export interface BodyReader {
  /** Bytes that have arrived. */
  readonly bytes: number;
  /** Set to the length of the answer, in bytes; infinite if the service does not announce it. */
  announced: number;
  /** Takes the next bytes. Never throws. @returns false if no more are needed: the answer is ended */
  add(chunk: Buffer): boolean;
  /**
   * Returns what the answer is, once it has ended or `add` has returned false.
   * @throws SyntaxError if it is not JSON; JsonLimitError, a subclass, if it exceeds a limit
   */
  end(): unknown;
}

/** One call: how to sign its request, and what its answer has to be. */
export interface CallSpec<T> {
  call: Call;
  unsigned?: UnsignedRequest;
  /** Makes the request, freshly signed each time. */
  build: () => HttpRequest;
  /** Which statuses are a success. */
  succeeds: (statusCode: number) => boolean;
  /** The shape of the answer's JSON. */
  accepts: Shape<T>;
  /**
   * Reads the body of a success, which is not empty; default: as JSON.
   * @throws SyntaxError if the body must be JSON and is not
   */
  decode?: (body: Buffer, statusCode: number) => unknown;
  /** What to check if the body is empty or cannot be read; default: the address. */
  advice?: string;
  /** Why an answer of the right shape is not a success; undefined if it is one. */
  refusal?: ((answer: T) => Refusal | undefined) | undefined;
  /** What makes it doubtful that a success is one, as a sentence without secrets. */
  warning?: ((answer: T) => string | undefined) | undefined;
  /** What a status that is not a success means to this call; undefined: what it usually means. */
  meaning?: (statusCode: number, said: string | undefined) => StatusMeaning | undefined;
  /**
   * Reads the body of a success while it arrives, however long it is. The time-out then runs until the first bytes,
   * and again while the answer makes progress; once something was passed on the call is not repeated.
   */
  reader?: BodyReader;
  /** Set if the caller paces its attempts: then the call is not repeated, even if it only reads. */
  paced?: {
    /** Is called with the milliseconds for which an answer that failed asks to wait. */
    onRetryAfter: ((wait: number) => void) | undefined;
  };
}

/** The shape that an answer must have. */
export interface Shape<T> {
  is: (value: unknown) => value is T;
  /** What it is, for the error: `an array of objects`. */
  name: string;
}

/** Why an answer of the right shape is not a success. */
export interface Refusal {
  /** The name of the answer in the error: `the msg`. */
  what: string;
  /** The service's own words. */
  said?: string;
}

/** What a status that is not a success means: the code of the error, and what to do. */
export type StatusMeaning = readonly [code: ErrorCode, advice: string];
