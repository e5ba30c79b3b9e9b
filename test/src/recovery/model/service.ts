import type { UploadRecord } from '../../../../src/types';
import type { Writing } from '../../../../src/recovery/writing';
import { keptOf } from '../history';

/** A number from 0 to 1, always the same ones for a seed (mulberry32). */
export function numbersOf(seed: number): () => number {
  let state = (seed * 2654435761) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** How a service writes a history: in one of the writings, in Base64 only what is no text, or as nobody knows. */
export type Written = Writing | 'mixed' | 'mangled';

const isText = (body: Buffer): boolean => Buffer.from(body.toString('utf8'), 'utf8').equals(body);

export function writtenAs(body: Buffer, as: Written): string {
  if (as === 'base64' || (as === 'mixed' && !isText(body))) return body.toString('base64');
  const text = body.toString('utf8');
  if (as === 'mixed') return text;
  return as === 'mangled' ? text.replaceAll('°', '?').replaceAll('é', '') : keptOf(text, as);
}

type MakeBody = (random: () => number, number: number) => string | Buffer;

const oneOf =
  (...bodies: string[]): MakeBody =>
  (random) =>
    bodies[Math.floor(random() * bodies.length)] as string;

/** Bodies of uploads: all different, or few that are equal, or what a writing alters, empties or cannot hold. */
export const BODIES = {
  unique: (_, number) => `u${number}`,
  'unique JSON': (_, number) => `{"n":${number},"h":${number * 3}}\r\n`,
  // One record for all, once the history has taken the tag off.
  'unique tags': (_, number) => `{"n":${number},"t":21,"h":40}`,
  few: oneOf('on', 'off', 'on'),
  one: () => 'on',
  JSON: oneOf('{"t":1,"h":2}', '{"t":2,"h":2}', '{"t":1,"h":3}'),
  lines: oneOf('a\r\n', 'b\r\n', 'a,1\r\n'),
  emptied: oneOf('  ', ',', 'a', 'x,', '1,2'),
  binary: (random, number) =>
    random() < 0.4
      ? Buffer.from([0xfe, number & 255, (number >> 8) & 255, 0xff])
      : oneOf('test', 'on', `v=${number}`)(random, number),
  umlauts: (random, number) =>
    oneOf('21°', `café ${number % 5}`, 'plain', `n${number}`)(random, number),
  spoilt: (_, number) => `21° ${number}`,
} as const satisfies Record<string, MakeBody>;

export type Bodies = keyof typeof BODIES;

/** How a service, its devices and the network behave. Probabilities are from 0 to 1. */
export interface Behaviour {
  bodies: Bodies;
  written: Written;
  /** How many records there are before the listener. */
  earlier?: number;
  /** Only the newest ones are shown. */
  shown?: number;
  /** The most of the newest records that are not shown yet. */
  lag?: number;
  /** Ids have gaps. */
  hasGaps?: boolean;
  isNewestFirst?: boolean;
  hasLength?: boolean;
  /** Uploads that are announced and never stored. */
  dropped?: number;
  /** An upload of which the writing leaves nothing is not stored. */
  dropsEmpty?: boolean;
  /** Once in a run, ids begin at 1 again. */
  restartsIds?: boolean;
  /** Frames that arrive as something that cannot be read. */
  unreadable?: number;
  /** Uploads are announced some time after they are stored. */
  announcesLate?: boolean;
  /** The device keeps uploads for a time, with the time at which they were made. */
  keepsUploads?: boolean;
  /** Uploads that are made by a clock that is wrong. */
  wrongClock?: number;
  /** How many readings in a row fail at most; answers that are cut. */
  failing?: number;
  cut?: number;
  /** Uploads that come many at a time. */
  bursts?: number;
  /** The device uploads while the first answer is under way. */
  isBusyAtFirst?: boolean;
  /** Nothing is killed. */
  isSafe?: boolean;
  /** The position is saved right before each upload. */
  isExact?: boolean;
  /** An answer is emitted step by step, and kills come between. */
  isSlow?: boolean;
  /** Another device of the application, with these bodies, came before. */
  after?: Bodies;
  limits?: { held?: number; margin?: number };
  /** Bytes of records that are kept while a history is read. */
  room?: number;
}

/** An upload as the service has it. */
export interface Stored {
  number: number;
  body: Buffer;
  id: number;
  isStored: boolean;
}

const BASE = Date.UTC(2026, 0, 1);
/** Bytes of a record beside its body. */
const FRAME = 60;
const LATE = 900_000;

/** The history of one device. */
export class Service {
  readonly uploads: Stored[] = [];
  /** By id: ids may have begun again. */
  readonly byId = new Map<number, Stored>();
  #records: (UploadRecord & { id: number; number: number })[] = [];
  #base = 0;
  #nextId = 1;
  readonly #behaviour: Behaviour;
  readonly #random: () => number;

  constructor(behaviour: Behaviour, random: () => number) {
    this.#behaviour = behaviour;
    this.#random = random;
  }

  /** @param at milliseconds since the run began @param isReady whether the listener has a position */
  store(body: Buffer, at: number, isReady: boolean): Stored {
    const { written, hasGaps, dropped = 0, dropsEmpty } = this.#behaviour;
    const text = writtenAs(body, written);
    const isDropped = dropped > 0 && isReady && this.#random() < dropped;
    const upload: Stored = {
      number: this.uploads.length,
      body,
      id: this.#nextId,
      isStored: !(dropsEmpty && text === '') && !isDropped,
    };
    this.#nextId += hasGaps ? 1 + Math.floor(this.#random() * 4) : 1;
    this.uploads.push(upload);
    if (!upload.isStored) return upload;
    this.byId.set(upload.id, upload);
    const create_time = new Date(BASE + at).toISOString().slice(0, 19).replace('T', ' ');
    const { id, number } = upload;
    this.#records.push({ id, number, body: text, create_time, dev: '1', app: 'a' });
    return upload;
  }

  /** The time at which an upload is made. */
  clock(at: number): number {
    const { wrongClock = 0 } = this.#behaviour;
    return wrongClock > 0 && this.#random() < wrongClock ? at - LATE : at;
  }

  /** What is there now was there before the listener: it is always shown. */
  begin(): void {
    this.#base = this.#records.length;
  }

  restartIds(): void {
    this.#records = [];
    this.#base = 0;
    this.#nextId = 1;
  }

  /** @param isWhole whether the newest ones are shown for sure */
  answer(isWhole: boolean) {
    const { lag = 0, shown, isNewestFirst, hasLength } = this.#behaviour;
    const hidden = lag > 0 && !isWhole ? Math.floor(this.#random() * (lag + 1)) : 0;
    const visible = this.#records.slice(0, Math.max(this.#base, this.#records.length - hidden));
    const records = shown === undefined ? visible : visible.slice(-shown);
    const sizeOf = (record: object): number => (record as UploadRecord).body.length + FRAME;
    const newestFirst = (): typeof records =>
      records.toSorted((a, b) => b.create_time.localeCompare(a.create_time) || b.id - a.id);
    return {
      numbers: records.map(({ number }) => number),
      records: (isNewestFirst ? newestFirst() : records).map((record) => ({ ...record })),
      size: hasLength ? sizeOf : undefined,
      length: hasLength ? records.reduce((sum, record) => sum + sizeOf(record), 2) : undefined,
    };
  }
}
