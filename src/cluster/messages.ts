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
const MAX_REASON = 200;

const DIGITS = /^\d{1,20}$/;

export const isChipid = (value: unknown): value is string =>
  typeof value === 'string' && DIGITS.test(value);

/** Parses JSON. @returns undefined if it is malformed */
function parsed(text: string): unknown {
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
  cluster: { loadPosition(chipid: string): Promise<string | undefined> },
  chipid: string,
): Promise<Position | undefined> {
  const position = positionFromText(await cluster.loadPosition(chipid).catch(() => undefined));
  return position === 'invalid' ? undefined : position;
}

/** A device whose uploads are requested, and whether another owner has passed on earlier ones. */
export type Wanted = readonly [chipid: string, again: boolean];

/** Reads requested devices. */
export function readWanted(value: unknown): Wanted[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MOST_DEVICES).flatMap((each: unknown) => {
    const [chipid, again] = Array.isArray(each) ? (each as unknown[]) : [];
    return isChipid(chipid) ? [[chipid, again === true] as const] : [];
  });
}

/** The state of a device's channel at its owner. */
export interface OwnerState {
  readonly chipid: string;
  readonly state: ChannelState;
  readonly reason: string | undefined;
  /** Whether everything up to now has been passed on. */
  readonly isComplete: boolean;
  /** The epoch of the owner: messages of an older one are outdated. */
  readonly epoch: number;
}

const STATES: readonly unknown[] = ['connecting', 'connected', 'disconnected'];

/** Reads states. */
export function readStates(value: unknown): OwnerState[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MOST_DEVICES).flatMap((each: unknown) => {
    if (!isObject(each)) return [];
    const { chipid, state, reason, isComplete, epoch } = each;
    if (!isChipid(chipid) || !STATES.includes(state) || !Number.isSafeInteger(epoch)) return [];
    return {
      ...{ chipid, state: state as ChannelState, epoch: epoch as number },
      reason: typeof reason === 'string' ? reason.slice(0, MAX_REASON) : undefined,
      isComplete: isComplete === true,
    };
  });
}

/** Longer than any message: an upload or a push, in Base64. */
const LONGEST_MESSAGE = 32 * 1024 * 1024;
const MAX_NAME = 400;

/** Called with what a member has sent, which may be malformed; throws nothing. */
export type BusHandler = (data: Readonly<Record<string, unknown>>, from: string) => void;

/** Messages between the members of a cluster. They are not stored: one without a listening member is lost. */
export interface Bus {
  /** Sets the handler of messages of a kind. */
  on(kind: string, handler: BusHandler): void;
  /**
   * Sends a message.
   * @param to a member; undefined: all others
   * @throws StoreError
   */
  send(to: string | undefined, kind: string, data: object): Promise<void>;
  /** As {@link send}, for messages that are repeated or may get lost. */
  post(to: string | undefined, kind: string, data: object): void;
  close(): void;
}

const topicOf = (member: string | undefined): string =>
  member === undefined ? 'members' : `member:${member}`;

/** @param malformed called with anything that is not a message */
export function openBus(
  store: Pick<Store, 'publish' | 'subscribe'>,
  member: string,
  malformed: () => void,
): Bus {
  const handlers = new Map<string, BusHandler>();
  const receive = (text: string): void => {
    const message = text.length <= LONGEST_MESSAGE ? parsed(text) : undefined;
    if (!isObject(message) || !isObject(message['data']) || !isName(message['from'])) {
      malformed();
      return;
    }
    const { from, kind, data } = message;
    // A later version of the package may send more kinds.
    if (from !== member && typeof kind === 'string') handlers.get(kind)?.(data, from);
  };
  const leave = [undefined, member].map((to) => store.subscribe(topicOf(to), receive));
  const send: Bus['send'] = (to, kind, data) =>
    store.publish(topicOf(to), JSON.stringify({ from: member, kind, data }));
  return {
    on: (kind, handler) => void handlers.set(kind, handler),
    send,
    post: (to, kind, data) => void send(to, kind, data).catch(() => undefined),
    close() {
      for (const each of leave) each();
      handlers.clear();
    },
  };
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME;
