import type { RecoverOptions } from '../../recovery/options';
import type { CallProgress, Charset, Datatype, PushAnswer, PushFormat, Upload } from '../../types';

/**
 * Which upload answers a request:
 * - `next`: the next one, whatever it is; requests of this kind to one device run one at a time
 * - `property`: one whose property, a path such as `reply.id`, equals a value of JSON, without
 *   conversions: `"1"` is not `1`
 * - `pattern`: one whose text a regular expression matches; at most 1,000 characters
 * - a function that returns true, or a promise of true, for the upload that answers. It may run its regular expressions
 *   with `patterns`, which stops them before they take too long
 */
export type RequestMatch =
  | 'next'
  | { property: string; equals: unknown }
  | { pattern: string | RegExp }
  | ((payload: unknown, upload: Upload, patterns: UploadPatterns) => boolean | Promise<boolean>);

/** Runs the regular expressions of all requests that judge one upload: together, they take at most 200 ms. */
export interface UploadPatterns {
  /**
   * Runs a pattern on a text.
   * @param pattern its `lastIndex` counts if it is global
   * @param max how many matches are wanted at most, default 1; more only of a global pattern
   * @returns the matches; an empty one is the last
   * @throws Error if the pattern takes too long
   */
  find(pattern: RegExp, text: string, max?: number): RegExpExecArray[];
}

/** A decoded body, or what is wrong with it: then the upload is no reply. */
export type DecodedBody = { value: unknown } | { problem: string };

/** Decodes the body of an upload. @param charset of text that is not UTF-8 */
export type UploadDecoder = (body: Buffer, charset: Charset) => DecodedBody | Promise<DecodedBody>;

/** What a request waits for: what a call waits for, then the reply. */
export type RequestProgress = CallProgress | { state: 'awaiting-reply' };

/** How to ask a device. */
export interface RequestOptions {
  /** Which upload is the reply. */
  match: RequestMatch;
  /** Of the push, default `MSG` (text). */
  format?: PushFormat;
  /** Milliseconds that the channel may take to connect, and then the push; default 12,000. */
  timeout?: number;
  /** Milliseconds from sending the push until the reply, default 30,000. */
  replyTimeout?: number;
  /** How uploads are decoded, default `auto-detect`. One that cannot be decoded is no reply. */
  datatype?: Datatype;
  /** Decodes uploads in place of `datatype`. */
  decode?: UploadDecoder;
  /** How uploads that the channel missed are read: the options of the first request to a device count. */
  recover?: Pick<RecoverOptions, 'zone'>;
  /** Aborts the request; the error shows its `reason`. */
  signal?: AbortSignal;
  /** Is called whenever what the request waits for changes; what it throws is ignored. */
  onProgress?: (progress: RequestProgress) => void;
}

/** A device's reply to a request. */
export interface Reply {
  /** The upload, decoded. */
  payload: unknown;
  /** The upload as it arrived. */
  upload: Upload;
  /** Milliseconds from sending the push until the upload arrived. */
  elapsed: number;
  /** The service's answer to the push, if there was one. */
  answer?: PushAnswer;
  /** The HTTP status of the service's answer, if there was one. */
  statusCode?: number;
  /** Set if the outcome of the push is unknown: whether the upload answers it is not certain. */
  uncertain?: true;
}
