import type { Upload } from '../../types';
import type { Encoding } from '../records/facts';
import { joinKeys, splitKeys, type LiveKeys } from '../records/keys';

/** An upload that arrived live after the position. */
export interface Arrived {
  key: string;
  timestamp: number;
  /** Held back, not emitted yet. */
  held: Upload | undefined;
  /** The last reading should have contained it and did not: the history may lag behind. */
  late: boolean;
}

/** An arrival whose bytes are not UTF-8: the key of its record depends on how the history is written. */
interface BinaryArrival extends Arrived, LiveKeys {}

const keysOf = (entry: Arrived): LiveKeys =>
  'bytes' in entry ? (entry as BinaryArrival) : { text: entry.key, bytes: entry.key };

/** Whether the history has a record with this key. */
export type HasRecord = (bytesKey: string) => boolean;

/** The uploads of one device that arrived live since the position, oldest first. */
export class Arrivals {
  private entries: Arrived[] = [];
  private isBase64: HasRecord | undefined;
  /** How many arrived before the history was requested: its answer is certain to contain them. */
  private certain = 0;
  /** The index from which arrivals follow each other without a gap. */
  private unbroken = 0;
  /** Something may have been missed since the history was requested. */
  private gapped = false;
  private heldBack = 0;

  /**
   * @param encoding how the history writes bodies, as far as that is known
   * @param saved keys of arrivals of an earlier run
   */
  constructor(
    private encoding: Encoding,
    saved: readonly string[] = [],
  ) {
    for (const keys of saved) {
      const { text, bytes } = splitKeys(keys);
      this.add(text, NaN, undefined, bytes);
    }
    this.unbroken = this.size;
  }

  get size(): number {
    return this.entries.length;
  }

  /** How many have been emitted. */
  get emitted(): number {
    return this.entries.length - this.heldBack;
  }

  /** Those that the history is certain to contain. */
  get sure(): Arrived[] {
    return this.entries.slice(0, this.certain);
  }

  /** Those that arrived after it was requested: it may contain the first of them. */
  get open(): Arrived[] {
    return this.entries.slice(this.certain);
  }

  /** The last ones of `sure`, from the last gap to the time when the history was requested. */
  get sureUnbroken(): Arrived[] {
    return this.entries.slice(this.unbroken, this.certain);
  }

  /** Whether something may have been missed among `open`. */
  get broken(): boolean {
    return this.unbroken > this.certain;
  }

  /**
   * Adds an arrival.
   * @param key of its record if the history writes text
   * @param held the upload itself if it is held back
   * @param bytes key of its record if the history writes Base64
   */
  add(key: string, timestamp: number, held?: Upload, bytes = key): void {
    const isText = bytes === key;
    const entry = { key: this.keyIn({ text: key, bytes }), timestamp, held, late: false };
    this.entries.push(isText ? entry : Object.assign(entry, { text: key, bytes }));
    if (held) this.heldBack++;
  }

  /** There may be a gap before whatever arrives from now on. */
  gap(): void {
    this.unbroken = this.size;
    this.gapped = true;
  }

  /** The history is being requested. */
  mark(): void {
    this.certain = this.size;
    this.gapped = false;
  }

  /**
   * Sets how the history writes bodies, which decides the keys by which its records are found.
   * @param isBase64 whether a binary body is in Base64 even though the history writes text
   */
  setEncoding(encoding: Encoding, isBase64?: HasRecord): void {
    this.encoding = encoding;
    this.isBase64 = isBase64;
    for (const entry of this.entries) if ('bytes' in entry) entry.key = this.keyIn(keysOf(entry));
  }

  /** The key of an upload's record. */
  keyIn({ text, bytes }: LiveKeys): string {
    if (text === bytes) return text;
    return this.encoding === 'base64' || this.isBase64?.(bytes) ? bytes : text;
  }

  /** Forgets what is held back, since the history contains it. @returns whether anything was held back */
  drop(): boolean {
    if (this.heldBack === 0) return false;
    this.heldBack = 0;
    this.entries = this.entries.filter(({ held }) => !held);
    this.certain = Math.min(this.certain, this.size);
    this.unbroken = Math.min(this.unbroken, this.size);
    return true;
  }

  /** Returns what is held back, to be emitted after all. */
  release(): Upload[] {
    const held = this.entries.flatMap((entry) => entry.held ?? []);
    for (const entry of this.entries) entry.held = undefined;
    this.heldBack = 0;
    return held;
  }

  /** Keys as texts and as bytes. */
  keys(): LiveKeys[] {
    return this.entries.map(keysOf);
  }

  /** The key of the oldest arrival, if that is text. */
  get oldestText(): string | undefined {
    const [oldest] = this.entries;
    return oldest && !('bytes' in oldest) ? oldest.key : undefined;
  }

  /** Keys of those that have been emitted, to be saved. */
  savedKeys(): string[] {
    return this.entries.filter(({ held }) => !held).map((entry) => joinKeys(keysOf(entry)));
  }

  /** Key of the newest one that has been emitted, to be saved. */
  savedNewest(): string | undefined {
    const newest = this.entries.findLast(({ held }) => !held);
    return newest && joinKeys(keysOf(newest));
  }

  /** Whether a gap may lie after the answer of the history, which contains `tail` of `open`. */
  isOpenGap(tail: number): boolean {
    return this.gapped && this.unbroken - this.certain >= tail;
  }

  /** The answer could not be used, so all arrivals stay. */
  reopen(): void {
    this.certain = 0;
  }

  /**
   * Removes what the history contains.
   * @param late those of `sure` that it does not contain yet
   * @param tail how many of `open` it contains
   */
  settle(late: readonly Arrived[], tail: number): void {
    const gapAt = Math.max(0, this.unbroken - this.certain - tail);
    this.entries = [
      ...late.map((entry) => ({ ...entry, late: true })),
      ...this.entries.slice(this.certain + tail),
    ];
    for (const entry of this.entries) entry.held = undefined;
    this.unbroken = late.length + gapAt;
    this.certain = 0;
    this.heldBack = 0;
  }
}
