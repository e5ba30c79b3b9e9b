import { isUtf8 } from 'node:buffer';
import { decodeBase64 } from '../util/base64';

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
  let [from, to] = [0, text.length];
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return from === 0 && to === text.length ? text : text.slice(from, to);
}

/** @param text without white space at both ends */
function untag(text: string): string {
  const comma = text.indexOf(',');
  return comma < 0 ? text : trim(text.slice(comma + 1).replaceAll(',', ''));
}

/** A hash of a text with 53 bits (cyrb53): arrivals and records are compared by it, and none of it can be read back. */
export function hashOf(text: string): number {
  let [low, high] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 2654435761);
    high = Math.imul(high ^ code, 1597334677);
  }
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  return 4294967296 * (2097151 & high) + (low >>> 0);
}

const EMPTY = hashOf('');

/** The hashes of an upload in each writing. */
type Hashes = Readonly<Record<Writing, number>>;

/** Of longer bodies, only hashes are remembered, which need less memory. */
const MAX_TEXT = 64;
/** What a history may spoil: anything but printable ASCII and white space. */
const UNUSUAL = /[^ -~\s]/;

function hashesOf(text: string, bytes: Buffer): Hashes {
  const whole = hashOf(text);
  const bare = trim(text);
  const trimmed = bare === text ? whole : hashOf(bare);
  const plain = untag(bare);
  const tagged = plain === bare ? trimmed : hashOf(plain);
  return { text: whole, base64: hashOf(bytes.toString('base64')), trimmed, tagged };
}

/**
 * What an upload that arrived looks like in each writing. There may be a million of them, and few are ever compared: of a
 * short text, the text is kept, and hashed when it is needed.
 */
export class Keys {
  /** Whether a history may spoil it in a way that is not known, as it does with umlauts (rule 7). */
  readonly mayBeSpoilt: boolean;
  /** Whether it is text: binary data may be in Base64 anywhere, and shows no writing (rule 17). */
  readonly isText: boolean;
  #text: string | undefined;
  #hashes: Hashes | undefined;
  #joined: string | undefined;

  private constructor(text: string | undefined, hashes: Hashes | undefined, flags: string) {
    this.#text = text;
    this.#hashes = hashes;
    this.mayBeSpoilt = flags.includes(SPOILT);
    this.isText = !flags.includes(BINARY);
  }

  static of(body: Buffer): Keys {
    const text = body.toString('utf8');
    const isText = !text.includes(REPLACEMENT) || isUtf8(body);
    const flags = (isText ? '' : BINARY) + (UNUSUAL.test(text) ? SPOILT : '');
    return isText && text.length <= MAX_TEXT
      ? new Keys(text, undefined, flags)
      : new Keys(undefined, hashesOf(text, body), flags);
  }

  /** Reads what {@link join} has returned. */
  static from(saved: string): Keys {
    const [flags = '', ...hashes] = saved.split(' ');
    const [text = 0, base64 = 0, trimmed = text, tagged = trimmed] = hashes.map((each) =>
      each === '' ? undefined : Number.parseInt(each, 36),
    );
    return new Keys(undefined, { text, base64, trimmed, tagged }, flags);
  }

  /** Its hashes as one text, to be saved: no body is in it. */
  join(): string {
    return (this.#joined ??= this.#join());
  }

  #join(): string {
    const { text, base64, trimmed, tagged } = this.hashes;
    const flags = (this.isText ? '' : BINARY) + (this.mayBeSpoilt ? SPOILT : '');
    const differing = [trimmed === text ? '' : trimmed, tagged === trimmed ? '' : tagged];
    const all = [text, base64, ...differing].map((each) => each && each.toString(36));
    return [flags, ...all].join(' ').trimEnd();
  }

  get hashes(): Hashes {
    return (this.#hashes ??= hashesOf(this.#text ?? '', Buffer.from(this.#text ?? '', 'utf8')));
  }

  /** The body for people to read; undefined if it is long or was saved. */
  get body(): string | undefined {
    return this.#text;
  }

  /** Whether some writing leaves nothing of it: such a history may not have it at all (rule 9). */
  get mayBeEmpty(): boolean {
    return this.hashes.tagged === EMPTY;
  }
}

const BINARY = 'b';
const SPOILT = 's';

/** The hash that a record has as text and as Base64, and the one without white space at its ends. */
export function recordHashes(body: string): { whole: number; bare: number } {
  const text = body.toWellFormed();
  const whole = hashOf(text);
  const bare = trim(text);
  return { whole, bare: bare === text ? whole : hashOf(bare) };
}

/** How many bodies a guess is based on. */
const SAMPLE = 100;

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
