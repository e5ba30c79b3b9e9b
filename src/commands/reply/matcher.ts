import { invalidInput } from '../../errors';
import { readInput } from '../../input/values';
import type { Charset, Datatype, Upload } from '../../types';
import { MAX_PATTERN, PatternBudget } from '../../util/bounded-pattern';
import { decodeUpload, uploadText } from '../../util/decode';
import { equalJson, readPath, valueAt } from '../../util/object';
import { oneLine, show } from '../../util/show';
import type { DecodedBody, RequestMatch, UploadDecoder } from './types';

/** How a request has uploads decoded. */
export type Decoding = Datatype | UploadDecoder;

/** The decoded body; undefined if it cannot be decoded. */
type Payload = { value: unknown } | undefined;

/** An upload that may answer several requests: what each reads of it is worked out once. */
export class UploadReading {
  /** When it arrived, on the clock of `performance.now`. */
  readonly arrived = performance.now();
  /** The time for all patterns that judge it. */
  readonly patterns = new PatternBudget();
  readonly #decoded = new Map<Decoding, Payload | Promise<Payload>>();
  /** By the pattern as text: whether it matches. */
  readonly #matches = new Map<string, boolean>();

  constructor(
    readonly upload: Upload,
    readonly charset: Charset = 'utf-8',
  ) {}

  /** The decoded body, or undefined if it cannot be decoded; once a promise of it has settled, the same without it. */
  decoded(by: Decoding): Payload | Promise<Payload> {
    if (this.#decoded.has(by)) return this.#decoded.get(by);
    const decoded = this.#decode(by);
    this.#decoded.set(by, decoded);
    return decoded;
  }

  #decode(by: Decoding): Payload | Promise<Payload> {
    const { body } = this.upload;
    try {
      if (typeof by !== 'function') return { value: decodeUpload(body, by, this.charset) };
      const decoded = by(body, this.charset);
      if (!(decoded instanceof Promise)) return payloadOf(decoded);
      const payload = decoded.then(payloadOf, () => undefined);
      void payload.then((settled) => this.#decoded.set(by, settled));
      return payload;
    } catch {
      // Not JSON, or too deep: it answers no request that expects JSON.
      return undefined;
    }
  }

  /** Whether the body is text that matches a pattern, which is run once, however many requests have it. */
  matches(pattern: RegExp): boolean {
    const key = String(pattern);
    const known = this.#matches.get(key);
    if (known !== undefined) return known;
    const text = uploadText(this.upload.body, this.charset);
    const isMatch = text !== undefined && this.patterns.find(pattern, text).length > 0;
    this.#matches.set(key, isMatch);
    return isMatch;
  }
}

const payloadOf = (decoded: DecodedBody): Payload => ('value' in decoded ? decoded : undefined);

/** Judges whether an upload answers a request. It may throw, or its promise reject. */
export interface Matcher {
  /** @param payload the decoded upload */
  matches(payload: unknown, reading: UploadReading): boolean | Promise<boolean>;
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

function compile(pattern: unknown): RegExp {
  const isRegExp = pattern instanceof RegExp;
  const source = isRegExp ? pattern.source : pattern;
  if (typeof source !== 'string' || source === '' || source.length > MAX_PATTERN) {
    throw invalidInput(
      `The pattern must be a regular expression of 1 to ${MAX_PATTERN} characters.`,
    );
  }
  try {
    // Without the flags that make each run continue where the last one ended.
    return new RegExp(source, isRegExp ? pattern.flags.replace(/[gy]/g, '') : '');
  } catch {
    throw invalidInput(`The pattern ${show(source)} is not a regular expression.`);
  }
}

function patternMatcher(given: unknown): Matcher {
  const pattern = compile(given);
  return {
    matches: (_payload, reading) => reading.matches(pattern),
    wanted: `matches the pattern ${oneLine(String(pattern), MAX_SHOWN)}`,
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
        matches: (payload, { upload, patterns }) => match(payload, upload, patterns),
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
