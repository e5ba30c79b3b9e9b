import { isUtf8 } from 'node:buffer';
import type { Upload } from '../types';
import type { HistoryRecord } from './answer';
import {
  EMPTY,
  type Hashes,
  hashesOf,
  type KnownWriting,
  REPLACEMENT,
  type Writing,
  WRITINGS,
} from './writing';

/** Of longer bodies, only hashes are remembered, which need less memory. */
const MAX_TEXT = 64;
/** What a history may spoil: anything but printable ASCII and white space. */
const UNUSUAL = /[^ -~\s]/;

/* What is saved of an arrival: a byte of flags, and its hashes, each only if it is not equal to the one before. */
const BINARY = 1;
const SPOILT = 2;
const TRIMMED = 4;
const TAGGED = 8;
const LOOSE = 16;
const AFTER_GAP = 32;
/** Bytes of a hash. */
const HASH = 5;
const MOST_BYTES = 1 + HASH * WRITINGS.length;

/**
 * Writes a hash as `writeUIntBE` does, in a third of the time: there may be thousands of arrivals, which are written each second.
 * @returns the offset after it
 */
function writeHash(to: Buffer, hash: number, at: number): number {
  to[at] = hash / 2 ** 32;
  to[at + 1] = hash >>> 24;
  to[at + 2] = hash >>> 16;
  to[at + 3] = hash >>> 8;
  to[at + 4] = hash;
  return at + HASH;
}

/**
 * An upload that arrived live after the position. Unlike a record of the history, it has no id. There may be a million of
 * them, and few are ever compared: of a short text, the text is kept, and hashed when it is needed.
 */
export class Arrival {
  /** Held back, not emitted yet. */
  held: Upload | undefined;
  /** It may be the late announcement of an upload that was given back (rule 13). */
  isDoubtful = false;
  /** It neither proves nor disproves anything: it may lie before the position (rules 1 and 20). */
  isLoose = false;
  /** An answer was used that should have had it: it is not waited for any more (rule 7). */
  isLate = false;
  /** It has a record, is gone, or is forgotten: it is removed at the end of the part. */
  isDone = false;
  #hashes: Hashes | undefined;

  private constructor(
    /** The body for people to read; undefined if it is long, no text, or was saved. */
    readonly text: string | undefined,
    hashes: Hashes | undefined,
    /** Whether it is text: binary data may be in Base64 anywhere, and shows no writing (rule 17). */
    readonly isText: boolean,
    /** Whether a history may spoil it in a way that is not known, as it does with umlauts (rule 7). */
    readonly mayBeSpoilt: boolean,
    /** Unix time in milliseconds; NaN if an earlier run received it. */
    readonly timestamp: number,
    /** Something may have been missed right before it. */
    public isAfterGap: boolean,
  ) {
    this.#hashes = hashes;
  }

  static of(body: Buffer, timestamp: number, isAfterGap: boolean): Arrival {
    const text = body.toString('utf8');
    const isText = !text.includes(REPLACEMENT) || isUtf8(body);
    const isShort = isText && text.length <= MAX_TEXT;
    const hashes = isShort ? undefined : hashesOf(text, isText ? undefined : body);
    const short = isShort ? text : undefined;
    return new Arrival(short, hashes, isText, UNUSUAL.test(text), timestamp, isAfterGap);
  }

  /** Reads what {@link saveAll} has returned, as far as it is well-formed. */
  static readAll(saved: string): Arrival[] {
    const bytes = Buffer.from(saved, 'base64url');
    const arrivals: Arrival[] = [];
    for (let at = 0; at < bytes.length;) {
      const flags = bytes[at++] ?? 0;
      const next = (): number => {
        at += HASH;
        return at > bytes.length ? NaN : bytes.readUIntBE(at - HASH, HASH);
      };
      const text = next();
      const base64 = flags & BINARY ? next() : text;
      const trimmed = flags & TRIMMED ? next() : text;
      const tagged = flags & TAGGED ? next() : trimmed;
      if (at > bytes.length) break;
      const hashes = { text, base64, trimmed, tagged };
      const [isText, mayBeSpoilt] = [(flags & BINARY) === 0, (flags & SPOILT) !== 0];
      const isAfterGap = (flags & AFTER_GAP) !== 0;
      const arrival = new Arrival(undefined, hashes, isText, mayBeSpoilt, NaN, isAfterGap);
      arrival.isLoose = (flags & LOOSE) !== 0;
      arrivals.push(arrival);
    }
    return arrivals;
  }

  /** Arrivals as a text, to be saved: no body is in it. */
  static saveAll(arrivals: readonly Arrival[]): string {
    const bytes = Buffer.allocUnsafe(arrivals.length * MOST_BYTES);
    let end = 0;
    for (const arrival of arrivals) end = arrival.#write(bytes, end);
    return bytes.toString('base64url', 0, end);
  }

  get hashes(): Hashes {
    return (this.#hashes ??= hashesOf(this.text ?? ''));
  }

  /** Whether the writing, or any while it is open, leaves nothing of it: the history may not have it at all (rule 9). */
  mayBeEmpty(known: KnownWriting | undefined): boolean {
    return this.hashes[known === undefined || known === 'bare' ? 'tagged' : known] === EMPTY;
  }

  /** Whether an answer to a later request must have it, as far as is known of the writing. */
  mustBeThere(known: KnownWriting | undefined): boolean {
    return !(this.isDoubtful || this.isLoose || this.isLate || this.mayBeEmpty(known));
  }

  /** @returns the offset after it */
  #write(to: Buffer, from: number): number {
    const { text, base64, trimmed, tagged } = this.hashes;
    let end = writeHash(to, text, from + 1);
    if (!this.isText) end = writeHash(to, base64, end);
    if (trimmed !== text) end = writeHash(to, trimmed, end);
    if (tagged !== trimmed) end = writeHash(to, tagged, end);
    to[from] =
      (this.isText ? 0 : BINARY) |
      (this.mayBeSpoilt ? SPOILT : 0) |
      (trimmed === text ? 0 : TRIMMED) |
      (tagged === trimmed ? 0 : TAGGED) |
      (this.isLoose ? LOOSE : 0) |
      (this.isAfterGap ? AFTER_GAP : 0);
    return end;
  }
}

/** The arrival of a record. */
export interface Pair {
  /** Its place among the arrivals. */
  readonly place: number;
  readonly writing: Writing;
  /** Equal records are more or fewer than arrivals: it is open which of them is which. */
  readonly isAmbiguous: boolean;
}

export type Pairs = ReadonlyMap<HistoryRecord, Pair>;
