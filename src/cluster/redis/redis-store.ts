import type { TlsSettings } from '../../http/tls';
import { redactor } from '../../http/redact';
import { partitionOf, PARTITIONS, POOLS } from '../slots';
import {
  queueTopic,
  type BeatReply,
  type BeatRequest,
  type Claim,
  type FencedEntry,
  type Holding,
  type LockOutcome,
  type PositionEntry,
  type QueueState,
  type SaveOutcome,
  type Store,
  type StoreInfo,
  type WaitingDevice,
} from '../store';
import { readAddress, type RedisAddress } from './addresses';
import { Commands, type CommandsOptions } from './commands';
import { storeInfo } from './info';
import { keysOf, type Keys } from './keys';
import { findForbidden } from './rights';
import { loadClient, type Connection } from './load';
import {
  beatArgs,
  hasArrived,
  readBeat,
  readClaim,
  readLengths,
  readOwners,
  readPosition,
  readTexts,
  readUpload,
  readWaiting,
} from './replies';
import { BEAT } from './scripts/beat';
import { LEAVE } from './scripts/leave';
import { LOCK, UNLOCK } from './scripts/lock';
import { ACKNOWLEDGE, CLAIM, LENGTHS, WAITING } from './scripts/queue';
import { RESTORE } from './scripts/restore';
import { SAVE } from './scripts/save';
import { Topics } from './topics';

export interface RedisStoreOptions extends RedisAddress {
  readonly tls?: TlsSettings;
  /** Distinguishes the applications that share an engine. */
  readonly application: string;
  /** Milliseconds that a command may take, default 1000. */
  readonly limit?: number;
}

/** About the most bytes of the positions that are read at a time. */
const POSITIONS = 1024 * 1024;

/** About the most devices that are read at a time, and the bytes of one. */
const DEVICES = 10_000;
const DEVICE = 30;

/** The most bytes of an upload that comes with its claim. */
const INLINE = 16 * 1024;

/** How long it is remembered that a member has left, in ms: longer than any command takes. */
const LEFT = 120_000;

/**
 * Opens a store on Redis or Valkey. The connection is made in the background; until then all commands reject.
 * @throws DeviceCloudError `NOT_CONFIGURED` if the address is wrong or the client library is not installed
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const { tls, application, limit = 1000 } = options;
  const endpoints = readAddress(options);
  const connect = await loadClient();
  const open = (isLarge = false): Connection =>
    connect({ endpoints, tls, limit, name: 'device-cloud', isLarge });
  const { user, password, database } = endpoints;
  const commands = { limit, redact: redactor([user, password]) };
  return new RedisStore(open, keysOf(application), commands, database);
}

/** A store on an engine. */
class RedisStore implements Store {
  /** For beats and what else is short: an upload on its way must not delay them. */
  private readonly connection: Connection;
  private readonly commands: Commands;
  /** For everything that may be large, and what has to come after it. */
  private readonly large: Connection;
  private readonly data: Commands;
  private readonly topics: Topics;

  constructor(
    open: (isLarge?: boolean) => Connection,
    private readonly keys: Keys,
    options: Pick<CommandsOptions, 'limit' | 'redact'>,
    private readonly database: number,
  ) {
    this.connection = open();
    this.commands = new Commands(this.connection, options);
    this.large = open(true);
    this.data = new Commands(this.large, { ...options, isLarge: true });
    this.topics = new Topics(open, (connection) => new Commands(connection, options));
  }

  async beat(request: BeatRequest): Promise<BeatReply | undefined> {
    const { state, members, slots, left } = this.keys;
    const keys = [state, members, slots, left(request.member)];
    return readBeat(await this.commands.run(BEAT, keys, beatArgs(request, POOLS)));
  }

  async leave(member: string): Promise<void> {
    const { members, left } = this.keys;
    await this.commands.run(LEAVE, [members, left(member)], [member, LEFT]);
  }

  async restore(
    member: string,
    { slot, epoch }: Holding,
    entries: readonly PositionEntry[],
  ): Promise<boolean> {
    const { state, slots, positions } = this.keys;
    const values = entries.flatMap(({ chipid, sequence, position }) => [
      chipid,
      sequence,
      position,
    ]);
    const args = [member, slot, epoch, ...values];
    return (await this.data.run(RESTORE, [state, slots, positions], args)) === 1;
  }

  async save(member: string, entries: readonly FencedEntry[]): Promise<SaveOutcome[]> {
    const { slots, positions, queue, devices, ids, topic } = this.keys;
    const keys = [slots, positions];
    const values = entries.flatMap(({ slot, epoch, chipid, sequence, position, upload }) => {
      const partition = partitionOf(chipid);
      if (upload !== undefined) keys.push(queue(partition), devices(partition), ids(chipid));
      const name = upload === undefined ? '' : topic(queueTopic(partition));
      return [slot, epoch, chipid, sequence, position, name, upload ?? ''];
    });
    return readTexts(await this.data.run(SAVE, keys, [member, ...values])) as SaveOutcome[];
  }

  async arrived(entries: readonly FencedEntry[]): Promise<boolean[]> {
    const values = await this.positionsOf(entries.map(({ chipid }) => chipid));
    return entries.map(({ epoch, sequence }, index) => hasArrived(values[index], epoch, sequence));
  }

  async load(chipids: readonly string[]): Promise<(string | undefined)[]> {
    if (chipids.length === 0) return [];
    return (await this.positionsOf(chipids)).map(readPosition);
  }

  private async positionsOf(chipids: readonly string[]): Promise<(string | null)[]> {
    const { positions } = this.keys;
    return (await this.data.read(POSITIONS, 'HMGET', positions, ...chipids)) as (string | null)[];
  }

  async owners(): Promise<ReadonlyMap<number, string>> {
    const { slots, members } = this.keys;
    const [held, alive] = await Promise.all([
      this.commands.call('HGETALL', slots),
      this.commands.call('HKEYS', members),
    ]);
    return readOwners(held, new Set(readTexts(alive)));
  }

  async lock(key: string, token: string, ms: number, again = false): Promise<LockOutcome> {
    const keys = [this.keys.state, this.keys.lock(key)];
    return (await this.commands.run(LOCK, keys, [token, ms, again ? 1 : 0])) as LockOutcome;
  }

  async unlock(key: string, token: string): Promise<void> {
    await this.commands.run(UNLOCK, [this.keys.lock(key)], [token]);
  }

  async waiting(partitions: readonly number[]): Promise<WaitingDevice[]> {
    const { attempts, devices } = this.keys;
    const most = Math.ceil(DEVICES / partitions.length);
    const keys = [attempts, ...partitions.map(devices)];
    return readWaiting(await this.data.run(WAITING, keys, [most], DEVICES * DEVICE));
  }

  async claim(chipid: string, claim: string, most: number): Promise<Claim> {
    const { queue, devices, ids, attempts, deadLetters, deadSize } = this.keys;
    const partition = partitionOf(chipid);
    const stream = queue(partition);
    const keys = [stream, devices(partition), ids(chipid), attempts, deadLetters, deadSize];
    const answer = await this.data.run(CLAIM, keys, [chipid, claim, most, INLINE], INLINE);
    const { upload, bytes, isBuried } = readClaim(answer);
    if (!upload || bytes <= INLINE) return { upload, isBuried };
    const { id } = upload;
    const text = readUpload(await this.data.read(bytes, 'XRANGE', stream, id, id));
    // Acknowledged meanwhile: the next claim has the next one.
    return text === undefined
      ? this.claim(chipid, claim, most)
      : { upload: { ...upload, text }, isBuried };
  }

  async acknowledge(chipid: string, id: string): Promise<number | undefined> {
    const { queue, devices, ids, attempts } = this.keys;
    const partition = partitionOf(chipid);
    const keys = [queue(partition), devices(partition), ids(chipid), attempts];
    const left = await this.data.run(ACKNOWLEDGE, keys, [chipid, id]);
    return typeof left === 'number' && left >= 0 ? left : undefined;
  }

  async queueState(): Promise<QueueState> {
    const { deadLetters, queue } = this.keys;
    const streams = Array.from({ length: PARTITIONS }, (_, partition) => queue(partition));
    const answer = await this.data.run(LENGTHS, [deadLetters, ...streams], []);
    return readLengths(answer);
  }

  async publish(topic: string, text: string): Promise<void> {
    await this.data.call('PUBLISH', this.keys.topic(topic), text);
  }

  subscribe(topic: string, listener: (text: string) => void): () => void {
    return this.topics.add(this.keys.topic(topic), listener);
  }

  async info(): Promise<StoreInfo> {
    const forbidden = await this.forbidden();
    const unless = (right: string, command: string, ...args: string[]): Promise<unknown> =>
      forbidden.includes(right) ? Promise.resolve([]) : this.commands.call(command, ...args);
    const [info, saves, time, members] = await Promise.all([
      unless('+info', 'INFO'),
      // Hosted engines often forbid it.
      this.commands.call('CONFIG', 'GET', 'save').catch(() => undefined),
      unless('+time', 'TIME'),
      forbidden.length === 0 ? this.commands.call('HKEYS', this.keys.members) : [],
    ]);
    const [seconds = NaN, micros = NaN] = readTexts(time).map(Number);
    const save: unknown = Array.isArray(saves) ? saves[1] : undefined;
    return storeInfo(
      String(info),
      seconds * 1000 + micros / 1000,
      readTexts(members),
      typeof save === 'string' ? save : undefined,
      forbidden,
    );
  }

  forbidden(): Promise<string[]> {
    const { trial, topic } = this.keys;
    const tried = { key: trial, topic: topic('trial'), database: this.database };
    return findForbidden(this.commands, this.topics.commands, tried);
  }

  close(): Promise<void> {
    this.topics.close();
    this.connection.disconnect();
    this.large.disconnect();
    return Promise.resolve();
  }
}
