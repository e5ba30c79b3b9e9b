import { LONGEST_LEASE } from '../../../src/cluster/store';
import { POOLS } from '../../../src/cluster/slots';
import type {
  BeatReply,
  BeatRequest,
  Share,
  Holding,
  MemberBeat,
  Pool,
} from '../../../src/cluster/store';

/** A slot in the store; without an owner it was released. */
export interface OwnedSlot {
  owner: string | undefined;
  epoch: number;
}

export interface KnownMember {
  beat: number;
  lease: number;
  claims: readonly Share[];
}

/** What a store in memory keeps of members and slots. */
export interface MembersState {
  generation: string | undefined;
  /** Changes with each restart of the engine. */
  run: number;
  /** The incarnation that was seen for long enough. */
  settled: string | undefined;
  /** The highest epoch that was ever claimed or heard of. */
  top: number;
  members: Map<string, KnownMember>;
  slots: Map<number, OwnedSlot>;
  /** Members that have left: a beat of theirs that was still on its way must not bring them back. */
  left: Set<string>;
}

export const isSettled = (state: MembersState): boolean =>
  state.generation !== undefined && state.settled === incarnationOf(state);

const incarnationOf = ({ generation = '', run }: MembersState): string => `${generation}/${run}`;

const POOL_NAMES = Object.keys(POOLS) as Pool[];

/** Carries out a beat; the script `beat` of the Redis store does the same. */
export function applyBeat(state: MembersState, request: BeatRequest): BeatReply | undefined {
  const { member, beat } = request;
  state.generation ??= request.generation;
  if (request.settled === incarnationOf(state)) state.settled = request.settled;
  if (state.left.has(member) || beat <= (state.members.get(member)?.beat ?? 0)) return undefined;
  state.members.set(member, { beat, lease: request.lease, claims: request.claims });
  for (const [id, { lease }] of state.members) if (lease > LONGEST_LEASE) state.members.delete(id);
  for (const { epoch } of request.holdings) state.top = Math.max(state.top, epoch);
  release(state, member, request.release);
  if (isSettled(state)) {
    remove(state, member, request.dead);
    for (const pool of POOL_NAMES) if (claimsOf(state, request, pool)) claim(state, member, pool);
  }
  return replyTo(state, request);
}

function release({ slots }: MembersState, member: string, released: readonly Holding[]): void {
  for (const { slot, epoch } of released) {
    const owned = slots.get(slot);
    if (owned?.owner === member && owned.epoch === epoch) owned.owner = undefined;
  }
}

/** Removes members that have not beaten since, which frees their slots. */
function remove(
  { members }: MembersState,
  by: string,
  dead: readonly { member: string; beat: number }[],
): void {
  for (const { member, beat } of dead) {
    if (member !== by && members.get(member)?.beat === beat) members.delete(member);
  }
}

/** Devices that no member listens to are shared by those that only follow some. */
function claimsOf(
  { members }: MembersState,
  { claims }: Pick<BeatRequest, 'claims'>,
  pool: Pool,
): boolean {
  const isSpare =
    pool === 'devices' && ![...members.values()].some((each) => each.claims.includes(pool));
  return claims.includes(isSpare ? 'spare devices' : pool);
}

/** What each member holds of a pool. */
function heldIn({ slots }: MembersState, pool: Pool): Map<string | undefined, Holding[]> {
  const [first, end] = POOLS[pool];
  const held = new Map<string | undefined, Holding[]>();
  for (let slot = first; slot < end; slot++) {
    const owned = slots.get(slot);
    if (!owned) continue;
    const known = held.get(owned.owner);
    if (known) known.push({ slot, epoch: owned.epoch });
    else held.set(owned.owner, [{ slot, epoch: owned.epoch }]);
  }
  return held;
}

/** The share of one member. Shares differ by one slot at most; as many as are left over may hold one more. */
function shareOf(
  state: MembersState,
  member: string,
  pool: Pool,
  held: ReturnType<typeof heldIn>,
): number {
  const [first, end] = POOLS[pool];
  const claimants = [...state.members].flatMap(([id, known]) =>
    claimsOf(state, known, pool) ? id : [],
  );
  if (!claimants.includes(member)) return 0;
  const share = Math.floor((end - first) / claimants.length);
  const countOf = (id: string): number => held.get(id)?.length ?? 0;
  const larger = claimants.filter(
    (id) =>
      id !== member &&
      countOf(id) > share &&
      (countOf(member) <= share || Buffer.compare(Buffer.from(id), Buffer.from(member)) < 0),
  );
  return larger.length < (end - first) % claimants.length ? share + 1 : share;
}

/** Claims slots without a holder, up to the member's share. */
function claim(state: MembersState, member: string, pool: Pool): void {
  const [first, end] = POOLS[pool];
  const held = heldIn(state, pool);
  let room = shareOf(state, member, pool, held) - (held.get(member)?.length ?? 0);
  for (let slot = first; slot < end && room > 0; slot++) {
    const owner = state.slots.get(slot)?.owner;
    if (owner !== undefined && state.members.has(owner)) continue;
    state.slots.set(slot, { owner: member, epoch: ++state.top });
    room--;
  }
}

function replyTo(state: MembersState, { member, holdings }: BeatRequest): BeatReply {
  const settled = isSettled(state);
  const pools = POOL_NAMES.map((pool) => {
    const held = heldIn(state, pool);
    const mine = held.get(member) ?? [];
    const surplus = Math.max(0, mine.length - shareOf(state, member, pool, held));
    return { pool, mine, surplus: settled ? surplus : 0 };
  });
  return {
    incarnation: incarnationOf(state),
    isSettled: settled,
    mine: pools.flatMap(({ mine }) => mine),
    behind: settled
      ? []
      : holdings
          .filter(({ slot, epoch }) => (state.slots.get(slot)?.epoch ?? 0) < epoch)
          .map(({ slot }) => slot),
    members: [...state.members].map(([id, known]): MemberBeat => ({
      member: id,
      beat: known.beat,
      lease: known.lease,
    })),
    surplus: Object.fromEntries(pools.map(({ pool, surplus }) => [pool, surplus])) as Record<
      Pool,
      number
    >,
  };
}
