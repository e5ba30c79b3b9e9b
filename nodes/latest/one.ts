import { DeviceCloudError, type Charset, type Datatype, type LatestUpload } from '../../src/index';
import { parseChipid, parseDatatype } from '../../src/input';
import type { ActionCall, Outcome } from '../common/action';
import { deviceOf } from '../common/device-call';
import { addName } from '../common/device-name';
import { asError } from '../common/errors';
import { decodeLatest } from './body';
import type { LatestConfig } from './latest.config';

type LatestCall = ActionCall<LatestConfig, 'chipid'>;

const nothingKnown = (chipid: string, readHistory: boolean): DeviceCloudError =>
  new DeviceCloudError(
    'NO_VALUE',
    readHistory
      ? `Nothing is known of device ${chipid}: its history is empty.`
      : `Nothing is known of device ${chipid} yet: no node that listens to it has received an upload. ` +
          'Listen to it, or let this node read its history.',
  );

const undecodable = (chipid: string, problem: string): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_RESPONSE',
    `The latest upload of device ${chipid} is ${problem}. ` +
      'Choose another output, such as auto-detect, if the device uploads other data, too.',
  );

/** What is known already, or what the history has, if the node may read it. */
async function find(
  { client, config }: LatestCall,
  chipid: string,
): Promise<LatestUpload | undefined> {
  const known = await client.fleet.findLatest(chipid);
  if (known || config.missing !== 'history') return known;
  return client.fleet.readLatest(chipid);
}

/** Fields of an upload, or of none. */
function uploadFields(
  latest: LatestUpload | undefined,
  datatype: Datatype,
  charset: Charset,
): object {
  if (!latest) return { payload: null, timestamp: null, age: null, source: null };
  const decoded = decodeLatest(latest, datatype, charset);
  if ('problem' in decoded) throw undecodable(latest.chipid, decoded.problem);
  const { timestamp, age, source, altered } = latest;
  const fields = { payload: decoded.value, timestamp, age, source, ...(altered && { altered }) };
  return latest.truncated ? { ...fields, truncated: true } : fields;
}

async function fieldsOf(call: LatestCall, chipid: string): Promise<object> {
  const { app, client, config } = call;
  const datatype = parseDatatype(config.datatype);
  const latest = await find(call, chipid);
  if (!latest && config.missing !== 'null') {
    throw nothingKnown(chipid, config.missing === 'history');
  }
  const fields = uploadFields(latest, datatype, app.charset);
  const online = client.fleet.device(chipid)?.online ?? null;
  return { ...fields, chipid, ...(online !== null && { online }) };
}

/** The latest upload of the device that a message names. */
export async function latestOfOne(call: LatestCall): Promise<Outcome> {
  const { client, inputs, msg } = call;
  const chipid = parseChipid(deviceOf(inputs));
  try {
    const fields = await fieldsOf(call, chipid);
    // Another node may have put them on the message about another upload, perhaps of another device.
    const remove = ['truncated', 'altered', 'online'];
    return { set: addName({ ...fields }, client, chipid, msg), remove };
  } catch (error) {
    return { set: addName({}, client, chipid, msg), always: true, error: asError(error) };
  }
}
