/*
 * What processes tell each other of the devices: the latest uploads that each knows, the states that events were
 * emitted for, and the revisions of their device books.
 */
import type { Book } from '../fleet/book';
import type { KeptUpload, KnownUpload, OtherLatest } from '../fleet/latest';
import type { SharedWatch, WatchedState, WatchShare } from '../fleet/watch/watch-types';
import { decodeBase64 } from '../util/base64';
import { isObject } from '../util/object';
import type { Cluster } from './cluster';
import { isChipid, itemsOf, MOST_DEVICES, partsOf, type Bus } from './messages';

type Known = Readonly<{
  chipid: string;
  latest: Pick<KeptUpload, 'timestamp' | 'toLatest'> | undefined;
}>;

/** How long each piece of an answer is awaited, and how long the whole answers of all, in ms. */
const LIMIT = { piece: 1500, all: 15_000 };

/** The most bytes of bodies in Base64 in one message, and in all answers to one request. */
const BYTES = { message: 256 * 1024, all: 64 * 1024 * 1024 };

/** The longest body, in Base64: 16 KiB are kept. */
const LONGEST = 24 * 1024;

const SOURCES: readonly unknown[] = ['live', 'replayed', 'history'];

/**
 * Requests the latest uploads that the other processes of a cluster know, and answers such requests in pieces: the next one
 * is requested when the previous one has arrived.
 * @param registry has what this process knows
 */
export function remoteLatest(
  cluster: Pick<Cluster, 'member' | 'members'>,
  bus: Bus,
  registry: { get(chipid: string): Known | undefined; devices(): Iterable<Known> },
): OtherLatest {
  const asking = new Map<string | undefined, Promise<readonly KnownUpload[]>>();

  const askAll = async (chipid: string | undefined): Promise<readonly KnownUpload[]> => {
    const end = performance.now() + LIMIT.all;
    const found: KnownUpload[] = [];
    let bytes = 0;
    const askOne = async (member: string): Promise<void> => {
      let first: unknown = 0;
      while (first !== undefined && bytes < BYTES.all && performance.now() < end) {
        const asked = bus.ask(member, 'latest', { chipid, first }, LIMIT.piece);
        const { uploads, next } = (await asked.catch(() => undefined)) ?? {};
        for (const upload of itemsOf(uploads).flatMap(readKnown)) {
          bytes += upload.body.length;
          if (bytes <= BYTES.all) found.push(upload);
        }
        first = next;
      }
    };
    const others = cluster.members.filter((each) => each !== cluster.member);
    await Promise.all(others.map(askOne));
    return found;
  };

  bus.on('latest', ({ id, chipid, first }, from) => {
    if (typeof first !== 'number' || !(first >= 0) || (chipid !== undefined && !isChipid(chipid)))
      return;
    const devices = chipid === undefined ? [...registry.devices()] : [registry.get(chipid)];
    bus.post(from, 'answer', { id, ...pieceOf(devices, first) });
  });
  return {
    /** Members that do not answer in time are left out. Concurrent calls share an answer. */
    ask(chipid) {
      const pending = asking.get(chipid) ?? askAll(chipid).finally(() => asking.delete(chipid));
      asking.set(chipid, pending);
      return pending;
    },
  };
}

/** The uploads of some devices, as messages have them. @returns also where the next piece begins, if there is one */
function pieceOf(devices: readonly (Known | undefined)[], first: number): object {
  const uploads: object[] = [];
  let [bytes, next] = [0, first];
  while (next < devices.length && uploads.length < MOST_DEVICES && bytes < BYTES.message) {
    const { chipid = '', latest } = devices[next++] ?? {};
    if (!latest) continue;
    const { body, ...known } = latest.toLatest(chipid, latest.timestamp);
    const base64 = body.toString('base64');
    bytes += base64.length;
    uploads.push({ ...known, body: base64 });
  }
  return { uploads, ...(next < devices.length && { next }) };
}

/** @returns nothing if it is malformed */
function readKnown(value: unknown): KnownUpload[] {
  const { chipid, body, truncated, timestamp, source, altered } = isObject(value) ? value : {};
  if (!isChipid(chipid) || typeof body !== 'string' || body.length > LONGEST) return [];
  const bytes = decodeBase64(body);
  if (!bytes || typeof timestamp !== 'number' || !SOURCES.includes(source)) return [];
  const known = { chipid, body: bytes, timestamp, truncated: truncated === true };
  const how = source as KnownUpload['source'];
  return [{ ...known, source: how, ...(altered === true && { altered }) }];
}

/** Milliseconds in which changes are collected. */
const COLLECT = 200;

/**
 * Whoever holds this device, whether or not it exists, emits the events of all devices: one process at a time, and none
 * that uses no devices.
 */
const OF_ALL = '0';

/**
 * The watches of a client. The owner of a device emits its events and sends its state to the others, so that the next
 * owner continues from there and repeats nothing.
 */
export function shareWatches(
  cluster: Pick<Cluster, 'owns' | 'mayEmit' | 'listen'> & {
    readonly claims: Pick<Cluster['claims'], 'use'>;
  },
  bus: Pick<Bus, 'on' | 'post'>,
): WatchShare & { close(): void } {
  /** The devices of each watch that have changed. */
  const watches = new Map<SharedWatch, Set<string>>();
  let timer: NodeJS.Timeout | undefined;

  const post = (to: string | undefined, key: string, states: readonly WatchedState[]): void => {
    for (const devices of partsOf(states)) bus.post(to, 'watched', { key, devices });
  };
  /** Sends what has changed. */
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [watch, changed] of watches) {
      if (changed.size === 0) continue;
      const states = [...watch.states()].filter(([chipid]) => changed.has(chipid));
      changed.clear();
      post(undefined, watch.key, states);
    }
  };
  /** Requests the states that the others know. */
  const request = (key: string): void => bus.post(undefined, 'watching', { key });
  const moved = (): void => {
    for (const watch of watches.keys()) watch.moved();
  };

  bus.on('watched', ({ key, devices }) => {
    for (const watch of watches.keys())
      if (watch.key === key) for (const device of itemsOf(devices)) watch.apply(device);
  });
  // A process has started to watch.
  bus.on('watching', ({ key }, from) => {
    const watch = [...watches.keys()].find((each) => each.key === key);
    if (!watch) return;
    const mine = [...watch.states()].filter(([chipid]) => cluster.owns(chipid));
    post(from, watch.key, mine);
  });
  const leave = cluster.listen({
    onShare() {
      // The next owner of the devices needs their states first.
      flush();
      moved();
    },
    onResumed: moved,
    onState(state) {
      // Messages that others sent meanwhile, or before the first beat, did not arrive.
      if (state === 'member') for (const { key } of watches.keys()) request(key);
    },
  });

  return {
    mayEmit: (chipid) => cluster.mayEmit(chipid),
    get emitsForAll() {
      return cluster.mayEmit(OF_ALL);
    },
    join(watch) {
      const changed = new Set<string>();
      // The owners of the devices emit their events.
      const endUse = cluster.claims.use('follows');
      watches.set(watch, changed);
      request(watch.key);
      return {
        changed(chipid) {
          if (!cluster.owns(chipid)) return;
          changed.add(chipid);
          timer ??= setTimeout(flush, COLLECT);
        },
        leave() {
          flush();
          endUse();
          watches.delete(watch);
        },
      };
    },
    close() {
      leave();
      clearTimeout(timer);
      watches.clear();
    },
  };
}

/** Longer than any revision of a device book. */
const LONGEST_REVISION = 100;

/**
 * Compares the device book of this process with those of the others, each of which reads a copy of its own.
 * @returns the members whose book has another content
 */
export function compareBooks(
  cluster: Pick<Cluster, 'members' | 'listen'>,
  bus: Pick<Bus, 'on' | 'post'>,
  book: Pick<Book, 'revision' | 'onChange'>,
): { differing(): string[]; close(): void } {
  const revisions = new Map<string, string>();
  const post = (to: string | undefined, isAnswer: boolean): void =>
    bus.post(to, 'book', { revision: book.revision, isAnswer });
  const ask = (): void => post(undefined, false);
  bus.on('book', ({ revision, isAnswer }, from) => {
    // One that is not known yet is asked as soon as it is.
    if (typeof revision !== 'string' || revision.length > LONGEST_REVISION) return;
    if (!cluster.members.includes(from)) return;
    revisions.set(from, revision);
    if (isAnswer !== true) post(from, true);
  });
  const ends = [
    book.onChange(() => post(undefined, true)),
    cluster.listen({
      onMembers() {
        for (const each of revisions.keys())
          if (!cluster.members.includes(each)) revisions.delete(each);
        ask();
      },
      onState(state) {
        // What was sent meanwhile did not arrive.
        if (state === 'member') ask();
      },
    }),
  ];
  ask();
  return {
    differing: () =>
      [...revisions].flatMap(([member, revision]) => (revision === book.revision ? [] : [member])),
    close() {
      for (const end of ends) end();
    },
  };
}
