import { isUtf8 } from 'node:buffer';
import {
  type Charset,
  type Datatype,
  type DecodedBody,
  DeviceCloudError,
  type LatestUpload,
  Slices,
  uploadText,
} from '../../src/index';
import { defineAction, type ActionCall, type Outcome } from '../common/action';
import { aboutDevice } from '../common/device-call';
import { addName, devicesOf } from '../common/inputs';
import { toProblem } from '../common/errors';
import {
  type DeviceType,
  decodeBody,
  isTyped,
  staleFields,
  typeFields,
  undecodable,
} from '../common/device-types';
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

/** The fields of an upload, and the error if it cannot be decoded: then its bytes are the payload. */
function readLatest(
  latest: LatestUpload,
  { app, client, config }: LatestCall,
  type: DeviceType | undefined,
  advice?: string,
) {
  const { chipid, body, timestamp, age, source, altered, truncated } = latest;
  const decoded = decodeLatest(latest, config.datatype, app.charset, type);
  const fields = {
    payload: 'value' in decoded ? decoded.value : body,
    timestamp,
    age,
    source,
    ...typeFields(type, body),
    ...(altered && { altered }),
    ...(truncated && { truncated }),
  };
  if ('value' in decoded) return { fields };
  const what = `The latest upload of ${client.fleet.titleOf(chipid)}`;
  return { fields, error: undecodable(what, decoded.problem, type, advice) };
}

/** The latest upload of one of all devices. */
function entryOf(call: LatestCall, latest: LatestUpload) {
  const { client, types } = call;
  const { chipid } = latest;
  const { name, online } = client.fleet.device(chipid) ?? { name: null, online: null };
  const { fields, error } = readLatest(latest, call, types.of(client.fleet, chipid));
  // One that cannot be decoded must not keep the others from being shown.
  const undecoded = error && { payload: null, error: toProblem(error) };
  return { chipid, name, online, ...fields, ...undecoded };
}
export type LatestEntry = ReturnType<typeof entryOf>;

const byNumber = (a: LatestEntry, b: LatestEntry): number =>
  a.chipid.length - b.chipid.length || (a.chipid < b.chipid ? -1 : 1);

async function latestOfAll(call: LatestCall): Promise<Outcome> {
  const { client, config, inputs, signal } = call;
  const ofGroup = isGroup(config) && (devicesOf(client, config, inputs.chipid) as string[]);
  const group = ofGroup ? new Set(ofGroup) : undefined;
  const payload: LatestEntry[] = [];
  const slices = new Slices();
  const { uploads, missing } = await client.latestAll();
  for (const latest of uploads) {
    if (group?.has(latest.chipid) === false) continue;
    payload.push(entryOf(call, latest));
    if (slices.isOver) await slices.next();
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

/** Of a device of which nothing is known. */
const NOTHING = { payload: null, timestamp: null, age: null, source: null };

const latestOfOne = (call: LatestCall): Promise<Outcome> =>
  aboutDevice(call, call.inputs.chipid, async (chipid) => {
    const { client, config, types, msg } = call;
    const type = types.of(client.fleet, chipid);
    const latest = await client.latest(chipid);
    if (!latest && config.missing !== 'null') throw nothingKnown(client.fleet.titleOf(chipid));
    const { fields, error }: { fields: object; error?: DeviceCloudError } = latest
      ? readLatest(latest, call, type, ANOTHER_OUTPUT)
      : { fields: NOTHING };
    if (error && !isTyped(type)) throw error;
    const online = client.fleet.device(chipid)?.online ?? null;
    const bytes = error && { raw: latest?.body };
    const found = { ...fields, ...bytes, chipid, ...(online !== null && { online }) };
    const set = addName(found, client, chipid, msg);
    // Another node may have put them on the message about another upload, perhaps of another device.
    const remove = ['truncated', 'altered', 'online', ...staleFields(type)];
    return error ? { set, error } : { set, remove };
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
