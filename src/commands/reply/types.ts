import type { RecoverOptions } from '../../recovery/options';
import type { CallProgress, Charset, Datatype, PushAnswer, PushFormat, Upload } from '../../types';

/**
 * Which upload answers a request:
 * - `next`: the next one, whatever it is; requests of this kind to one device run one at a time
 * - `property`: one whose property, a path such as `reply.id`, equals a value of JSON, without
 *   conversions: `"1"` is not `1`
 * - `pattern`: one whose text, of at most 65,536 characters, a regular expression matches. It has at most 1,000 characters, and
 *   neither look-around nor back-references, since it is matched in linear time
 * - a function that returns true for the upload that answers
 */
export type RequestMatch =
  | 'next'
  | { property: string; equals: unknown }
  | { pattern: string | RegExp }
  | ((payload: unknown, upload: Upload) => boolean);

/** A decoded body, or what is wrong with it: then the upload is no reply. */
export type DecodedBody = { value: unknown } | { problem: string };

/** Decodes the body of an upload. @param charset of text that is not UTF-8 */
export interface UploadDecoder {
  (body: Buffer, charset: Charset): DecodedBody;
  /** By which another process, that has the same types, finds its own. */
  readonly typeId?: string;
}

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
