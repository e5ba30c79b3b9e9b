import type { Turn } from '../commands/waiting-list';
import type { MarkOutcome } from '../state/waiting-store';
import type { QueueState, StoreInfo, WrongSetting } from './types';

/** The clocks and timers of this process. Tests and models have their own. */
export interface Clock {
  /** Milliseconds since 1970; may be set back or forward at any time. */
  now(): number;
  /** Milliseconds since an arbitrary moment; never set, but may stop while the machine sleeps. */
  monotonic(): number;
  /** Calls `callback` once after some milliseconds. @returns a function that cancels it */
  after(ms: number, callback: () => void): () => void;
}

/** The longest possible lease, in ms. The record of a member with a longer one is invalid. */
export const LONGEST_LEASE = 60_000;

/** A slot that a member holds, and the epoch of its claim: each claim of a slot has a higher one than those before. */
export interface Holding {
  readonly slot: number;
  readonly epoch: number;
}

/** What members share evenly: the devices, and the partitions of the queue. */
export type Pool = 'devices' | 'queue';

/** What a member claims a share of; `spare devices`: of the devices, as long as no member claims `devices`. */
export type Share = Pool | 'spare devices';

/** How long it is remembered that a member or a call has left, in ms: longer than any command takes. */
export const LEFT = 120_000;

/** A member as the store shows it: its id, the number of its last beat, and its lease in ms. */
export interface MemberBeat {
  readonly member: string;
  readonly beat: number;
  readonly lease: number;
}

/** The request that a member sends periodically to stay a member. */
export interface BeatRequest {
  readonly member: string;
  /** Counts the member's beats from 1. A beat that arrives after a later one has no effect. */
  readonly beat: number;
  /** Its lease in ms, by which others judge whether it is dead. */
  readonly lease: number;
  readonly claims: readonly Share[];
  /** The slots that it holds, so that a store that has gone back in time is noticed. */
  readonly holdings: readonly Holding[];
  readonly release: readonly Holding[];
  /** Members whose beats this one has not seen change for a lease. */
  readonly dead: readonly Pick<MemberBeat, 'member' | 'beat'>[];
  /** The incarnation, if it has seen it for as long as settling takes. */
  readonly settled: string | undefined;
  /** A new random text that names the store's content, if it has no name yet. */
  readonly generation: string;
}

/** The answer to a beat. */
export interface BeatReply {
  /** Changes when the store was wiped, restarted or replaced by a replica: it may then have gone back in time. */
  readonly incarnation: string;
  /**
   * Whether some member has seen this incarnation for long enough: all slots that were held have been restored or
   * given up by now. Until then, nothing is claimed and no member is removed.
   */
  readonly isSettled: boolean;
  /** The slots of this member. */
  readonly mine: readonly Holding[];
  /** Slots that it holds under an epoch that the store does not know any more: to be restored. */
  readonly behind: readonly number[];
  readonly members: readonly MemberBeat[];
  /** How many slots of each pool it holds above its share. */
  readonly surplus: Readonly<Record<Pool, number>>;
}

/** How far the uploads of a device have been emitted. */
export interface PositionEntry {
  readonly chipid: string;
  /** Counts the writes of a member, so that a late write changes nothing. */
  readonly sequence: number;
  readonly position: string;
}

/** A position that is written only while its slot is held under the epoch. */
export interface FencedEntry extends PositionEntry, Holding {
  /** An upload that is appended to the queue in the same step. */
  readonly upload?: string;
}

/**
 * The outcome of a write. `fenced`: another member has claimed the slot since. `behind`: the store knows only an older
 * owner of the slot, or none, so it has gone back in time; the holder restores what it knows.
 */
export type SaveOutcome = 'saved' | 'fenced' | 'behind';

/** `unsettled`: the store may have gone back in time, and the holders of locks can still restore them. */
export type LockOutcome = 'locked' | 'busy' | 'unsettled';

/** A device with uploads in the queue, and how often the first of them was delivered. */
export interface WaitingDevice {
  readonly chipid: string;
  readonly attempts: number;
}

/** An upload of the queue that is to be delivered. */
export interface ClaimedUpload {
  readonly id: string;
  /** How often it was claimed, with this time. */
  readonly attempts: number;
  readonly text: string;
}

export interface Claim {
  /** The first upload of the device; undefined if it has none. */
  readonly upload: ClaimedUpload | undefined;
  /** Whether the previous upload was claimed as often as allowed, and has become a dead letter. */
  readonly isBuried: boolean;
}

/** A call whose commands wait, as it is added. */
export interface NewCall {
  readonly id: string;
  /** What others see of it, as text. */
  readonly text: string;
  /** What only the member that carries it out needs, as text. */
  readonly what: string;
  /** Whether its commands wait for the list, too, and so may go before those that do not. */
  readonly isOnline: boolean;
  /** Its devices, each with its mark as text, or nothing while its command waits. */
  readonly devices: readonly (readonly [chipid: string, mark: string])[];
  /** Of a call that is put back into a store that has lost it; undefined for a new one. */
  readonly before?: Pick<StoredCall, 'order' | 'age'>;
}

/** A call whose commands wait, as others see it. */
export interface StoredCall {
  readonly id: string;
  /** The member that carries it out, or did until it died. */
  readonly member: string;
  /** Earlier calls have lower numbers, whichever members they are from. */
  readonly order: number;
  /** Milliseconds since it was added. */
  readonly age: number;
  readonly text: string;
}

/**
 * The calls of all members whose commands wait. Of each device it knows the order of the commands that have not ended, so that
 * one member waits for those of another. A command is sent only by the member of its call, and only after it was marked.
 */
export interface CallStore {
  /**
   * Adds a call; once, if it is repeated.
   * @param most how many commands may wait for a device
   * @returns its order, and the devices for which that many wait already; order 0 if it has left, or is another member's by now
   */
  add(member: string, call: NewCall, most: number): Promise<{ order: number; full: string[] }>;
  /**
   * Marks a command. Any member may cancel.
   * @param mark as JSON
   * @throws StoreError also if the call is unknown while the store may have gone back in time
   */
  mark(member: string, id: string, chipid: string, mark: string): Promise<MarkOutcome>;
  /**
   * Removes a call, unless it is another member's by now. If {@link add} is carried out once more, it does nothing for {@link LEFT}.
   * @returns whether it was there
   */
  remove(member: string, id: string, chipids: readonly string[]): Promise<boolean>;
  /**
   * The calls of a member whose commands to a device have none of another member before them.
   * @param isListed whether the device has shown itself by the list alone, so that others than those of it do not count
   * @returns also whether the first one of another member waits or has begun
   */
  turn(member: string, chipid: string, isListed: boolean): Promise<Turn>;
  list(): Promise<StoredCall[]>;
  /** The calls with commands that wait, for each device in their order. */
  waiting(): Promise<Map<string, string[]>>;
  /** Takes calls whose members are gone. @returns those that are this member's from now on */
  adopt(member: string, ids: readonly string[]): Promise<string[]>;
  /** What {@link NewCall} says of calls and their devices; undefined of one that is gone. */
  read(
    calls: readonly { id: string; chipids: readonly string[] }[],
  ): Promise<(Pick<NewCall, 'what' | 'devices'> | undefined)[]>;
}

/** What is wanted of a pin, as text. */
export interface StoredPin {
  readonly chipid: string;
  readonly pin: number;
  /** Counts the wishes of all members, so that the newest is known. */
  readonly version: number;
  readonly text: string;
}

/** Which pins are to keep which level. */
export interface PinStore {
  /**
   * Writes a wish, or its end. With `version` it is the state of a pin, or the end of that wish alone, which counts only while the
   * wish of that version is the newest.
   * @param text undefined ends it
   * @param options `isLost`: the wish is put back if the store has lost it
   * @returns the version; 0 if there is another wish by now
   */
  write(
    chipid: string,
    pin: number,
    text: string | undefined,
    options?: { version?: number; isLost?: boolean },
  ): Promise<number>;
  /** The version of the last wish. */
  version(): Promise<number>;
  list(): Promise<StoredPin[]>;
}

/** The fields of a value that are kept, about: those that changed longest ago are forgotten. */
export const MOST_FIELDS = 10_000;

/** A field of a value that all members keep. */
export interface StoredField {
  /** Only those with a slash in their names are ever forgotten. */
  readonly field: string;
  /** Counts the writes of the value; 0: it is not written yet. */
  readonly version: number;
  readonly text: string;
}

/** The values that all members keep, each for 60 days after it was last written. */
export interface ValueStore {
  /** Reads some fields of a value, or all of them. */
  read(name: string, fields?: readonly string[]): Promise<StoredField[]>;
  /**
   * Writes fields under the next version. Those that have a version are put back, unless the store has a newer one.
   * @param top the highest version that the member knows
   * @returns the version, and whether other fields had to be forgotten
   */
  write(
    name: string,
    top: number,
    fields: readonly StoredField[],
  ): Promise<{ version: number; forgets: boolean }>;
}

/** A command of the store that failed. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  constructor(
    message: string,
    /** Whether the store may have carried it out, now or later. */
    readonly uncertain: boolean,
    /** Whether the store has refused it. */
    readonly isRefusal = false,
    /** Which setting has to be changed before it can succeed; undefined if waiting may help. */
    readonly wrong?: WrongSetting,
  ) {
    super(message);
  }
}

/**
 * The data that a cluster keeps outside its processes. Each command settles within a time limit, which grows with
 * its bytes, or rejects with a {@link StoreError}. All are safe to repeat.
 */
export interface Store {
  /** Renews a member and assigns its slots. Undefined if a later beat came first, or the member has left. */
  beat(request: BeatRequest): Promise<BeatReply | undefined>;
  /** Ends a membership and frees its slots at once. */
  leave(member: string): Promise<void>;
  /**
   * Restores a slot and its positions in a store that has gone back in time; if two members try, the higher epoch
   * wins. @returns whether the member holds the slot now
   */
  restore(member: string, holding: Holding, entries: readonly PositionEntry[]): Promise<boolean>;
  /** Writes positions. @returns the outcome of each */
  save(member: string, entries: readonly FencedEntry[]): Promise<SaveOutcome[]>;
  /** Whether each entry, or a later one of its device, was written by this holder: after an unknown outcome. */
  arrived(entries: readonly FencedEntry[]): Promise<boolean[]>;
  load(chipids: readonly string[]): Promise<(string | undefined)[]>;
  /** The member that holds each slot, if that member is alive. */
  owners(): Promise<ReadonlyMap<number, string>>;
  /** Locks a key for some milliseconds. @param again the holder restores its lock, before the store has settled */
  lock(key: string, token: string, ms: number, again?: boolean): Promise<LockOutcome>;
  /** Releases a lock, unless another holds it by now. */
  unlock(key: string, token: string): Promise<void>;
  /** The devices that have uploads in these streams; if they are very many, some of them. */
  waiting(partitions: readonly number[]): Promise<WaitingDevice[]>;
  /**
   * Reads the first upload of a device in order to deliver it, and counts that.
   * @param claim unique; repeated under the same one, it is not counted again
   * @param most how often an upload may be claimed before it becomes a dead letter
   */
  claim(chipid: string, claim: string, most: number): Promise<Claim>;
  /** Removes an upload. @returns how many its device has left; undefined if it was not there any more */
  acknowledge(chipid: string, id: string): Promise<number | undefined>;
  queueState(): Promise<QueueState>;
  readonly calls: CallStore;
  readonly pins: PinStore;
  readonly values: ValueStore;
  /** Sends a text to all who have subscribed to a topic; it is not kept. */
  publish(topic: string, text: string): Promise<void>;
  /** @returns a function that ends the subscription */
  subscribe(topic: string, listener: (text: string) => void): () => void;
  info(): Promise<StoreInfo>;
  /** The rights that the user lacks, in the syntax of an ACL, such as `+info`. */
  forbidden(): Promise<string[]>;
  close(): Promise<void>;
}

/** The topic that says that a stream has new entries: a message has their devices, comma separated. */
export const queueTopic = (partition: number): string => `queue:${partition}`;
