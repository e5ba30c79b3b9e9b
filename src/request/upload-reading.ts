import { isUtf8 } from 'node:buffer';
import type { Datatype, Upload } from '../types';
import { decodeUpload } from '../util/decode';

/** An upload that may answer several requests: what each reads of it is worked out once. */
export class UploadReading {
  /** When it arrived, on the clock of `performance.now`. */
  readonly arrived = performance.now();
  readonly #decoded = new Map<Datatype, { value: unknown } | undefined>();
  readonly #verdicts = new Map<string, boolean>();

  constructor(readonly upload: Upload) {}

  /** The decoded body, or undefined if it is not of that type. */
  decoded(datatype: Datatype): { value: unknown } | undefined {
    if (this.#decoded.has(datatype)) return this.#decoded.get(datatype);
    let decoded: { value: unknown } | undefined;
    try {
      decoded = { value: decodeUpload(this.upload.body, datatype) };
    } catch {
      // Not JSON, or too deep: it answers no request that expects JSON.
    }
    this.#decoded.set(datatype, decoded);
    return decoded;
  }

  /** The body as text; undefined if it is not UTF-8. */
  text(): string | undefined {
    const { body } = this.upload;
    return isUtf8(body) ? body.toString('utf8') : undefined;
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
