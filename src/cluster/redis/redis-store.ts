import { redactor } from '../../http/redact';
import { partitionOf, PARTITIONS, POOLS } from '../slots';
import {
  LEFT,
  queueTopic,
  type BeatReply,
  type LockOutcome,
  type SaveOutcome,
  type Share,
  type Store,
} from '../store';
import type { ClusterSettings, StoreInfo } from '../types';
import { redisCalls } from './kept-calls';
import { redisPins, redisValues } from './values';
import { Commands, findForbidden, pairsOf, Topics } from './commands';
import { loadClient, readAddress } from './connect';
import { ACKNOWLEDGE, BEAT, CLAIM, LOCK, RESTORE, SAVE, UNLOCK, WAITING } from './scripts';

/** Where an engine is, and the milliseconds that a small command may take, default 1000. */
export type RedisStoreSettings = Omit<ClusterSettings, 'lease'> & { readonly limit?: number };

/** About the most bytes of the positions that are read at a time. */
const POSITIONS = 1024 * 1024;

/** About the most devices that are read at a time, and the bytes of one. */
const DEVICES = 10_000;
const DEVICE = 30;

/** The most bytes of an upload that comes with its claim. */
const INLINE = 16 * 1024;

/** Letters for the claims in members' records. */
const LETTERS: Readonly<Record<Share, string>> = { devices: 'd', 'spare devices': 's', queue: 'q' };

/**
 * The names of all keys that a cluster uses for one application. All have the same hash tag, the part in braces: scripts
 * need a Redis Cluster to keep them on one node.
 */
const keysOf = (prefix: string) => ({
  state: `${prefix}state`,
  members: `${prefix}members`,
  slots: `${prefix}slots`,
  positions: `${prefix}positions`,
  left: (id: string) => `${prefix}left:${id}`,
  lock: (key: string) => `${prefix}lock:${key}`,
  queue: (partition: number) => prefix + queueTopic(partition),
  /** The devices that have uploads in a stream of the queue. */
  devices: (partition: number) => `${prefix}devices:${partition}`,
  /** The ids of a device's uploads in its stream. */
  ids: (chipid: string) => `${prefix}ids:${chipid}`,
  /** How often the first upload of each device was claimed. */
  attempts: `${prefix}attempts`,
  /** Uploads of the queue that nobody has acknowledged, however often they were delivered, and their bytes. */
  deadLetters: `${prefix}dead-letters`,
  deadSize: `${prefix}dead-size`,
  /** Calls whose commands wait, what only their members need, and these members. */
  calls: `${prefix}calls`,
  whats: `${prefix}whats`,
  callers: `${prefix}callers`,
  /** How far their commands have come, and those that wait or run, by device. */
  marks: `${prefix}marks`,
  waits: `${prefix}waits`,
  /** What is wanted of each pin that keeps its level. */
  pins: `${prefix}pins`,
  /** What a node keeps. */
  value: (name: string) => `${prefix}value:${name}`,
  topic: (topic: string) => prefix + topic,
  /** A key without content, with which the user's rights are tried. */
  trial: `${prefix}trial`,
});

/**
 * Opens a store on Redis or Valkey. The connection is made in the background; until then all commands reject. What the
 * scripts answer is taken as they are written here; what others may have written is checked where it is used.
 * @throws DeviceCloudError `NOT_CONFIGURED` if the address is wrong or the client library is not installed
 */
export async function openRedisStore(settings: RedisStoreSettings): Promise<Store> {
  const { tls, application, limit = 1000 } = settings;
  const endpoints = readAddress(settings);
  const connect = await loadClient(endpoints, tls, limit);
  const { user, password, database } = endpoints;
  const limits = { limit, redact: redactor([user, password]) };
  // For beats and what else is short: an upload on its way must not delay them.
  const connection = connect(false);
  const commands = new Commands(connection, limits);
  // For everything that may be large, and what has to come after it.
  const large = connect(true);
  const data = new Commands(large, { ...limits, isLarge: true });
  const topics = new Topics(connect(false), limits);

  const keys = keysOf(`{device-cloud:${application.replaceAll(/[{}]/g, '_')}}:`);
  const { state, members, slots, positions, attempts, deadLetters } = keys;

  const streamKeys = (chipid: string): string[] => {
    const partition = partitionOf(chipid);
    return [keys.queue(partition), keys.devices(partition), keys.ids(chipid)];
  };
  /** Each is "epoch sequence position". */
  const positionsOf = async (chipids: readonly string[]): Promise<(string | null)[]> =>
    chipids.length === 0
      ? []
      : ((await data.read(POSITIONS, 'HMGET', positions, ...chipids)) as (string | null)[]);
  const forbidden = (): Promise<string[]> =>
    findForbidden(commands, topics.commands, keys.trial, keys.topic('trial'), database);
  const memberNames = async (): Promise<string[]> =>
    (await commands.call('HKEYS', members)) as string[];

  const store: Store = {
    async beat(request) {
      const all = [state, members, slots, keys.left(request.member)];
      const claims = request.claims.map((claim) => LETTERS[claim]).join('');
      const pools = [POOLS.devices, POOLS.queue];
      const answer = await commands.run(BEAT, all, [JSON.stringify({ ...request, claims, pools })]);
      if (typeof answer !== 'string') return undefined;
      const reply = JSON.parse(answer) as BeatReply;
      // An empty list of Lua is an object.
      const [mine, behind, alive] = [reply.mine, reply.behind, reply.members].map(Object.values);
      return { ...reply, mine, behind, members: alive } as BeatReply;
    },

    async leave(member) {
      await Promise.all([
        commands.call('SET', keys.left(member), '1', 'PX', LEFT),
        // Its slots need no change: a slot that no living member holds is free.
        commands.call('HDEL', members, member),
      ]);
    },

    async restore(member, { slot, epoch }, entries) {
      const values = entries.map(({ chipid, sequence, position }) => [chipid, sequence, position]);
      const args = [member, slot, epoch, ...values.flat()];
      return (await data.run(RESTORE, [state, slots, positions], args)) === 1;
    },

    async save(member, entries) {
      const all = [slots, positions];
      const values = entries.flatMap(({ slot, epoch, chipid, sequence, position, upload }) => {
        if (upload !== undefined) all.push(...streamKeys(chipid));
        const name = upload === undefined ? '' : keys.topic(queueTopic(partitionOf(chipid)));
        return [slot, epoch, chipid, sequence, position, name, upload ?? ''];
      });
      return (await data.run(SAVE, all, [member, ...values])) as SaveOutcome[];
    },

    async arrived(entries) {
      const stored = await positionsOf(entries.map(({ chipid }) => chipid));
      return entries.map(({ epoch, sequence }, index) => {
        const [, known, last] = /^(\d+) (\d+) /.exec(stored[index] ?? '') ?? [];
        return Number(known) === epoch && Number(last) >= sequence;
      });
    },

    async load(chipids) {
      const stored = await positionsOf(chipids);
      return stored.map((each) => each?.replace(/^\d+ \d+ /, ''));
    },

    async owners() {
      const [held, alive] = await Promise.all([commands.hash(slots), memberNames()]);
      const owners = new Map<number, string>();
      for (const [slot, record] of held) {
        const owner = record.replace(/^\d+ /, '');
        if (alive.includes(owner)) owners.set(Number(slot), owner);
      }
      return owners;
    },

    async lock(key, token, ms, again = false) {
      const args = [token, ms, again ? 1 : 0];
      return (await commands.run(LOCK, [state, keys.lock(key)], args)) as LockOutcome;
    },

    async unlock(key, token) {
      await commands.run(UNLOCK, [keys.lock(key)], [token]);
    },

    async waiting(partitions) {
      const most = Math.ceil(DEVICES / partitions.length);
      const all = [attempts, ...partitions.map(keys.devices)];
      const found = await data.run(WAITING, all, [most], DEVICES * DEVICE);
      return pairsOf(found).map(([chipid, count]) => ({ chipid, attempts: Number(count) }));
    },

    async claim(chipid, claim, most) {
      const all = [...streamKeys(chipid), attempts, deadLetters, keys.deadSize];
      const answer = await data.run(CLAIM, all, [chipid, claim, most, INLINE], INLINE);
      const [buried, ...found] = answer as [0 | 1, ...([] | [string, number, number, string])];
      const isBuried = buried === 1;
      if (found.length === 0) return { upload: undefined, isBuried };
      const [id, count, bytes, inline] = found;
      if (bytes <= INLINE) return { upload: { id, attempts: count, text: inline }, isBuried };
      const read = await data.read(bytes, 'XRANGE', all[0] ?? '', id, id);
      const text = (read as [id: string, fields: string[]][])[0]?.[1][3];
      // Acknowledged meanwhile: the next claim has the next one.
      if (text === undefined) return store.claim(chipid, claim, most);
      return { upload: { id, attempts: count, text }, isBuried };
    },

    async acknowledge(chipid, id) {
      const all = [...streamKeys(chipid), attempts];
      const left = (await data.run(ACKNOWLEDGE, all, [chipid, id])) as number;
      return left >= 0 ? left : undefined;
    },

    async queueState() {
      const streams = Array.from({ length: PARTITIONS }, (_, partition) => keys.queue(partition));
      const lengths = [deadLetters, ...streams].map((stream) => data.call('XLEN', stream));
      const [dead = 0, ...queued] = (await Promise.all(lengths)) as number[];
      return { length: queued.reduce((sum, each) => sum + each, 0), deadLetters: dead };
    },

    calls: redisCalls(data, keys),
    pins: redisPins(data, state, keys.pins),
    values: redisValues(data, keys.value),

    async publish(topic, text) {
      await data.call('PUBLISH', keys.topic(topic), text);
    },

    subscribe: (topic, listener) => topics.add(keys.topic(topic), listener),

    async info() {
      const lacking = await forbidden();
      const [info, saves, time, alive] = await Promise.all([
        lacking.includes('+info') ? '' : commands.call('INFO'),
        // Hosted engines often forbid it.
        commands.call('CONFIG', 'GET', 'save').catch(() => undefined),
        lacking.includes('+time') ? NaN : commands.time(),
        lacking.length === 0 ? memberNames() : [],
      ]);
      return { ...readInfo(String(info), saves), time, members: alive, forbidden: lacking };
    },

    forbidden,

    close() {
      topics.close();
      connection.disconnect();
      large.disconnect();
      return Promise.resolve();
    },
  };
  return store;
}

/**
 * What the Test button shows of the engine itself.
 * @param text the answer to INFO: lines of name and value
 * @param saves the answer to CONFIG GET save; undefined if that may not be read
 */
function readInfo(text: string, saves: unknown): Omit<StoreInfo, 'time' | 'members' | 'forbidden'> {
  const lines = text.split(/\r?\n/).map((line) => line.split(':'));
  const info = new Map(lines.map(([name = '', ...value]) => [name, value.join(':')]));
  const [valkey, redis] = [info.get('valkey_version'), info.get('redis_version')];
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
