import { invalidInput } from '../errors';
import type { RecoverOptions } from '../recovery/options';
import type { CallProgress, Charset, Datatype, PushAnswer, PushFormat, Upload } from '../types';
import { decodeUpload, uploadText } from '../util/decode';
import { equalJson, readPath, valueAt } from '../util/json';
import { Pattern } from '../util/pattern';
import { oneLine, show } from '../util/show';

/**
 * Which upload answers a request:
 * - `next`: the next one, whatever it is; requests of this kind to one device run one at a time
 * - `property`: one whose property, a path such as `reply.id`, equals a value of JSON, without
 *   conversions: `"1"` is not `1`
 * - `pattern`: one whose text, of at most 65,536 characters, a regular expression matches. It has at most 1,000 characters, and
 *   neither look-around nor back-references, since it is matched in linear time
 */
export type RequestMatch =
  | 'next'
  | { property: string; equals: unknown }
  | { pattern: string | RegExp };

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

/** How a request has uploads decoded. */
export type Decoding = Datatype | UploadDecoder;

/** The decoded body; undefined if it cannot be decoded. */
type Payload = { value: unknown } | undefined;

function once<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  if (!known.has(key)) known.set(key, make());
  return known.get(key) as V;
}

/** An upload that may answer several requests: what each reads of it is worked out once. */
export class UploadReading {
  /** When it arrived, on the clock of `performance.now`. */
  readonly arrived = performance.now();
  readonly #decoded = new Map<Decoding, Payload>();
  /** By the key of a pattern: whether it matches. */
  readonly #matches = new Map<string, boolean>();

  constructor(
    readonly upload: Upload,
    readonly charset: Charset = 'utf-8',
  ) {}

  /** The decoded body, or undefined if it cannot be decoded. */
  decoded(by: Decoding): Payload {
    return once(this.#decoded, by, () => {
      const { body } = this.upload;
      try {
        if (typeof by !== 'function') return { value: decodeUpload(body, by, this.charset) };
        const decoded = by(body, this.charset);
        return 'value' in decoded ? decoded : undefined;
      } catch {
        // Not JSON, or too deep: it answers no request that expects JSON.
        return undefined;
      }
    });
  }

  /** Whether the body is text that matches a pattern. */
  matches(pattern: Pattern): boolean {
    return once(this.#matches, pattern.key, () => {
      const text = uploadText(this.upload.body, this.charset);
      return text !== undefined && pattern.test(text);
    });
  }
}

/** Judges whether an upload answers a request. */
export interface Matcher {
  /** @param payload the decoded upload */
  matches(payload: unknown, reading: UploadReading): boolean;
  /** What it looks for, to end the sentence "none of them …". */
  readonly wanted: string;
  /** Whether any upload answers. */
  readonly takesAny?: true;
}

const MAX_SHOWN = 100;

function propertyMatcher(property: unknown, equals: unknown): Matcher {
  const path = typeof property === 'string' ? readPath(property) : undefined;
  if (!path) {
    throw invalidInput(
      `The property of the reply must be a path such as reply.id, but is ${show(property)}.`,
    );
  }
  if (equals === undefined) {
    throw invalidInput(`There is no value that the property ${show(property)} has to equal.`);
  }
  return {
    matches: (payload) => equalJson(valueAt(payload, path), equals),
    wanted: `has the property ${show(property)} with the value ${show(equals)} (${typeof equals})`,
  };
}

function patternMatcher(given: unknown): Matcher {
  if (typeof given !== 'string' && !(given instanceof RegExp))
    throw invalidInput(`The pattern must be a regular expression, but is ${show(given)}.`);
  let pattern: Pattern;
  try {
    pattern = new Pattern(given);
  } catch (error) {
    throw invalidInput((error as Error).message);
  }
  return {
    matches: (_payload, reading) => reading.matches(pattern),
    wanted: `matches the pattern ${oneLine(pattern.key, MAX_SHOWN)}`,
  };
}

/**
 * Makes the matcher of a request.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function matcherOf(match: RequestMatch | undefined): Matcher {
  if (match === 'next') return { matches: () => true, wanted: '', takesAny: true };
  if (typeof match === 'object' && (match as unknown) !== null) {
    if ('property' in match) return propertyMatcher(match.property, match.equals);
    if ('pattern' in match) return patternMatcher(match.pattern);
  }
  throw invalidInput(
    'A request needs a match, which says which upload is its reply: "next", {property, equals} ' +
      `or {pattern}, but got ${show(match)}.`,
  );
}
