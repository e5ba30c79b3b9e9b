import type { PushFormat } from './records';

/**
 * What the calls take. Each is checked again when it is used, since much of it comes from messages
 * and forms: what is wrong is `INVALID_INPUT`, and nothing is sent.
 */

/** A chip number: a safe integer from 0, or 1 to 20 digits, which never lose one. */
export type Chipid = number | string;

/** A pin: an integer from 0, or its digits. */
export type Pin = number | string;

/** The level of a pin: low is 0, high is 1 (section 4.2, `:edge`). */
export type Level = 0 | 1 | '0' | '1' | boolean | 'low' | 'high' | 'off' | 'on';

/** A day: `YYYYMMDD` or ISO text, a Date, or milliseconds since 1970; of the latter two this machine's day. */
export type Day = string | number | Date;

/** What can be pushed: text, a number, a boolean, bytes, or an object as JSON. HEX and B64 take text or bytes. */
export type PushMessage = string | number | boolean | object;

/** Query parameters whose names the service's document does not show: passed through. */
export type Query = Readonly<Record<string, string | number | boolean>>;

/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** What a caller may set for one call. */
export interface CallOptions {
  /** Seconds the call may take once its turn has come; default: 12 if it reaches a device, else the client's. */
  timeout?: number;
  /** Breaks the call off; its `reason` stands in the error. */
  signal?: AbortSignal;
}

/** How to push. */
export interface PushOptions extends CallOptions {
  /** Default `MSG` (text). */
  format?: PushFormat;
}
