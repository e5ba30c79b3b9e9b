/*
 * What processes tell each other of the devices: the latest uploads that each knows, and the states that events were
 * emitted for.
 */
import type { KnownUpload, OtherLatest } from '../fleet/latest';
import type { FleetRegistry } from '../fleet/registry';
import type { SharedWatch, WatchedState, WatchShare } from '../fleet/watch/watch-types';
import { decodeBase64 } from '../util/base64';
import { isObject } from '../util/object';
import type { Cluster } from './cluster';
import { isChipid, MOST_DEVICES, type Bus } from './messages';

/** How long an answer of the others is awaited, or its next piece, and how long all of it, in ms. */
const LIMIT = { piece: 1500, all: 15_000 };

/** The most bytes of bodies in Base64 in one message, and in all answers to one request. */
const BYTES = { message: 256 * 1024, all: 64 * 1024 * 1024 };

/** The longest body, in Base64: 16 KiB are kept. */
const LONGEST = 24 * 1024;

const SOURCES: readonly unknown[] = ['live', 'replayed', 'history'];

interface Question {
  /** The members that have not answered completely. */
  readonly open: Set<string>;
  readonly found: KnownUpload[];
  bytes: number;
  /** Waits for the next piece. */
  wait: () => void;
  end: () => void;
}

/** An answer in several pieces: the next one is sent when the previous one has arrived. */
interface Answering {
  readonly id: string;
  readonly pieces: Iterator<object[], object[]>;
  /** When its requester no longer waits. */
  readonly until: number;
}

/** The latest uploads that this process knows, of one device or of all. */
export function* knownUploads(
  registry: Pick<FleetRegistry, 'get' | 'devices'>,
  chipid: string | undefined,
): Generator<KnownUpload> {
  const devices = chipid === undefined ? [...registry.devices()] : [registry.get(chipid)];
  for (const device of devices)
    if (device?.latest) yield device.latest.toLatest(device.chipid, device.latest.timestamp);
}

/**
 * Requests the latest uploads that the other processes of a cluster know, and answers such requests.
 * @param known what this process knows of one device, or of all
 */
export function remoteLatest(
  cluster: Pick<Cluster, 'member' | 'members'>,
  bus: Bus,
  known: (chipid: string | undefined) => Iterable<KnownUpload>,
): OtherLatest & { close(): void } {
  const questions = new Map<string, Question>();
  const asking = new Map<string | undefined, Promise<readonly KnownUpload[]>>();
  /** By member: none has more than one answer in pieces at a time. */
  const answering = new Map<string, Answering>();
  let count = 0;

  const question = (chipid: string | undefined): Promise<readonly KnownUpload[]> =>
    new Promise((resolve) => {
      const open = new Set(cluster.members.filter((each) => each !== cluster.member));
      const id = `${++count}`;
      const found: KnownUpload[] = [];
      let timer: NodeJS.Timeout | undefined;
      const end = (): void => {
        clearTimeout(timer);
        clearTimeout(whole);
        questions.delete(id);
        resolve(found);
      };
      const wait = (): void => {
        clearTimeout(timer);
        timer = setTimeout(end, LIMIT.piece);
      };
      const whole = setTimeout(end, LIMIT.all);
      if (open.size === 0) {
        end();
        return;
      }
      questions.set(id, { open, found, bytes: 0, wait, end });
      wait();
      bus.send(undefined, 'latest', { id, chipid }).catch(end);
    });

  const sendPiece = (to: string, answer: Answering): void => {
    const { value: uploads, done: isLast = false } = answer.pieces.next();
    if (isLast) answering.delete(to);
    else answering.set(to, answer);
    bus.post(to, 'known', { id: answer.id, uploads, isLast });
  };
  bus.on('latest', ({ id, chipid }, from) => {
    if (typeof id !== 'string' || (chipid !== undefined && !isChipid(chipid))) return;
    const now = performance.now();
    for (const [member, { until }] of answering) if (until < now) answering.delete(member);
    sendPiece(from, { id, pieces: piecesOf(known(chipid)), until: now + LIMIT.all });
  });
  bus.on('more', ({ id }, from) => {
    const answer = answering.get(from);
    if (answer && answer.id === id && performance.now() < answer.until) sendPiece(from, answer);
  });
  bus.on('known', ({ id, uploads, isLast }, from) => {
    const asked = questions.get(String(id));
    if (!asked?.open.has(from) || !Array.isArray(uploads)) return;
    for (const each of uploads.slice(0, MOST_DEVICES) as unknown[]) {
      const upload = readKnown(each);
      if (!upload || asked.bytes + upload.body.length > BYTES.all) continue;
      asked.bytes += upload.body.length;
      asked.found.push(upload);
    }
    if (isLast === true) {
      asked.open.delete(from);
      if (asked.open.size === 0) asked.end();
      return;
    }
    asked.wait();
    bus.post(from, 'more', { id });
  });

  return {
    /** Members that do not answer in time are left out. Concurrent calls share an answer. */
    ask(chipid) {
      const pending = asking.get(chipid) ?? question(chipid).finally(() => asking.delete(chipid));
      asking.set(chipid, pending);
      return pending;
    },
    close() {
      for (const { end } of [...questions.values()]) end();
      answering.clear();
    },
  };
}

/** Uploads as messages have them, in pieces. The last one is returned. */
function* piecesOf(uploads: Iterable<KnownUpload>): Generator<object[], object[]> {
  let [piece, bytes, all]: [object[], number, number] = [[], 0, 0];
  for (const { body, ...known } of uploads) {
    const base64 = body.toString('base64');
    all += base64.length;
    if (all > BYTES.all) break;
    piece.push({ ...known, body: base64 });
    bytes += base64.length;
    if (piece.length < MOST_DEVICES && bytes < BYTES.message) continue;
    yield piece;
    [piece, bytes] = [[], 0];
  }
  return piece;
}

function readKnown(value: unknown): KnownUpload | undefined {
  if (!isObject(value)) return undefined;
  const { chipid, body, truncated, timestamp, source, altered } = value;
  if (!isChipid(chipid) || typeof body !== 'string' || body.length > LONGEST) return undefined;
  const bytes = decodeBase64(body);
  if (!bytes || typeof timestamp !== 'number' || !SOURCES.includes(source)) return undefined;
  return {
    ...{ chipid, body: bytes, timestamp, truncated: truncated === true },
    source: source as KnownUpload['source'],
    ...(altered === true && { altered }),
  };
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
  cluster: Pick<Cluster, 'owns' | 'mayEmit' | 'listen' | 'use'>,
  bus: Pick<Bus, 'on' | 'post'>,
): WatchShare & { close(): void } {
  /** The devices of each watch that have changed. */
  const watches = new Map<SharedWatch, Set<string>>();
  let timer: NodeJS.Timeout | undefined;

  const post = (to: string | undefined, key: string, states: readonly WatchedState[]): void => {
    for (let first = 0; first < states.length; first += MOST_DEVICES)
      bus.post(to, 'watched', { key, devices: states.slice(first, first + MOST_DEVICES) });
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
    if (!Array.isArray(devices)) return;
    for (const watch of watches.keys())
      if (watch.key === key)
        for (const device of devices.slice(0, MOST_DEVICES) as unknown[]) watch.apply(device);
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
      const endUse = cluster.use('follows');
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
