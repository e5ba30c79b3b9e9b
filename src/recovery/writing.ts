import { isUtf8 } from 'node:buffer';
import type { Upload } from '../types';
import { decodeBase64 } from '../util/decode';

/**
 * The writings of a `body` in a history; sections 2.3 to 2.5 do not show which one a service has. `trimmed`: without
 * white space at both ends. `tagged`: as the public server of 2016 does, without white space at both ends, without the
 * text before the first comma, and without any comma. In the order in which they are tried (rule 4).
 */
export const WRITINGS = ['text', 'base64', 'trimmed', 'tagged'] as const;
export type Writing = (typeof WRITINGS)[number];

/** What is known of the writing of an application's histories; `bare`: trimmed or tagged, which is open (rule 17). */
export type KnownWriting = Writing | 'bare';

export const KNOWN_WRITINGS: readonly KnownWriting[] = [...WRITINGS, 'bare'];

export const isLossy = (writing: KnownWriting | undefined): boolean =>
  writing === 'trimmed' || writing === 'tagged' || writing === 'bare';

/** What is read, or written by a history, for bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';

/** What any of the usual languages takes for white space: which of them wrote the history is unknown. */
const isSpace = (code: number): boolean =>
  code === 0x20 ||
  (code >= 0x09 && code <= 0x0d) ||
  (code >= 0x1c && code <= 0x1f) ||
  (code >= 0x85 && (code === 0x85 || /\s/.test(String.fromCharCode(code))));

function trim(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return from === 0 && to === text.length ? text : text.slice(from, to);
}

/** @param text without white space at both ends */
function untag(text: string): string {
  const comma = text.indexOf(',');
  return comma < 0 ? text : trim(text.slice(comma + 1).replaceAll(',', ''));
}

/**
 * A hash of a text with 40 bits (of cyrb53): arrivals and records are compared by it, and none of it can be read back. That a
 * missed record passes for an arrival, in one of three writings, has a chance of 3 in 2^40 for each pair: of 1,000 missed
 * uploads and five arrivals 1 in 70 million, of 1,000 and 2,000, which is the most, 1 in 180,000.
 */
export function hashOf(text: string): number {
  let low = 0xdeadbeef;
  let high = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return 4294967296 * (255 & high) + (low >>> 0);
}

/** Bytes of a hash. */
const HASH = 5;

export const EMPTY = hashOf('');

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

/** The hashes of an upload in each writing; that as Base64 is of the decoded bytes. */
type Hashes = Readonly<Record<Writing, number>>;

/** Of longer bodies, only hashes are remembered, which need less memory. */
const MAX_TEXT = 64;
/** What a history may spoil: anything but printable ASCII and white space. */
const UNUSUAL = /[^ -~\s]/;

function hashesOf(text: string, base64: number | undefined): Hashes {
  const whole = hashOf(text);
  const bare = trim(text);
  const trimmed = bare === text ? whole : hashOf(bare);
  const plain = untag(bare);
  const tagged = plain === bare ? trimmed : hashOf(plain);
  return { text: whole, base64: base64 ?? whole, trimmed, tagged };
}

/* What is saved of an arrival: a byte of flags, and its hashes, each only if it is not equal to the one before. */
const BINARY = 1;
const SPOILT = 2;
const TRIMMED = 4;
const TAGGED = 8;
/** It may lie before the position; something may have been missed right before it. */
const LOOSE = 16;
const AFTER_GAP = 32;
const MOST_BYTES = 1 + HASH * WRITINGS.length;

/**
 * What an upload that arrived looks like in each writing. There may be a million of them, and few are ever compared: of a
 * short text, the text is kept, and hashed when it is needed.
 */
export class Keys {
  #text: string | undefined;
  #hashes: Hashes | undefined;

  private constructor(
    text: string | undefined,
    hashes: Hashes | undefined,
    /** Whether it is text: binary data may be in Base64 anywhere, and shows no writing (rule 17). */
    readonly isText: boolean,
    /** Whether a history may spoil it in a way that is not known, as it does with umlauts (rule 7). */
    readonly mayBeSpoilt: boolean,
  ) {
    this.#text = text;
    this.#hashes = hashes;
  }

  static of(body: Buffer): Keys {
    const text = body.toString('utf8');
    const isText = !text.includes(REPLACEMENT) || isUtf8(body);
    const isShort = isText && text.length <= MAX_TEXT;
    const hashes = isShort ? undefined : hashesOf(text, isText ? undefined : hashOfBytes(body));
    return new Keys(isShort ? text : undefined, hashes, isText, UNUSUAL.test(text));
  }

  /** Reads what {@link write} has written. @returns undefined if it is malformed */
  static read(saved: Buffer, from: number): { keys: Keys; end: number } | undefined {
    const flags = saved[from] ?? 0;
    let end = from + 1;
    const next = (): number => {
      end += HASH;
      return end > saved.length ? NaN : saved.readUIntBE(end - HASH, HASH);
    };
    const text = next();
    const base64 = flags & BINARY ? next() : text;
    const trimmed = flags & TRIMMED ? next() : text;
    const tagged = flags & TAGGED ? next() : trimmed;
    if (end > saved.length) return undefined;
    const hashes = { text, base64, trimmed, tagged };
    return { keys: new Keys(undefined, hashes, !(flags & BINARY), !!(flags & SPOILT)), end };
  }

  /** Writes its hashes behind a byte of flags. @returns the offset after them */
  write(to: Buffer, from: number, flags: number): number {
    const { text, base64, trimmed, tagged } = this.hashes;
    let end = writeHash(to, text, from + 1);
    if (!this.isText) end = writeHash(to, base64, end);
    if (trimmed !== text) end = writeHash(to, trimmed, end);
    if (tagged !== trimmed) end = writeHash(to, tagged, end);
    to[from] =
      flags |
      (this.mayBeSpoilt ? SPOILT : 0) |
      (this.isText ? 0 : BINARY) |
      (trimmed === text ? 0 : TRIMMED) |
      (tagged === trimmed ? 0 : TAGGED);
    return end;
  }

  get hashes(): Hashes {
    return (this.#hashes ??= hashesOf(this.#text ?? '', undefined));
  }

  /** The body for people to read; undefined if it is long or was saved. */
  get body(): string | undefined {
    return this.#text;
  }

  /** Whether the writing, or any while it is open, leaves nothing of it: the history may not have it at all (rule 9). */
  mayBeEmpty(known: KnownWriting | undefined): boolean {
    return this.hashes[known === undefined || known === 'bare' ? 'tagged' : known] === EMPTY;
  }
}

/** An upload that arrived live after the position. Unlike a record of the history, it has no id. */
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

  /**
   * @param timestamp Unix time in milliseconds; NaN if an earlier run received it
   * @param isAfterGap something may have been missed right before it
   */
  constructor(
    readonly keys: Keys,
    readonly timestamp: number,
    public isAfterGap: boolean,
  ) {}

  /** Reads what {@link saveAll} has returned, as far as it is well-formed. */
  static readAll(saved: string): Arrival[] {
    const bytes = Buffer.from(saved, 'base64url');
    const arrivals: Arrival[] = [];
    for (let at = 0; at < bytes.length;) {
      const flags = bytes[at] ?? 0;
      const read = Keys.read(bytes, at);
      if (!read) break;
      const arrival = new Arrival(read.keys, NaN, (flags & AFTER_GAP) !== 0);
      arrival.isLoose = (flags & LOOSE) !== 0;
      arrivals.push(arrival);
      at = read.end;
    }
    return arrivals;
  }

  /** Arrivals as a text, to be saved: no body is in it. */
  static saveAll(arrivals: readonly Arrival[]): string {
    const bytes = Buffer.allocUnsafe(arrivals.length * MOST_BYTES);
    let end = 0;
    for (const { keys, isLoose, isAfterGap } of arrivals)
      end = keys.write(bytes, end, (isLoose ? LOOSE : 0) | (isAfterGap ? AFTER_GAP : 0));
    return bytes.toString('base64url', 0, end);
  }

  /** Whether an answer to a later request must have it, as far as is known of the writing. */
  mustBeThere(known: KnownWriting | undefined): boolean {
    return !(this.isDoubtful || this.isLoose || this.isLate || this.keys.mayBeEmpty(known));
  }
}

const hashOfBytes = (bytes: Buffer): number =>
  hashOf(bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1'));

/** The hashes of a record: as it is, without white space at its ends, and of the bytes if it is Base64. */
export interface RecordHashes {
  whole: number;
  bare: number;
  decoded?: number;
}

export function recordHashes(body: string): RecordHashes {
  const text = body.toWellFormed();
  const whole = hashOf(text);
  const bare = trim(text);
  const bytes = text === '' ? undefined : decodeBase64(text);
  return {
    whole,
    bare: bare === text ? whole : hashOf(bare),
    ...(bytes && { decoded: hashOfBytes(bytes) }),
  };
}

/** What is kept of an application's histories. */
export interface Learned {
  writing?: KnownWriting;
  keepsCommas?: boolean;
  /** Milliseconds ahead of UTC. */
  zone?: number;
}

/** What an upload shows that came both ways: of its device, whether its history is plain or mixed; and of all histories. */
interface ShownWriting {
  isPlain?: boolean;
  isMixed?: true;
  learned: Learned;
}

/**
 * Rule 17. Binary data may be in Base64 anywhere; a text shows the writing if the others would have written it in another way.
 * @param writing in which the two are equal
 */
export function shownBy(
  { isText, hashes }: Keys,
  record: RecordHashes | undefined,
  writing: Writing,
  { writing: known, keepsCommas }: Learned,
): ShownWriting {
  const { text, base64, trimmed, tagged } = hashes;
  if (!isText)
    return writing === 'base64' && known !== 'base64'
      ? { isMixed: true, learned: {} }
      : { learned: {} };
  if (record?.whole === text) {
    if (trimmed !== text) return { isPlain: true, learned: { writing: 'text' } };
    if (tagged === text) return { isPlain: true, learned: {} };
    const isTagged = known === 'bare' || known === 'tagged';
    return {
      isPlain: true,
      learned: { keepsCommas: true, ...(isTagged && { writing: 'trimmed' }) },
    };
  }
  const isPlain = false;
  if (record?.decoded === base64) return { isPlain, learned: { writing: 'base64' } };
  if (trimmed !== tagged)
    return {
      isPlain,
      learned: { writing, ...(writing === 'tagged' && { keepsCommas: false }) },
    };
  if (isLossy(known)) return { isPlain, learned: {} };
  return { isPlain, learned: { writing: keepsCommas ? 'trimmed' : 'bare' } };
}

/** How many bodies a guess is based on. */
export const SAMPLE = 100;

/** Whether all bodies of a history of which nothing is known are Base64, and not by chance (rule 18). */
export function seemsBase64(bodies: readonly unknown[]): boolean {
  const sample = bodies
    .filter((body): body is string => typeof body === 'string' && body !== '')
    .slice(-SAMPLE);
  const decoded = sample.flatMap((body) => decodeBase64(body) ?? []);
  const isAll = sample.length > 0 && decoded.length === sample.length;
  return (
    isAll && (decoded.every((bytes) => isUtf8(bytes)) || sample.some((body) => body.endsWith('=')))
  );
}

/** How an upload is made of a record's body: rules 18 and 19. */
export function restore(
  body: string,
  {
    known,
    isMixed,
    isPlain,
    isGuessed,
  }: {
    known: KnownWriting | undefined;
    isMixed: boolean;
    /** The last text of this device that came both ways was in the history as it was. */
    isPlain: boolean;
    /** Nothing is known, and all bodies are Base64. */
    isGuessed: boolean;
  },
): { body: Buffer; isAltered: boolean } {
  const bytes = known === 'base64' || isMixed || isGuessed ? decodeBase64(body) : undefined;
  const isDecoded =
    bytes !== undefined && (known === 'base64' || isGuessed || (isMixed && !isUtf8(bytes)));
  if (isDecoded) return { body: bytes, isAltered: known !== 'base64' || isPlain };
  const isWhole = known === 'text' || (known === undefined && isPlain);
  const isAltered = !isWhole || (isMixed && bytes !== undefined) || body.includes(REPLACEMENT);
  return { body: Buffer.from(body, 'utf8'), isAltered };
}
