import {
  type Charset,
  chipidOf,
  type DeviceCloudClient,
  type DeviceRecord,
  type DeviceSnapshot,
  type Fleet,
  type FleetChanges,
  oneLine,
  type RecentUpload,
  Slices,
  type TestRecording,
  unixOf,
} from '../../src/index';
import {
  listenersOf,
  typeCalled,
  type DeviceType,
  decodeBody,
  isTyped,
} from '../common/device-types';
import { isObject } from '../common/shared.config';
import { fieldTexts } from '../type/type.config';
import type {
  AppProblem,
  DeviceChoice,
  DeviceDetails,
  FleetAnswer,
  FleetRow,
  ShownUpload,
} from './answers.config';
import type { AppNode } from './deployed';

/** How many seconds ahead a time may be: clocks are read in whole seconds, and an answer takes a while. */
const AHEAD = 60;

/** @param now of the service, Unix time in milliseconds */
function ageOf(latest: unknown, zone: string, now: number): number | null {
  const seen = unixOf(latest, zone);
  const age = seen === undefined ? -Infinity : Math.round((now - seen) / 1000);
  return age >= -AHEAD ? Math.max(0, age) : null;
}

/** A name may be anything. */
const nameOf = (name: unknown): string | null =>
  typeof name === 'string' || typeof name === 'number' ? String(name) : null;

/** The devices as the editor offers them, without the records that name no device. */
export function toChoices(
  records: readonly DeviceRecord[],
  client: Pick<DeviceCloudClient, 'clockSkew' | 'historyZone'>,
): DeviceChoice[] {
  const { clockSkew = 0, historyZone: zone } = client;
  const now = Date.now() + clockSkew;
  return records.flatMap(({ chipid: listed, name, latest, vertype }) => {
    const chipid = chipidOf(listed);
    if (chipid === undefined) return [];
    return { chipid, name: nameOf(name), latest, age: ageOf(latest, zone, now), vertype };
  });
}

/** Characters of the latest upload in a row. */
const LONGEST_LATEST = 100;

/** The devices of an application, as a user may see them. */
type Seen = ReturnType<typeof seenOf>;

function seenOf(node: AppNode, maySee: boolean) {
  const { app, users } = node;
  const typed = listenersOf(users).filter(({ type }) => type);
  return {
    /** Undefined without a client: there are no devices. */
    fleet: app.fleet,
    /** Of uploads that are not UTF-8; undefined if the user may not see uploads. */
    charset: maySee ? app.charset : undefined,
    cluster: app.cluster(),
    /** The type of a device: the book's or, where that names none, a listener's. Its name, and the type if it is deployed. */
    typeOf: ({
      chipid,
      type: name,
    }: DeviceSnapshot): { name?: string; type?: DeviceType | undefined } => {
      if (name !== undefined) return { name, type: typeCalled(name) };
      const type = typed.find((each) => each.has(chipid))?.type;
      return type ? { type, ...(type.name !== '' && { name: type.name }) } : {};
    },
  };
}

/** The fields of an upload with their units, if its type has them. @param longest characters */
function fieldsText(value: unknown, type: DeviceType, longest: number): string {
  return oneLine(fieldTexts(value, type.units ?? {}).join(' · '), longest - 1);
}

/** Whether uploads are shown by their fields: an expression for each of 5,000 rows would take too long. */
const hasFields = (type: DeviceType | undefined): type is DeviceType =>
  type !== undefined && (type.units !== undefined || isTyped(type));

/** The latest upload of a device in a row. */
function latestText(
  fleet: Fleet,
  chipid: string,
  type: DeviceType | undefined,
  charset: Charset,
): string | undefined {
  const latest = hasFields(type) ? fleet.latest(chipid) : undefined;
  if (latest && type && !latest.truncated) {
    const decoded = decodeBody(latest.body, { datatype: 'auto-detect', charset, type });
    if ('value' in decoded) return fieldsText(decoded.value, type, LONGEST_LATEST);
  }
  return fleet.latestText(chipid, LONGEST_LATEST, charset);
}

/** What an editor is sent of a device: each field by its name, so that nothing of a later snapshot gets out unseen. */
function toRow({ fleet, charset, cluster, typeOf }: Seen, device: DeviceSnapshot): FleetRow {
  const { chipid, name, online, since, lastUpload, channel } = device;
  const { waiting, reconnects, recovered, lastError } = device;
  // One literal: with spreads, 5,000 of them take three times as long.
  const row: FleetRow = {
    chipid,
    name,
    online,
    since,
    lastUpload,
    channel,
    waiting,
    reconnects,
    recovered,
    lastError,
  };
  const { name: called, type } = typeOf(device);
  if (device.groups) row.groups = device.groups;
  if (called !== undefined) row.type = called;
  if (device.alarms) row.alarms = device.alarms;
  if (device.missing) row.missing = true;
  if (cluster && !cluster.owns(chipid)) row.elsewhere = true;
  const latest = charset && fleet && latestText(fleet, chipid, type, charset);
  if (latest !== undefined) row.latest = latest;
  return row;
}

/** The revision that a request names; 0, which means everything, for anything else. */
export const readRevision = (since: unknown): number =>
  typeof since === 'string' && /^\d{1,16}$/.test(since) ? Number(since) : 0;

/** Items that are written at once. */
const BATCH = 250;

/**
 * A list as JSON, in pieces: it may be of 50,000 devices, and the event loop turns in between.
 * @param toItem undefined: it is left out
 */
export async function* listText<T>(
  from: Iterable<T>,
  toItem: (each: T) => object | undefined,
): AsyncGenerator<string> {
  const slices = new Slices();
  let items: object[] = [];
  let before = '';
  const text = (): string => {
    const batch = items.length > 0 ? before + JSON.stringify(items).slice(1, -1) : '';
    [items, before] = [[], ','];
    return batch;
  };
  yield '[';
  for (const each of from) {
    const item = toItem(each);
    if (item) items.push(item);
    if (items.length < BATCH && !slices.isOver) continue;
    yield text();
    if (slices.isOver) await slices.next();
  }
  yield `${text()}]`;
}

/**
 * The answer for a fleet, a {@link FleetAnswer} as text, in pieces: there may be 50,000 devices, and the event loop turns in
 * between.
 * @param maySee whether the user may see uploads
 */
export async function* fleetAnswer(
  node: AppNode,
  since: number,
  maySee: boolean,
  recording: TestRecording | undefined,
  problems: AppProblem[],
): AsyncGenerator<string> {
  const seen = seenOf(node, maySee);
  const { fleet, cluster } = seen;
  const nothing: FleetChanges = { revision: 0, devices: [], removed: [], complete: true };
  const { complete, devices, ...changes } = fleet?.changesSince(since) ?? nothing;
  const { count, age } = fleet?.unacknowledged ?? { count: 0, age: 0 };
  const head: Omit<FleetAnswer, 'devices'> = {
    ...changes,
    ...(complete ? { complete } : {}),
    ...(fleet?.book && { book: fleet.book.revision }),
    ...(recording && { recording }),
    ...(problems.length > 0 && { problems }),
    ...(count > 0 && { unacknowledged: { count, since: Date.now() - age } }),
    ...(cluster && {
      cluster: { state: cluster.state, owned: cluster.owned, others: cluster.others },
    }),
  };
  yield `${JSON.stringify(head).slice(0, -1)},"devices":`;
  yield* listText(devices, (device) => toRow(seen, device));
  yield '}';
}

/** Fields of an upload whose course is shown. */
const MOST_NUMBERS = 20;

/** Characters of an upload that is decoded. */
const LONGEST_UPLOAD = 200;

/** An upload as its type decodes it, as far as it does. */
function toShown(
  { body, ...upload }: RecentUpload,
  type: DeviceType | undefined,
  charset: Charset,
): ShownUpload {
  const decoded = body && decodeBody(body, { datatype: 'auto-detect', charset, type });
  if (!decoded || !('value' in decoded)) return upload;
  const { value } = decoded;
  const numbers = Object.entries(isObject(value) ? value : {})
    .filter((field): field is [string, number] => Number.isFinite(field[1]))
    .slice(0, MOST_NUMBERS);
  return {
    ...upload,
    ...(hasFields(type) && { text: fieldsText(value, type, LONGEST_UPLOAD) }),
    ...(numbers.length > 0 && { numbers: Object.fromEntries(numbers) }),
  };
}

/**
 * What a device did of late; undefined if nothing is known of it.
 * @param chipid as digits, without leading zeros
 * @param maySee whether the user may see uploads
 */
export function toDetails(
  node: AppNode,
  chipid: string,
  maySee: boolean,
): DeviceDetails | undefined {
  const seen = seenOf(node, maySee);
  const { fleet: known } = seen;
  const device = known?.device(chipid);
  if (!known || !device) return undefined;
  const { charset } = node.app;
  const { type } = seen.typeOf(device);
  const { uploads, commands } = known.recent(chipid, charset);
  const note = known.book?.row(chipid)?.note;
  return {
    ...toRow(seen, device),
    ...(maySee && {
      uploads: uploads.map((upload) => toShown(upload, type, charset)),
      ...(type?.units && { units: type.units }),
      ...(note === undefined ? {} : { note }),
    }),
    commands,
    pins: node.app.current()?.pins.list(chipid) ?? [],
  };
}
