import { randomUUID } from 'node:crypto';
import type { ChannelState } from '../channel/listener';
import { isPosition, type Position } from '../recovery/position';
import type { ServiceInteger, Upload } from '../types';
import { decodeBase64 } from '../util/base64';
import { isObject } from '../util/object';
import type { Store } from './store';

/*
 * What processes write for each other. Others may write to the engine, too: whatever is read is checked, and anything
 * malformed is left out.
 */

/** How long a request for a device's uploads lasts, and how often it is repeated, in ms. */
export const WANTED = { lasts: 15_000, again: 5000 };

/** The most devices in one message. */
export const MOST_DEVICES = 1000;

/** Longer than any upload in Base64: an answer of a history has at most 64 MiB, a frame of a channel 16. */
const LONGEST_UPLOAD = 96 * 1024 * 1024;

/** Longer than any position: one with the keys of 10,000 uploads. */
const LONGEST_POSITION = 8 * 1024 * 1024;

/** The longest id, and the longest type of an event. */
const MAX_TEXT = 64;

const DIGITS = /^\d{1,20}$/;

export const isChipid = (value: unknown): value is string =>
  typeof value === 'string' && DIGITS.test(value);

/** Parses JSON. @returns undefined if it is malformed */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An upload as text, for the queue and for other processes. */
export function uploadToText(upload: Upload): string {
  return JSON.stringify({ ...upload, chipid: undefined, body: upload.body.toString('base64') });
}

const isId = (id: unknown): id is ServiceInteger | undefined =>
  id === undefined || (typeof id === 'number' ? Number.isFinite(id) : isType(id));

const isType = (type: unknown): type is string | undefined =>
  type === undefined || (typeof type === 'string' && type.length <= MAX_TEXT);

/**
 * Reads what {@link uploadToText} has written.
 * @returns undefined for anything else
 */
export function uploadFromText(chipid: string, text: unknown): Upload | undefined {
  if (typeof text !== 'string' || text.length > LONGEST_UPLOAD || !isChipid(chipid))
    return undefined;
  const value = parsed(text);
  if (!isObject(value)) return undefined;
  const { appid, timestamp, body, replayed, id, altered, type } = value;
  const bytes = typeof body === 'string' ? decodeBase64(body) : undefined;
  if (!isChipid(appid) || !Number.isSafeInteger(timestamp) || !bytes || !isId(id) || !isType(type))
    return undefined;
  return {
    ...{ chipid, appid, timestamp: timestamp as number, body: bytes },
    ...(replayed === true && { replayed }),
    ...(altered === true && { altered }),
    ...(type !== undefined && { type }),
    ...(id !== undefined && { id }),
  };
}

/** A position as the cluster keeps it. */
export const positionToText = (position: Position): string => JSON.stringify(position);

/**
 * Reads a position that any process has stored.
 * @returns undefined if no position is stored yet, `invalid` if the text was not written by this package
 */
export function positionFromText(text: string | undefined): Position | 'invalid' | undefined {
  if (text === undefined || text === '') return undefined;
  const value = text.length <= LONGEST_POSITION ? parsed(text) : undefined;
  return isPosition(value) ? value : 'invalid';
}

/** Where to continue a device that another process had; undefined if that is unknown. */
export async function startFrom(
  positions: { load(chipid: string): Promise<string | undefined> },
  chipid: string,
): Promise<Position | undefined> {
  const position = positionFromText(await positions.load(chipid).catch(() => undefined));
  return position === 'invalid' ? undefined : position;
}

/** A list in parts, such as one message holds. */
export function* partsOf<T>(items: readonly T[], most = MOST_DEVICES): Generator<T[]> {
  for (let first = 0; first < items.length; first += most) yield items.slice(first, first + most);
}

/** The items of a list that another process has sent. */
export const itemsOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? (value as unknown[]).slice(0, MOST_DEVICES) : [];

/** The same, of texts. */
export const textsOf = (value: unknown): string[] =>
  itemsOf(value).filter((item) => typeof item === 'string');

/** A device whose uploads are requested, and whether another owner has passed on earlier ones. */
export type Wanted = readonly [chipid: string, again: boolean];

/** The state of a device's channel at its owner. */
export interface OwnerState {
  readonly chipid: string;
  readonly state: ChannelState;
  readonly reason?: string | undefined;
  /** Whether everything up to now has been passed on. */
  readonly isComplete: boolean;
  /** The epoch of the owner: messages of an older one are outdated. */
  readonly epoch: number;
}

/** Longer than any message: an upload or a push, in Base64. */
const LONGEST_MESSAGE = 32 * 1024 * 1024;
const MAX_NAME = 400;

/** What a member has sent, which may be malformed. */
export type BusData = Readonly<Record<string, unknown>>;

/** Handles a message of one kind. What it throws makes the message malformed. */
export type BusHandler = (data: BusData, from: string) => void;

const topicOf = (member: string | undefined): string =>
  member === undefined ? 'members' : `member:${member}`;

/** Messages between the members of a cluster. They are not stored: one without a listening member is lost. */
export class Bus {
  readonly #store: Pick<Store, 'publish' | 'subscribe'>;
  readonly #member: string;
  readonly #handlers = new Map<string, BusHandler>();
  /** End the questions of {@link ask}. */
  readonly #questions = new Map<string, (answer?: BusData) => void>();
  readonly #leave: readonly (() => void)[];

  /** @param malformed called with anything that is not a message */
  constructor(store: Pick<Store, 'publish' | 'subscribe'>, member: string, malformed: () => void) {
    this.#store = store;
    this.#member = member;
    const receive = (text: string): void => {
      const message = text.length <= LONGEST_MESSAGE ? parsed(text) : undefined;
      if (!isObject(message) || !isObject(message['data']) || !isName(message['from'])) {
        malformed();
        return;
      }
      const { from, kind, data } = message;
      try {
        // A later version of the package may send more kinds.
        if (from !== member && typeof kind === 'string') this.#handlers.get(kind)?.(data, from);
      } catch {
        malformed();
      }
    };
    this.#leave = [undefined, member].map((to) => store.subscribe(topicOf(to), receive));
    this.on('answer', ({ id, ...answer }) => this.#questions.get(id as string)?.(answer));
  }

  /** Sets the handler of messages of a kind. */
  on(kind: string, handler: BusHandler): void {
    this.#handlers.set(kind, handler);
  }

  /** Sends a message. @param to a member; undefined: all others. @throws StoreError */
  send(to: string | undefined, kind: string, data: object): Promise<void> {
    const text = JSON.stringify({ from: this.#member, kind, data });
    return this.#store.publish(topicOf(to), text);
  }

  /** As {@link send}, for messages that are repeated or may get lost. */
  post(to: string | undefined, kind: string, data: object): void {
    this.send(to, kind, data).catch(() => undefined);
  }

  /**
   * Asks a member, whose handler posts an `answer` with the `id` of the question.
   * @param ms how long the answer is awaited
   * @returns undefined if no answer came in time
   * @throws StoreError if the question was not sent, or perhaps not
   */
  async ask(to: string, kind: string, data: object, ms: number): Promise<BusData | undefined> {
    const id = randomUUID();
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<BusData | undefined>((resolve) => {
      this.#questions.set(id, resolve);
      // In a process that stood still, the answer may have come in time: it is read in this turn.
      timer = setTimeout(() => setImmediate(() => resolve(undefined)), ms);
    });
    try {
      await this.send(to, kind, { ...data, id });
      return await answer;
    } finally {
      clearTimeout(timer);
      this.#questions.delete(id);
    }
  }

  close(): void {
    for (const each of this.#leave) each();
    for (const end of this.#questions.values()) end();
    this.#handlers.clear();
  }
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME;
