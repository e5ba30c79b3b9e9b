import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  Charset,
  Datatype,
  DeviceCloudClient,
  LatestSource,
  LatestUpload,
} from '../../src/index';
import { parseDatatype } from '../../src/input';
import type { ActionCall, Outcome } from '../common/action';
import { decodeLatest } from './body';
import type { LatestConfig } from './latest.config';

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
  error?: { code: 'INVALID_RESPONSE'; message: string };
}

/** Bytes that are decoded in one turn of the event loop, each device counted as some more. */
const BYTES_A_TURN = 256 * 1024;
const BYTES_OF_A_DEVICE = 512;

const byNumber = (a: LatestEntry, b: LatestEntry): number =>
  a.chipid.length - b.chipid.length || (a.chipid < b.chipid ? -1 : 1);

function entryOf(
  { fleet }: DeviceCloudClient,
  latest: LatestUpload,
  datatype: Datatype,
  charset: Charset,
): LatestEntry {
  const { chipid, timestamp, age, source } = latest;
  const { name, online } = fleet.device(chipid) ?? { name: null, online: null };
  const decoded = decodeLatest(latest, datatype, charset);
  const payload = 'value' in decoded ? decoded.value : null;
  const entry: LatestEntry = { chipid, name, payload, timestamp, age, source, online };
  if (latest.truncated) entry.truncated = true;
  if (latest.altered) entry.altered = true;
  if ('problem' in decoded) {
    // One device must not keep the others from being shown.
    const message = `The latest upload of device ${chipid} is ${decoded.problem}.`;
    entry.error = { code: 'INVALID_RESPONSE', message };
  }
  return entry;
}

/** The latest uploads of all devices that have one, by chip number. */
export async function latestOfAll({
  app,
  client,
  config,
  signal,
}: ActionCall<LatestConfig, 'chipid'>): Promise<Outcome> {
  const datatype = parseDatatype(config.datatype);
  const payload: LatestEntry[] = [];
  let bytes = 0;
  for (const latest of await client.fleet.findLatestAll()) {
    payload.push(entryOf(client, latest, datatype, app.charset));
    bytes += latest.body.length + BYTES_OF_A_DEVICE;
    if (bytes < BYTES_A_TURN) continue;
    bytes = 0;
    await nextTurn();
    if (signal.aborted) break;
  }
  return { set: { payload: payload.sort(byNumber) } };
}
