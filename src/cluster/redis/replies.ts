import { POOLS } from '../slots';
import {
  StoreError,
  type BeatReply,
  type BeatRequest,
  type Claim,
  type FencedEntry,
  type Share,
  type WaitingDevice,
} from '../store';
import type { QueueState, StoreInfo } from '../types';

/** Letters for the claims in members' records. */
const LETTERS: Readonly<Record<Share, string>> = { devices: 'd', 'spare devices': 's', queue: 'q' };

/** The argument of the script `beat`. */
export function beatArgument(request: BeatRequest): string {
  const { claims, holdings, release, dead, ...rest } = request;
  const pairs = (list: readonly { slot: number; epoch: number }[]): number[][] =>
    list.map(({ slot, epoch }) => [slot, epoch]);
  return JSON.stringify({
    ...rest,
    claims: claims.map((claim) => LETTERS[claim]).join(''),
    pools: [POOLS.devices, POOLS.queue],
    holdings: pairs(holdings),
    release: pairs(release),
    dead: dead.map(({ member, beat }) => [member, beat]),
  });
}

const malformed = (): StoreError =>
  new StoreError('The answer is not one of this version of the package.', true);

/** A list. @throws StoreError */
function readList(value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  throw malformed();
}

/** A list of texts. @throws StoreError */
export function readTexts(value: unknown): string[] {
  if (Array.isArray(value) && value.every((each): each is string => typeof each === 'string'))
    return value;
  throw malformed();
}

/** A list of texts as pairs. @throws StoreError */
function readPairs(value: unknown): [string, string][] {
  const texts = readTexts(value);
  return texts.flatMap((text, index) => (index % 2 === 0 ? [[text, texts[index + 1] ?? '']] : []));
}

const split = (value: unknown): string[] => (value === '' ? [] : String(value).split(','));

/** The answer of the script `beat`. @throws StoreError */
export function readBeat(value: unknown): BeatReply | undefined {
  if (value === null) return undefined;
  const [incarnation, settled, mine, behind, devices, queue, members] = readList(value);
  return {
    incarnation: String(incarnation),
    isSettled: settled === 1,
    mine: split(mine).map((each) => {
      const [slot, epoch] = each.split(':');
      return { slot: Number(slot), epoch: Number(epoch) };
    }),
    behind: split(behind).map(Number),
    // A member's record is "beat claims lease".
    members: readPairs(members).map(([member, record]) => {
      const [beat, , lease] = record.split(' ');
      return { member, beat: Number(beat), lease: Number(lease) };
    }),
    surplus: { devices: Number(devices), queue: Number(queue) },
  };
}

/** The slots, which the engine stores as "epoch owner" by number. @throws StoreError */
export function readOwners(value: unknown, alive: ReadonlySet<string>): Map<number, string> {
  const owners = readPairs(value).map(
    ([slot, record]) => [Number(slot), record.replace(/^\d+ /, '')] as const,
  );
  return new Map(owners.filter(([, owner]) => alive.has(owner)));
}

/** Whether each entry, or a later one of its device under the same epoch, is among the stored positions. */
export const readArrived = (value: unknown, entries: readonly FencedEntry[]): boolean[] =>
  entries.map(({ epoch, sequence }, index) => {
    const [, stored, last] = /^(\d+) (\d+) /.exec(String(readList(value)[index])) ?? [];
    return Number(stored) === epoch && Number(last) >= sequence;
  });

/** The stored positions without the epoch and the sequence before each of them. */
export const readPositions = (value: unknown): (string | undefined)[] =>
  readList(value).map((each) =>
    typeof each === 'string' ? each.replace(/^\d+ \d+ /, '') : undefined,
  );

/** The answer of the script that counts the queue. @throws StoreError */
export function readLengths(value: unknown): QueueState {
  const [length, deadLetters] = readList(value);
  if (typeof length !== 'number' || typeof deadLetters !== 'number') throw malformed();
  return { length, deadLetters };
}

/** The answer of the script `waiting`. @throws StoreError */
export const readWaiting = (value: unknown): WaitingDevice[] =>
  readPairs(value).map(([chipid, attempts]) => ({ chipid, attempts: Number(attempts) }));

/** The answer of the script `claim`. The text of a large upload is missing. @throws StoreError */
export function readClaim(value: unknown): Claim & { readonly bytes: number } {
  const [buried, id, attempts, bytes = 0, text] = readList(value);
  const upload =
    typeof id === 'string' && typeof text === 'string'
      ? { id, attempts: Number(attempts), text }
      : undefined;
  return { upload, bytes: Number(bytes), isBuried: buried === 1 };
}

/** The upload of a stream's only entry, if it is still there. @throws StoreError */
export function readUpload(value: unknown): string | undefined {
  const [entry] = readList(value);
  return Array.isArray(entry) ? readTexts(entry[1])[3] : undefined;
}

/** The answer to TIME in Unix milliseconds; NaN if the answer is malformed. @throws StoreError */
export function readTime(value: unknown): number {
  const [seconds = NaN, micros = NaN] = readTexts(value).map(Number);
  return seconds * 1000 + micros / 1000;
}

/**
 * What the Test button shows of the engine itself.
 * @param text the answer to INFO: lines of name and value
 * @param saves the answer to CONFIG GET save; undefined if that may not be read
 */
export function readInfo(
  text: string,
  saves: unknown,
): Omit<StoreInfo, 'time' | 'members' | 'forbidden'> {
  const lines = text.split(/\r?\n/).map((line) => line.split(':'));
  const info = new Map(lines.map(([name = '', ...value]) => [name, value.join(':')]));
  const valkey = info.get('valkey_version');
  const redis = info.get('redis_version');
  const replicas = info.get('connected_slaves');
  const log = info.get('aof_enabled');
  const save: unknown = Array.isArray(saves) ? saves[1] : undefined;
  const without = typeof save !== 'string' ? undefined : save === '' ? 'none' : 'snapshots';
  return {
    product: valkey !== undefined ? 'Valkey' : redis !== undefined ? 'Redis' : '',
    version: valkey ?? redis ?? '',
    persistence: log === undefined ? undefined : log === '1' ? 'log' : without,
    eviction: info.get('maxmemory_policy'),
    replicas: replicas === undefined ? undefined : Number(replicas),
  };
}
