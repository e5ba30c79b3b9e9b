import type { TlsSettings } from '../../http/tls';
import { redactor } from '../../http/redact';
import { partitionOf, POOLS } from '../slots';
import {
  queueTopic,
  type BeatReply,
  type BeatRequest,
  type FencedEntry,
  type Holding,
  type LockOutcome,
  type PositionEntry,
  type QueueEntry,
  type SaveOutcome,
  type Store,
  type StoreInfo,
} from '../store';
import { readAddress, type RedisAddress } from './addresses';
import { Commands } from './commands';
import { storeInfo } from './info';
import { keysOf, type Keys } from './keys';
import { findForbidden } from './rights';
import { loadClient, type Connection } from './load';
import { beatArgs, readBeat, readEntries, readOwners, readPosition, readTexts } from './replies';
import { BEAT } from './scripts/beat';
import { LEAVE } from './scripts/leave';
import { LOCK, UNLOCK } from './scripts/lock';
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
  const open = (): Connection => connect({ endpoints, tls, limit, name: 'device-cloud' });
  const { user, password, database } = endpoints;
  const redact = redactor([user, password]);
  return new RedisStore(open, keysOf(application), limit, redact, database);
}

/** A store on an engine. */
class RedisStore implements Store {
  private readonly connection: Connection;
  private readonly commands: Commands;
  private readonly topics: Topics;

  constructor(
    open: () => Connection,
    private readonly keys: Keys,
    limit: number,
    redact: (text: string) => string,
    private readonly database: number,
  ) {
    this.connection = open();
    this.commands = new Commands(this.connection, limit, redact);
    this.topics = new Topics(open, (connection) => new Commands(connection, limit, redact));
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
    return (await this.commands.run(RESTORE, [state, slots, positions], args)) === 1;
  }

  async save(member: string, entries: readonly FencedEntry[]): Promise<SaveOutcome[]> {
    const { slots, positions, queue, topic } = this.keys;
    const streams: number[] = [];
    const values = entries.flatMap(({ slot, epoch, chipid, sequence, position, upload }) => {
      const partition = partitionOf(chipid);
      if (upload !== undefined && !streams.includes(partition)) streams.push(partition);
      const stream = upload === undefined ? 0 : streams.indexOf(partition) + 1;
      const name = upload === undefined ? '' : topic(queueTopic(partition));
      return [slot, epoch, chipid, sequence, position, stream, name, upload ?? ''];
    });
    const keys = [slots, positions, ...streams.map(queue)];
    return readTexts(await this.commands.run(SAVE, keys, [member, ...values])) as SaveOutcome[];
  }

  async load(chipids: readonly string[]): Promise<(string | undefined)[]> {
    if (chipids.length === 0) return [];
    const values = await this.commands.call('HMGET', this.keys.positions, ...chipids);
    return (values as (string | null)[]).map(readPosition);
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

  async read(partition: number, after: string | undefined, count: number): Promise<QueueEntry[]> {
    const first = after === undefined ? '-' : `(${after}`;
    const key = this.keys.queue(partition);
    return readEntries(await this.commands.call('XRANGE', key, first, '+', 'COUNT', count));
  }

  async acknowledge(partition: number, id: string): Promise<boolean> {
    return (await this.commands.call('XDEL', this.keys.queue(partition), id)) === 1;
  }

  async has(partition: number, id: string): Promise<boolean> {
    const key = this.keys.queue(partition);
    return readEntries(await this.commands.call('XRANGE', key, id, id)).length > 0;
  }

  async publish(topic: string, text: string): Promise<void> {
    await this.commands.call('PUBLISH', this.keys.topic(topic), text);
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
    return Promise.resolve();
  }
}
