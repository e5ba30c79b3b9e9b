import {
  isDeviceCloudError,
  type CallProgress,
  type DeviceCloudClient,
  type PushOptions,
  type QueuePlace,
} from '../../src/index';
import { invalidInput, parseChipid, readInput } from '../../src/input';
import type { Outcome } from './action';
import { AT_ONCE, LIMIT, MAX_MANY, type ManyConfig } from './action.config';
import { asError, messageOf } from './errors';
import { numberOf } from './values';

/** The answer of a device; over a channel it has no status. */
export interface DeviceAnswer<T = unknown> {
  body: T;
  statusCode?: number | undefined;
}

/** Calls one device with the arguments of its call: only a push has a format. */
export type CallOne<T> = (chipid: string, options: PushOptions) => Promise<DeviceAnswer<T>>;

/** What a call to one device puts on its message: `payload`, `statusCode` if there was one, and more. */
export type CallFields = Record<string, unknown>;

/** Makes the fields, in a new object. */
export type FieldsOf<T> = (answer: DeviceAnswer<T>, chipid: string) => CallFields;

/** The answer as the payload, and its status. */
export const answerFields = ({ body, statusCode }: DeviceAnswer): CallFields =>
  statusCode === undefined ? { payload: body } : { payload: body, statusCode };

/** The result of one device, as an element of the payload. */
interface Result {
  chipid: string;
  ok: boolean;
  payload?: unknown;
  error?: { code: string | undefined; message: string };
  statusCode?: number;
  /** Of a failure: whether the device may have acted. */
  uncertain?: boolean;
}

function countOf(value: number | string | undefined, name: string, usual: number): number {
  const count = numberOf(value, usual);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_MANY) return count;
  throw invalidInput(`The property "${name}" must be a whole number from 1 to ${MAX_MANY}.`);
}

/** Reads the whole list before anything is sent. @returns each device once */
function readDevices(value: unknown, limit: number): string[] {
  if (!Array.isArray(value)) return [parseChipid(value)];
  const { length } = value;
  if (length > limit) {
    throw invalidInput(
      `The array has ${length} chip numbers, and the node takes at most ${limit} at once. ` +
        'Nothing was sent. Send fewer, or raise the limit.',
    );
  }
  const chipids = Array.from({ length }, (_, index) => {
    try {
      return parseChipid(value[index]);
    } catch (error) {
      throw invalidInput(`Nothing was sent, since element ${index} is wrong. ${messageOf(error)}`);
    }
  });
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

/** What calling several devices takes. */
interface Calls<T> {
  client: DeviceCloudClient;
  chipids: readonly string[];
  options: PushOptions;
  /** How many calls may run side by side. */
  atOnce: number;
  one: CallOne<T>;
  fields: FieldsOf<T>;
}

/**
 * Calls to several devices. Places in the queues of all devices are reserved first, so that the order of arrival holds. A
 * call is made once its place has its turn and fewer than `atOnce` run: until then it takes hardly any memory.
 */
class ManyCalls<T> {
  readonly results: Result[] = [];
  /** Those of the devices that failed. */
  readonly errors: unknown[] = [];
  readonly #calls: Calls<T>;
  readonly #places: QueuePlace[] = [];
  /** The devices whose places wait no longer, by index, in that order; the calls of the first `#begun` have begun. */
  readonly #ready: number[] = [];
  #begun = 0;
  #running = 0;
  #left: number;
  #onEnd: () => void = () => undefined;

  constructor(calls: Calls<T>) {
    // Shows that a call runs rather than that another one waits.
    const onProgress = (progress: CallProgress): void =>
      calls.options.onProgress?.(this.#running > 0 ? { state: 'calling' } : progress);
    this.#calls = { ...calls, options: { ...calls.options, onProgress } };
    this.#left = calls.chipids.length;
  }

  /** Makes all calls. Resolves when each device has a result. */
  run(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEnd = resolve;
      this.#calls.chipids.forEach((chipid, index) => this.#reserve(chipid, index));
      this.#continue();
    });
  }

  #reserve(chipid: string, index: number): void {
    const { client, options } = this.#calls;
    const onTurn = (): void => {
      this.#ready.push(index);
      this.#continue();
    };
    try {
      const place = client.reserve(chipid, { onTurn, ...options });
      this.#places[index] = place;
      if (place.hasTurn) this.#ready.push(index);
    } catch (error) {
      this.#fail(chipid, index, error);
    }
  }

  #continue(): void {
    while (this.#running < this.#calls.atOnce && this.#begun < this.#ready.length)
      void this.#call(this.#ready[this.#begun++] as number);
    if (this.#left === 0) this.#onEnd();
  }

  async #call(index: number): Promise<void> {
    const { client, chipids, options, one, fields } = this.#calls;
    const chipid = chipids[index] as string;
    const place = this.#places[index] as QueuePlace;
    this.#running++;
    try {
      const each = { place, ...options };
      const { payload, statusCode } = fields(await one(chipid, each), chipid);
      this.results[index] = withStatus({ chipid, ok: true, payload }, statusCode);
      this.#left--;
    } catch (error) {
      this.#fail(chipid, index, error);
      // An invalid call leaves its place unused.
      client.leave(place);
    }
    this.#running--;
    this.#continue();
  }

  #fail(chipid: string, index: number, error: unknown): void {
    this.errors[index] = error;
    this.results[index] = failed(chipid, error);
    this.#left--;
  }
}

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
  if (options.when !== undefined && options.when !== 'now') {
    throw invalidInput('Commands to several devices cannot wait for them: "when" must be "now".');
  }
  const limit = countOf(config.limit, 'limit', LIMIT);
  const atOnce = countOf(config.atOnce, 'atOnce', AT_ONCE);
  const chipids = readInput('list of devices', () => readDevices(devices, limit));
  const calls = new ManyCalls({ client, chipids, options, atOnce, one, fields });
  await calls.run();
  const { results, errors } = calls;
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
