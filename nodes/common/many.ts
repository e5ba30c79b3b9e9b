import { isDeviceCloudError, type Chipid, type PushOptions, type Schedule } from '../../src/index';
import { invalidInput, parseChipid, readInput } from '../../src/input';
import type { Outcome } from './action';
import { AT_ONCE, LIMIT, MAX_MANY, type ManyConfig } from './action.config';
import { asError, messageOf } from './errors';
import { numberOf } from './values';

/** What a call to one device puts on its message: `payload`, `statusCode` if there was an answer, and more. */
export type CallFields = Readonly<Record<string, unknown>>;

/** Calls one device with the arguments of its call: only a push has a format. */
export type CallOne = (chipid: Chipid, options: PushOptions) => Promise<CallFields>;

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

/** Limits how many calls run at once; the others wait in order. */
class CallLimiter {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(private readonly most: number) {}

  /** Whether any call runs. */
  get busy(): boolean {
    return this.#running > 0;
  }

  readonly schedule: Schedule = async (start) => {
    if (this.#running < this.most) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await start();
    } finally {
      // The next caller uses this place.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  };
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
 * Calls several devices. All commands take their places in the queues of their devices at once, so that the
 * order of arrival holds; how many of them run is limited.
 * @param devices one chip number or an array of them
 * @returns the results in the order of the devices; an error only if none of them succeeded
 * @throws DeviceCloudError `INVALID_INPUT` or `NOT_CONFIGURED` if nothing can be sent to any of them
 */
export async function callMany(
  config: ManyConfig,
  devices: unknown,
  options: PushOptions,
  one: CallOne,
): Promise<Outcome> {
  if (options.when !== undefined && options.when !== 'now') {
    throw invalidInput('Commands to several devices cannot wait for them: "when" must be "now".');
  }
  const limit = countOf(config.limit, 'limit', LIMIT);
  const calls = new CallLimiter(countOf(config.atOnce, 'atOnce', AT_ONCE));
  const chipids = readInput('list of devices', () => readDevices(devices, limit));
  const each: PushOptions = {
    ...options,
    schedule: calls.schedule,
    onProgress: (progress) => options.onProgress?.(calls.busy ? { state: 'calling' } : progress),
  };

  const errors: unknown[] = [];
  const callOne = async (chipid: Chipid & string, index: number): Promise<Result> => {
    try {
      const { payload, statusCode } = await one(chipid, each);
      return withStatus({ chipid, ok: true, payload }, statusCode);
    } catch (error) {
      errors[index] = error;
      return failed(chipid, error);
    }
  };
  const results = await Promise.all(chipids.map(callOne));
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
