import type { Pool } from '../slots';
import {
  StoreError,
  type BeatReply,
  type BeatRequest,
  type Claim,
  type Share,
  type MemberBeat,
  type QueueState,
  type WaitingDevice,
} from '../store';

/** Letters for the claims in members' records. */
const LETTERS: Readonly<Record<Share, string>> = { devices: 'd', 'spare devices': 's', queue: 'q' };

/** The arguments of the script `beat`. */
export function beatArgs(
  request: BeatRequest,
  pools: Readonly<Record<Pool, readonly [number, number]>>,
): string[] {
  const {
    member,
    beat,
    lease,
    claims,
    holdings,
    release,
    dead,
    settled = '',
    generation,
  } = request;
  const pairs = (list: readonly { slot: number; epoch: number }[]): number[][] =>
    list.map(({ slot, epoch }) => [slot, epoch]);
  return [
    JSON.stringify({
      ...{ member, beat, lease, settled, generation },
      claims: claims.map((claim) => LETTERS[claim]).join(''),
      pools: [pools.devices, pools.queue],
      holdings: pairs(holdings),
      release: pairs(release),
      dead: dead.map((each) => [each.member, each.beat]),
    }),
  ];
}

const malformed = (): StoreError =>
  new StoreError('The answer is not one of this version of the package.', true);

/** A list of texts. @throws StoreError */
export function readTexts(value: unknown): string[] {
  if (Array.isArray(value) && value.every((each): each is string => typeof each === 'string'))
    return value;
  throw malformed();
}

const split = (text: string): string[] => (text === '' ? [] : text.split(','));

/** A member's record is "beat claims lease"; one of an earlier version has no lease. */
function memberBeat(member: string, record: string): MemberBeat {
  const [beat = '', , lease] = record.split(' ');
  return { member, beat: Number.parseInt(beat, 10), lease: Number(lease) || undefined };
}

/** The answer of the script `beat`. @throws StoreError */
export function readBeat(value: unknown): BeatReply | undefined {
  if (value === null) return undefined;
  if (!Array.isArray(value) || value.length !== 7) throw malformed();
  const [incarnation, settled, mine, behind, devices, queue, members] = value as unknown[];
  const list = readTexts(members);
  return {
    incarnation: String(incarnation),
    isSettled: settled === 1,
    mine: split(String(mine)).map((each) => {
      const [slot, epoch] = each.split(':');
      return { slot: Number(slot), epoch: Number(epoch) };
    }),
    behind: split(String(behind)).map(Number),
    members: list.flatMap((member, index) =>
      index % 2 === 0 ? [memberBeat(member, list[index + 1] ?? '')] : [],
    ),
    surplus: { devices: Number(devices), queue: Number(queue) },
  };
}

/** The slots, which the engine stores as "epoch owner" by number. @throws StoreError */
export function readOwners(value: unknown, alive: ReadonlySet<string>): Map<number, string> {
  const texts = readTexts(value);
  const owners = new Map<number, string>();
  for (let index = 0; index + 1 < texts.length; index += 2) {
    const owner = (texts[index + 1] ?? '').replace(/^\d+ /, '');
    if (alive.has(owner)) owners.set(Number(texts[index]), owner);
  }
  return owners;
}

/** Whether a stored position was written under an epoch, with this sequence or a later one. */
export function hasArrived(value: string | null = null, epoch: number, sequence: number): boolean {
  const [, storedEpoch, storedSequence] = /^(\d+) (\d+) /.exec(value ?? '') ?? [];
  return Number(storedEpoch) === epoch && Number(storedSequence) >= sequence;
}

/** A stored position without the epoch and the sequence before it. */
export const readPosition = (value: string | null): string | undefined =>
  value === null ? undefined : value.replace(/^\d+ \d+ /, '');

/** The answer of the script that counts the queue. @throws StoreError */
export function readLengths(value: unknown): QueueState {
  const [length, deadLetters] = Array.isArray(value) ? (value as unknown[]) : [];
  if (typeof length !== 'number' || typeof deadLetters !== 'number') throw malformed();
  return { length, deadLetters };
}

/** The answer of the script `waiting`. @throws StoreError */
export function readWaiting(value: unknown): WaitingDevice[] {
  const texts = readTexts(value);
  return texts.flatMap((chipid, index) =>
    index % 2 === 0 ? [{ chipid, attempts: Number(texts[index + 1]) }] : [],
  );
}

/** The answer of the script `claim`. The text of a large upload is missing. @throws StoreError */
export function readClaim(value: unknown): Claim & { readonly bytes: number } {
  if (!Array.isArray(value)) throw malformed();
  const [buried, id, attempts, bytes = 0, text] = value as unknown[];
  const upload =
    typeof id === 'string' && typeof text === 'string'
      ? { id, attempts: Number(attempts), text }
      : undefined;
  return { upload, bytes: Number(bytes), isBuried: buried === 1 };
}

/** The upload of a stream's only entry, if it is still there. @throws StoreError */
export function readUpload(value: unknown): string | undefined {
  if (!Array.isArray(value)) throw malformed();
  const [entry] = value as unknown[];
  return Array.isArray(entry) ? readTexts(entry[1])[3] : undefined;
}
