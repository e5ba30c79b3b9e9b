import { redactor } from '../../http/redact';
import { readAddress, type RedisStoreOptions } from '../options';
import { partitionOf, PARTITIONS } from '../slots';
import { queueTopic, type LockOutcome, type SaveOutcome, type Store } from '../store';
import { Commands, Topics } from './commands';
import { loadClient } from './connect';
import { ACKNOWLEDGE, CLAIM, LENGTHS, WAITING } from './queue-scripts';
import * as replies from './replies';
import { findForbidden } from './rights';
import { BEAT, LEAVE, LOCK, RESTORE, SAVE, UNLOCK } from './scripts';

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
 * The names of all keys that a cluster uses for one application. All have the same hash tag, the part in braces: scripts
 * need a Redis Cluster to keep them on one node.
 */
const keysOf = (prefix: string) => ({
  state: `${prefix}state`,
  members: `${prefix}members`,
  slots: `${prefix}slots`,
  positions: `${prefix}positions`,
  left: (member: string) => `${prefix}left:${member}`,
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
  topic: (topic: string) => prefix + topic,
  /** A key without content, with which the user's rights are tried. */
  trial: `${prefix}trial`,
});

/**
 * Opens a store on Redis or Valkey. The connection is made in the background; until then all commands reject.
 * @throws DeviceCloudError `NOT_CONFIGURED` if the address is wrong or the client library is not installed
 */
export async function openRedisStore(options: RedisStoreOptions): Promise<Store> {
  const { tls, application, limit = 1000 } = options;
  const endpoints = readAddress(options);
  const connect = await loadClient();
  const { user, password, database } = endpoints;
  const limits = { limit, redact: redactor([user, password]) };
  // For beats and what else is short: an upload on its way must not delay them.
  const connection = connect({ endpoints, tls, limit, isLarge: false });
  const commands = new Commands(connection, limits);
  // For everything that may be large, and what has to come after it.
  const large = connect({ endpoints, tls, limit, isLarge: true });
  const data = new Commands(large, { ...limits, isLarge: true });
  const topics = new Topics(connect({ endpoints, tls, limit, isLarge: false }), limits);

  const keys = keysOf(`{device-cloud:${application.replaceAll(/[{}]/g, '_')}}:`);
  const { state, members, slots, positions, attempts, deadLetters } = keys;

  const positionsOf = (chipids: readonly string[]): Promise<unknown> =>
    chipids.length === 0
      ? Promise.resolve([])
      : data.read(POSITIONS, 'HMGET', positions, ...chipids);
  const forbidden = (): Promise<string[]> =>
    findForbidden(commands, topics.commands, {
      ...{ key: keys.trial, topic: keys.topic('trial'), database },
    });

  const store: Store = {
    async beat(request) {
      const all = [state, members, slots, keys.left(request.member)];
      return replies.readBeat(await commands.run(BEAT, all, [replies.beatArgument(request)]));
    },

    async leave(member) {
      await commands.run(LEAVE, [members, keys.left(member)], [member, LEFT]);
    },

    async restore(member, { slot, epoch }, entries) {
      const values = entries.flatMap(({ chipid, sequence, position }) => [
        chipid,
        sequence,
        position,
      ]);
      const args = [member, slot, epoch, ...values];
      return (await data.run(RESTORE, [state, slots, positions], args)) === 1;
    },

    async save(member, entries) {
      const all = [slots, positions];
      const values = entries.flatMap(({ slot, epoch, chipid, sequence, position, upload }) => {
        const partition = partitionOf(chipid);
        if (upload !== undefined)
          all.push(keys.queue(partition), keys.devices(partition), keys.ids(chipid));
        const name = upload === undefined ? '' : keys.topic(queueTopic(partition));
        return [slot, epoch, chipid, sequence, position, name, upload ?? ''];
      });
      return replies.readTexts(await data.run(SAVE, all, [member, ...values])) as SaveOutcome[];
    },

    async arrived(entries) {
      const values = await positionsOf(entries.map(({ chipid }) => chipid));
      return replies.readArrived(values, entries);
    },

    async load(chipids) {
      return replies.readPositions(await positionsOf(chipids));
    },

    async owners() {
      const [held, alive] = await Promise.all([
        commands.call('HGETALL', slots),
        commands.call('HKEYS', members),
      ]);
      return replies.readOwners(held, new Set(replies.readTexts(alive)));
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
      return replies.readWaiting(await data.run(WAITING, all, [most], DEVICES * DEVICE));
    },

    async claim(chipid, claim, most) {
      const partition = partitionOf(chipid);
      const stream = keys.queue(partition);
      const all = [stream, keys.devices(partition), keys.ids(chipid)];
      all.push(attempts, deadLetters, keys.deadSize);
      const answer = await data.run(CLAIM, all, [chipid, claim, most, INLINE], INLINE);
      const { upload, bytes, isBuried } = replies.readClaim(answer);
      if (!upload || bytes <= INLINE) return { upload, isBuried };
      const { id } = upload;
      const text = replies.readUpload(await data.read(bytes, 'XRANGE', stream, id, id));
      // Acknowledged meanwhile: the next claim has the next one.
      return text === undefined
        ? store.claim(chipid, claim, most)
        : { upload: { ...upload, text }, isBuried };
    },

    async acknowledge(chipid, id) {
      const partition = partitionOf(chipid);
      const all = [keys.queue(partition), keys.devices(partition), keys.ids(chipid), attempts];
      const left = await data.run(ACKNOWLEDGE, all, [chipid, id]);
      return typeof left === 'number' && left >= 0 ? left : undefined;
    },

    async queueState() {
      const streams = Array.from({ length: PARTITIONS }, (_, partition) => keys.queue(partition));
      return replies.readLengths(await data.run(LENGTHS, [deadLetters, ...streams], []));
    },

    async publish(topic, text) {
      await data.call('PUBLISH', keys.topic(topic), text);
    },

    subscribe: (topic, listener) => topics.add(keys.topic(topic), listener),

    async info() {
      const lacking = await forbidden();
      const unless = (right: string, command: string): Promise<unknown> =>
        lacking.includes(right) ? Promise.resolve([]) : commands.call(command);
      const [info, saves, time, alive] = await Promise.all([
        unless('+info', 'INFO'),
        // Hosted engines often forbid it.
        commands.call('CONFIG', 'GET', 'save').catch(() => undefined),
        unless('+time', 'TIME'),
        lacking.length === 0 ? commands.call('HKEYS', members) : [],
      ]);
      return {
        ...replies.readInfo(String(info), saves),
        time: replies.readTime(time),
        members: replies.readTexts(alive),
        forbidden: lacking,
      };
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
