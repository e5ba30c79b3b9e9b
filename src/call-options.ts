import { invalidInput } from './errors';
import { semaphoreOf, type Semaphore } from './commands/many';
import { isolatedProgress, type Progress } from './commands/outcome';
import { matcherOf } from './commands/reply/matcher';
import type { Request } from './commands/reply/requests';
import type { RequestOptions, RequestProgress } from './commands/reply/types';
import type { CommandWait } from './commands/waiting';
import { parseDatatype, parseValueDatatype, readInput, parseSignal } from './input/values';
import { parseDuration } from './input/gpio';
import { parseFormat } from './input/push-payload';
import type { ChannelListener } from './channel/listener';
import type { Deliver, RecoverOptions } from './recovery/options';
import type { SubscribeOptions } from './subscription';
import { durationOf, readTimeout } from './settings';
import {
  WHENS,
  type CallOptions,
  type CommandOptions,
  type PulseOptions,
  type PushFormat,
  type PushOptions,
  type ValueDatatype,
  type ValueOptions,
} from './types';
import { show } from './util/show';

/** What ends a call before its answer, and who is shown what it waits for. */
export interface Limits {
  /** The time-out: http counts in seconds. */
  seconds: number;
  signal: AbortSignal | undefined;
  progress: Progress | undefined;
}

/** The limits of a call to a device. */
export interface DeviceLimits extends Limits {
  /** Shared by the calls of `callEach`. */
  semaphore: Semaphore | undefined;
}

/** How long a command waits for its device unless its caller says otherwise. */
const EXPIRES = 3_600_000;

function readProgress(options: Pick<CallOptions, 'onProgress'> | undefined): Progress | undefined {
  const onProgress: unknown = options?.onProgress;
  if (onProgress === undefined || onProgress === null) return undefined;
  if (typeof onProgress === 'function')
    return isolatedProgress((progress) => onProgress.call(options, progress) as unknown);
  throw invalidInput(`onProgress must be a function, but is ${show(onProgress)}.`);
}

const limitsOf = (options: CallOptions | undefined, usual: number): Limits => ({
  seconds: readTimeout(options?.timeout, usual) / 1000,
  signal: parseSignal(options?.signal),
  progress: readProgress(options),
});

/**
 * Reads `timeout`, `signal` and `onProgress`.
 * @param usual the time-out in ms if the options have none
 * @throws DeviceCloudError `NOT_CONFIGURED` or `INVALID_INPUT`
 */
export const readLimits = (options: CallOptions | undefined, usual: number): Limits =>
  readInput('options object', () => limitsOf(options, usual));

/** Reads the same for a call to a device. */
export const readDeviceLimits = (options: CallOptions | undefined, usual: number): DeviceLimits =>
  readInput('options object', () => ({
    ...limitsOf(options, usual),
    semaphore: semaphoreOf(options),
  }));

/** How many calls of `callEach` run side by side unless its caller says otherwise. */
const AT_ONCE = 16;

/** The options of `callEach`. */
export interface EachOptions<O> {
  atOnce: number;
  limits: Limits;
  /** The options of each call. */
  each: Omit<O, 'atOnce' | 'onProgress'>;
}

/**
 * Reads the options of `callEach`.
 * @param usual the time-out in ms if they have none
 * @throws DeviceCloudError `NOT_CONFIGURED` or `INVALID_INPUT`
 */
export function readEachOptions<O extends CallOptions>(
  options: (O & { atOnce?: number }) | undefined,
  usual: number,
): EachOptions<O> {
  const limits = readLimits(options, usual);
  checkSentNow(options, 'A call to several devices');
  return readInput('options object', () => {
    const atOnce: unknown = options?.atOnce ?? AT_ONCE;
    if (!Number.isInteger(atOnce) || (atOnce as number) < 1)
      throw invalidInput(`atOnce must be a whole number from 1, but is ${show(atOnce)}.`);
    const given = { ...options } as O & { atOnce?: number };
    const { atOnce: _, onProgress: _progress, ...others } = given;
    // As they were read: an option may be inherited.
    const { seconds, signal } = limits;
    const each = { ...others, timeout: seconds * 1000, ...(signal && { signal }) };
    return { atOnce: atOnce as number, limits, each };
  });
}

/** Reads `duration`, in milliseconds. @throws DeviceCloudError `INVALID_INPUT` */
export const readDuration = (options: PulseOptions | undefined): number =>
  readInput('options object', () => parseDuration(options?.duration ?? 500));

/**
 * Reads `when` and `expires`.
 * @throws DeviceCloudError `INVALID_INPUT` or `NOT_CONFIGURED`
 */
export function readWait(options: CommandOptions | undefined): CommandWait {
  return readInput('options object', () => {
    const { when = 'now', expires } = options ?? {};
    if (WHENS.includes(when))
      return { when, expires: durationOf(expires, 'The expiry', EXPIRES) / 1000 };
    throw invalidInput(`when must be now, online or upload, but is ${show(when)}.`);
  });
}

/**
 * Rejects `when` for a push that cannot wait for a device.
 * @param what the push, as the error names it
 * @throws DeviceCloudError `INVALID_INPUT` or `NOT_CONFIGURED`
 */
export function checkSentNow(options: CommandOptions | undefined, what: string): void {
  if (readWait(options).when !== 'now')
    throw invalidInput(`${what} cannot wait for a device: when must be now.`);
}

/** Reads `format`. @throws DeviceCloudError `INVALID_INPUT` */
export const readFormat = (options: PushOptions | undefined): PushFormat =>
  readInput('options object', () => parseFormat(options?.format ?? 'MSG'));

/** Reads `datatype` of a callback's value. @throws DeviceCloudError `INVALID_INPUT` */
export const readValueDatatype = (options: ValueOptions | undefined): ValueDatatype =>
  readInput('options object', () => parseValueDatatype(options?.datatype));

function readDeliver(deliver: unknown): Deliver | undefined {
  if (deliver === undefined || deliver === 'here' || deliver === 'queue') return deliver;
  throw invalidInput(`deliver must be here or queue, but is ${show(deliver)}.`);
}

/**
 * Reads each option once: recovery uses them for as long as it runs.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readRecovery(options: RecoverOptions | undefined): RecoverOptions | undefined {
  if (!options) return undefined;
  return readInput('options object for recovery', () => {
    const { encoding, zone, start, save, deliver } = options;
    const read = { encoding, zone, start, deliver: readDeliver(deliver) };
    return save ? { ...read, save: (position) => save.call(options, position) } : read;
  });
}

/** How many uploads may wait for a loop, and how many bytes, unless its caller says otherwise. */
const WAITING = { maxUploads: 10_000, maxBytes: 16 * 1024 * 1024 };

/**
 * Reads the options of a loop over uploads.
 * @param closing ends it with the client
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readSubscribe(options: SubscribeOptions | undefined, closing: AbortSignal) {
  return readInput('options object', () => {
    const { recover, signal, onState, onFault, onGap, ...limits } = options ?? {};
    const { maxUploads, maxBytes } = { ...WAITING, ...limits };
    for (const [name, value] of Object.entries({ maxUploads, maxBytes }))
      if (!Number.isInteger(value) || value < 1)
        throw invalidInput(`${name} must be a whole number from 1, but is ${show(value)}.`);
    const read = readRecovery(recover === true ? {} : recover || undefined);
    const given = parseSignal(signal);
    const callbacks: ChannelListener = {
      ...(onState && { onState: onState.bind(options) }),
      ...(onFault && { onFault: onFault.bind(options) }),
      ...(onGap && { onGap: onGap.bind(options) }),
    };
    const signals = given ? [closing, given] : [closing];
    return { recover: read, callbacks, maxUploads, maxBytes, signals, save: read?.save };
  });
}

/** From sending the push of a request until its reply. */
const REPLY_TIMEOUT = 30_000;

/**
 * Reads the options that a request has beyond those of a push.
 * @throws DeviceCloudError `NOT_CONFIGURED` or `INVALID_INPUT`
 */
export function readRequest(
  options: RequestOptions | undefined,
): Pick<Request, 'matcher' | 'replyTimeout' | 'datatype' | 'recover' | 'onProgress'> {
  return readInput('options object', () => {
    const { match, replyTimeout, datatype, recover, onProgress } =
      options ?? ({} as Partial<RequestOptions>);
    return {
      matcher: matcherOf(match),
      replyTimeout: readTimeout(replyTimeout, REPLY_TIMEOUT) / 1000,
      datatype: parseDatatype(datatype),
      recover: { encoding: recover?.encoding, zone: recover?.zone },
      onProgress: isolatedProgress((progress: RequestProgress) => onProgress?.(progress)),
    };
  });
}
