import type { Charset, Datatype, Upload } from '../../types';
import { PatternBudget } from '../../util/bounded-pattern';
import { decodeUpload, uploadText } from '../../util/decode';

/** An upload that may answer several requests: what each reads of it is worked out once. */
export class UploadReading {
  /** When it arrived, on the clock of `performance.now`. */
  readonly arrived = performance.now();
  /** The time for all patterns that judge it. */
  readonly patterns = new PatternBudget();
  readonly #decoded = new Map<Datatype, { value: unknown } | undefined>();
  readonly #verdicts = new Map<string, boolean>();

  constructor(
    readonly upload: Upload,
    readonly charset: Charset = 'utf-8',
  ) {}

  /** The decoded body, or undefined if it is not of that type. */
  decoded(datatype: Datatype): { value: unknown } | undefined {
    if (this.#decoded.has(datatype)) return this.#decoded.get(datatype);
    let decoded: { value: unknown } | undefined;
    try {
      decoded = { value: decodeUpload(this.upload.body, datatype, this.charset) };
    } catch {
      // Not JSON, or too deep: it answers no request that expects JSON.
    }
    this.#decoded.set(datatype, decoded);
    return decoded;
  }

  /** The body as text; undefined if it is not text. */
  text(): string | undefined {
    return uploadText(this.upload.body, this.charset);
  }

  /** What `judge` says, asked once for each key. */
  once(key: string, judge: () => boolean): boolean {
    const known = this.#verdicts.get(key);
    if (known !== undefined) return known;
    const verdict = judge();
    this.#verdicts.set(key, verdict);
    return verdict;
  }
}
