import { isDeviceCloudError, type DeviceCloudClient, type PushOptions } from '../../src/index';
import { invalidInput, parseChipid, parseChipids, readInput } from '../../src/input';
import type { Outcome } from './action';
import { AT_ONCE, LIMIT, MAX_MANY, type ManyConfig } from './action.config';
import { asError, messageOf } from './errors';
import { numberOf } from './values';

/** The answer of a device; over a channel it has no status. */
export interface DeviceAnswer<T = unknown> {
  body: T;
  statusCode?: number | undefined;
  /** What makes it doubtful that the command was carried out. */
  warning?: string;
}

/** Calls one device with the arguments of its call: only a push has a format. */
export type CallOne<T> = (chipid: string, options: PushOptions) => Promise<DeviceAnswer<T>>;

/** What a call to one device puts on its message: `payload`, `statusCode` and `warning` if there are, and more. */
export type CallFields = Record<string, unknown>;

/** Makes the fields, in a new object. */
export type FieldsOf<T> = (answer: DeviceAnswer<T>, chipid: string) => CallFields;

/** The answer as the payload, its status, and its warning. */
export function answerFields({ body, statusCode, warning }: DeviceAnswer): CallFields {
  const fields = statusCode === undefined ? { payload: body } : { payload: body, statusCode };
  return warning === undefined ? fields : { ...fields, warning };
}

/** The result of one device, as an element of the payload. */
interface Result {
  chipid: string;
  ok: boolean;
  payload?: unknown;
  error?: { code: string | undefined; message: string };
  statusCode?: number;
  /** Of a failure: whether the device may have acted. */
  uncertain?: boolean;
  /** Of a success that is doubtful. */
  warning?: unknown;
}

function countOf(value: number | string | undefined, name: string, usual: number): number {
  const count = numberOf(value, usual);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_MANY) return count;
  throw invalidInput(`The property "${name}" must be a whole number from 1 to ${MAX_MANY}.`);
}

/** Reads the whole list before anything is sent. @returns each device once */
function readDevices(value: unknown, limit: number): string[] {
  if (!Array.isArray(value)) return [parseChipid(value)];
  const check = ({ length }: readonly unknown[]): void => {
    if (length <= limit) return;
    throw invalidInput(
      `The array has ${length} chip numbers, and the node takes at most ${limit} at once. ` +
        'Nothing was sent. Send fewer, or raise the limit.',
    );
  };
  check(value);
  const chipids = parseChipids(value);
  // A proxy may have grown.
  check(chipids);
  return [...new Set(chipids)];
}

function failed(chipid: string, thrown: unknown): Result {
  const known = isDeviceCloudError(thrown) ? thrown : undefined;
  const error = { code: known?.code, message: messageOf(thrown) };
  const result: Result = { chipid, ok: false, error, uncertain: known?.uncertain ?? true };
  return withStatus(result, known?.statusCode);
}

/** Adds the status of an answer: not to a copy, which would have a hidden class of its own in V8 of Node.js 20. */
function withStatus(result: Result, statusCode: unknown): Result {
  if (typeof statusCode === 'number') result.statusCode = statusCode;
  return result;
}

const numbers = (results: readonly Result[], uncertain: boolean): string[] =>
  results.filter((result) => result.uncertain === uncertain).map(({ chipid }) => chipid);

/**
 * Calls several devices.
 * @param devices one chip number or an array of them
 * @returns the results in the order of the devices; an error only if none of them succeeded
 * @throws DeviceCloudError `INVALID_INPUT` or `NOT_CONFIGURED` if nothing can be sent to any of them
 */
export async function callMany<T>(
  client: DeviceCloudClient,
  config: ManyConfig,
  devices: unknown,
  options: PushOptions,
  one: CallOne<T>,
  fields: FieldsOf<T>,
): Promise<Outcome> {
  const limit = countOf(config.limit, 'limit', LIMIT);
  const atOnce = countOf(config.atOnce, 'atOnce', AT_ONCE);
  const chipids = readInput('list of devices', () => readDevices(devices, limit));
  const call = async (chipid: string, each: PushOptions): Promise<Result> => {
    const { payload, statusCode, warning } = fields(await one(chipid, each), chipid);
    const result = withStatus({ chipid, ok: true, payload }, statusCode);
    return warning === undefined ? result : { ...result, warning };
  };
  const settled = await client.callEach(chipids, call, { ...options, atOnce });
  const errors: unknown[] = [];
  const results = settled.map((result, index): Result => {
    if (result.status === 'fulfilled') return result.value;
    errors[index] = result.reason;
    return failed(chipids[index] as string, result.reason);
  });
  const set = {
    payload: results,
    failed: numbers(results, false),
    uncertain: numbers(results, true),
  };
  if (results.length === 0 || results.some(({ ok }) => ok)) return { set, always: true };
  // What is wrong with the message, and not with a device, leaves the message as it is.
  const isWrong = (error: unknown): boolean =>
    isDeviceCloudError(error, 'INVALID_INPUT', 'NOT_CONFIGURED');
  if (errors.every(isWrong)) throw asError(errors[0]);
  return { set, always: true, error: asError(errors[0]) };
}
