import { invalidInput } from '../../errors';
import { readInput } from '../../input/values';
import type { Charset, Datatype, Upload } from '../../types';
import { decodeUpload, uploadText } from '../../util/decode';
import { equalJson, readPath, valueAt } from '../../util/object';
import { Pattern } from '../../util/pattern';
import { oneLine, show } from '../../util/show';
import { catchRejection } from '../../util/thrown';
import type { RequestMatch, UploadDecoder } from './types';

/** How a request has uploads decoded. */
export type Decoding = Datatype | UploadDecoder;

/** The decoded body; undefined if it cannot be decoded. */
type Payload = { value: unknown } | undefined;

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
    if (this.#decoded.has(by)) return this.#decoded.get(by);
    const decoded = this.#decode(by);
    this.#decoded.set(by, decoded);
    return decoded;
  }

  #decode(by: Decoding): Payload {
    const { body } = this.upload;
    try {
      if (typeof by !== 'function') return { value: decodeUpload(body, by, this.charset) };
      const decoded = by(body, this.charset);
      return 'value' in decoded ? decoded : undefined;
    } catch {
      // Not JSON, or too deep: it answers no request that expects JSON.
      return undefined;
    }
  }

  /** Whether the body is text that matches a pattern, which is run once, however many requests have it. */
  matches(pattern: Pattern): boolean {
    const known = this.#matches.get(pattern.key);
    if (known !== undefined) return known;
    const text = uploadText(this.upload.body, this.charset);
    const isMatch = text !== undefined && pattern.test(text);
    this.#matches.set(pattern.key, isMatch);
    return isMatch;
  }
}

/** Judges whether an upload answers a request. It may throw. */
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
  return readInput('match of the request', () => {
    if (match === 'next') return { matches: () => true, wanted: '', takesAny: true };
    if (typeof match === 'function') {
      return {
        matches: (payload, { upload }) => {
          const verdict: unknown = match(payload, upload);
          // An async function satisfies no type here, and must not end the process if it rejects.
          catchRejection(verdict, () => undefined);
          return verdict === true;
        },
        wanted: 'matches the condition',
      };
    }
    if (typeof match === 'object' && (match as unknown) !== null) {
      if ('property' in match) return propertyMatcher(match.property, match.equals);
      if ('pattern' in match) return patternMatcher(match.pattern);
    }
    throw invalidInput(
      'A request needs a match, which says which upload is its reply: "next", {property, equals}, ' +
        `{pattern} or a function, but got ${show(match)}.`,
    );
  });
}
