import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  DeviceCloudError,
  type Charset,
  type Datatype,
  type DecodedBody,
  type LatestSource,
  type LatestUpload,
} from '../../src/index';
import { uploadText } from '../../src/input';
import { defineAction, type ActionCall, type Outcome } from '../common/action';
import { aboutDevice, addName, devicesOf, nameOf } from '../common/device-call';
import { deviceText } from '../common/errors';
import type { DeviceType } from '../common/device-types';
import {
  decodeBody,
  isTyped,
  staleFields,
  typeFields,
  undecodable,
} from '../common/upload-message';
import { CHOICES, DEFAULTS, type LatestConfig } from './latest.config';

type LatestCall = ActionCall<LatestConfig, 'chipid'>;

/** The most bytes of a character of UTF-8 that a cut can leave at the end. */
const MAX_REST = 3;

/** The text of the bytes, but for a character that was cut in two at their end; undefined if they are no text. */
function textOf(bytes: Buffer, charset: Charset): string | undefined {
  for (const each of charset === 'utf-8' ? [charset] : (['utf-8', charset] as const)) {
    for (let rest = 0; rest <= MAX_REST && rest <= bytes.length; rest++) {
      const whole = bytes.subarray(0, bytes.length - rest);
      // Half a character of UTF-8 may be one of the other charset: UTF-8 is tried with each cut first.
      const text = each === 'utf-8' && !isUtf8(whole) ? undefined : uploadText(whole, each);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}

/**
 * Decodes the body of an upload. A truncated body is neither valid JSON nor what a type describes, so it is returned as text or
 * a Buffer.
 * @returns the value, or what is wrong with it, to end the sentence "the body is …"
 */
function decodeLatest(
  { body, truncated }: LatestUpload,
  datatype: Datatype,
  charset: Charset,
  type: DeviceType | undefined,
): DecodedBody {
  const isPlain = !isTyped(type) && (datatype === 'buffer' || datatype === 'base64');
  if (!truncated || isPlain) return decodeBody(body, { datatype, charset, type });
  return { value: textOf(body, charset) ?? body };
}

/** The latest upload of one of all devices. */
export interface LatestEntry {
  chipid: string;
  /** Null if no list has shown it. */
  name: string | null;
  /** Null if it cannot be decoded: `error` says why. */
  payload: unknown;
  timestamp: number;
  age: number;
  source: LatestSource;
  /** Null if that is not known. */
  online: boolean | null;
  truncated?: true;
  altered?: true;
  /** Of a device with a type; the bytes only if it says so. */
  raw?: Buffer;
  units?: Record<string, string>;
  error?: { code: 'INVALID_RESPONSE'; message: string };
}

/** Bytes that are decoded in one turn of the event loop, each device counted as some more. */
const BYTES_A_TURN = 256 * 1024;
const BYTES_OF_A_DEVICE = 512;

const byNumber = (a: LatestEntry, b: LatestEntry): number =>
  a.chipid.length - b.chipid.length || (a.chipid < b.chipid ? -1 : 1);

function entryOf(
  { app, client, types }: LatestCall,
  latest: LatestUpload,
  datatype: Datatype,
): LatestEntry {
  const { fleet } = client;
  const { chipid, timestamp, age, source } = latest;
  const type = types.of(client, chipid);
  const { name, online } = fleet.device(chipid) ?? { name: null, online: null };
  const decoded = decodeLatest(latest, datatype, app.charset, type);
  const payload = 'value' in decoded ? decoded.value : null;
  const entry: LatestEntry = { chipid, name, payload, timestamp, age, source, online };
  if (type) Object.assign(entry, typeFields(type, latest.body));
  if (latest.truncated) entry.truncated = true;
  if (latest.altered) entry.altered = true;
  if ('problem' in decoded) {
    // One device must not keep the others from being shown.
    const what = `The latest upload of ${deviceText(name, chipid)}`;
    const { code, message } = undecodable(what, decoded.problem, type);
    entry.error = { code: code as 'INVALID_RESPONSE', message };
  }
  return entry;
}

async function latestOfAll(call: LatestCall): Promise<Outcome> {
  const { client, config, inputs, signal } = call;
  const ofGroup = isGroup(config) && (devicesOf(client, config, inputs.chipid) as string[]);
  const group = ofGroup ? new Set(ofGroup) : undefined;
  const { datatype } = config;
  const payload: LatestEntry[] = [];
  let bytes = 0;
  const { uploads, missing } = await client.latestAll();
  for (const latest of uploads) {
    if (group?.has(latest.chipid) === false) continue;
    payload.push(entryOf(call, latest, datatype));
    bytes += latest.body.length + BYTES_OF_A_DEVICE;
    if (bytes < BYTES_A_TURN) continue;
    bytes = 0;
    await nextTurn();
    if (signal.aborted) break;
  }
  return { set: { payload: payload.sort(byNumber), ...(missing > 0 && { missing }) } };
}

const ANOTHER_OUTPUT =
  'Choose another output, such as auto-detect, if the device uploads other data, too.';

const nothingKnown = (device: string): DeviceCloudError =>
  new DeviceCloudError(
    'NO_VALUE',
    `Nothing is known of ${device} yet: no node that listens to it has received an upload. Listen to it.`,
  );

/** Fields of an upload, or of none, and the error if it cannot be decoded: then its bytes are the payload. */
function uploadFields(
  latest: LatestUpload | undefined,
  { app, config }: LatestCall,
  device: string,
  type: DeviceType | undefined,
): { fields: object; error?: DeviceCloudError } {
  if (!latest) return { fields: { payload: null, timestamp: null, age: null, source: null } };
  const decoded = decodeLatest(latest, config.datatype, app.charset, type);
  const { body, timestamp, age, source, altered, truncated } = latest;
  const fields = {
    payload: 'value' in decoded ? decoded.value : body,
    ...{ timestamp, age, source, ...typeFields(type, body) },
    ...(altered && { altered }),
    ...(truncated && { truncated }),
  };
  if ('value' in decoded) return { fields };
  if (type) Object.assign(fields, { raw: body });
  const what = `The latest upload of ${device}`;
  return { fields, error: undecodable(what, decoded.problem, type, ANOTHER_OUTPUT) };
}

const latestOfOne = (call: LatestCall): Promise<Outcome> =>
  aboutDevice(call, call.inputs.chipid, async (chipid) => {
    const { client, config, types, msg } = call;
    const type = types.of(client, chipid);
    const device = deviceText(nameOf(client, chipid), chipid);
    const latest = await client.latest(chipid);
    if (!latest && config.missing !== 'null') throw nothingKnown(device);
    const { fields, error } = uploadFields(latest, call, device, type);
    if (error && !isTyped(type)) throw error;
    const online = client.fleet.device(chipid)?.online ?? null;
    const found = { ...fields, chipid, ...(online !== null && { online }) };
    const set = addName(found, client, chipid, msg);
    // Another node may have put them on the message about another upload, perhaps of another device.
    const remove = ['truncated', 'altered', 'online', ...staleFields(type)];
    return error ? { set, error, always: true } : { set, remove };
  });

const isGroup = ({ chipidType }: LatestConfig): boolean => chipidType === 'group';

const isAll = (config: LatestConfig): boolean => config.chipid === '' && !isGroup(config);

const isMany = (config: LatestConfig): boolean => isAll(config) || isGroup(config);

/** Returns the latest upload of one device, or of all, that the application has received. */
export const action = defineAction<LatestConfig, 'chipid'>({
  api: 'open',
  defaults: DEFAULTS,
  choices: CHOICES,
  inputs: (config) => (isAll(config) ? [] : ['chipid']),
  // Of many devices it takes several turns: a later message must not overtake an earlier one.
  sequential: isMany,
  looks: true,
  perform: (call) => (isMany(call.config) ? latestOfAll(call) : latestOfOne(call)),
});
