import { invalidInput } from './errors';
import type { CommandWait } from './fleet/device-commands';
import { Place } from './http/device-queue';
import { isolatedProgress, type Progress } from './http/progress';
import { parseDuration } from './input/gpio';
import { parseFormat } from './input/push-payload';
import { readInput } from './input/readable';
import { parseSignal } from './input/signal';
import type { Deliver, RecoverOptions } from './recovery/options';
import { readTimeout, secondsOf } from './settings';
import {
  WHENS,
  type CallOptions,
  type CommandOptions,
  type PlaceOptions,
  type PulseOptions,
  type PushFormat,
  type PushOptions,
} from './types';
import { isolated } from './util/isolated';
import { show } from './util/show';

/** What ends a call before its answer, and who is shown what it waits for. */
export interface Limits {
  seconds: number;
  signal: AbortSignal | undefined;
  progress: Progress | undefined;
  place: Place | undefined;
}

/** Seconds that a command waits for its device unless its caller says otherwise. */
const EXPIRES = 3600;

function readProgress(options: Pick<CallOptions, 'onProgress'> | undefined): Progress | undefined {
  const onProgress: unknown = options?.onProgress;
  if (onProgress === undefined || onProgress === null) return undefined;
  if (typeof onProgress === 'function')
    return isolatedProgress((progress) => onProgress.call(options, progress) as unknown);
  throw invalidInput(`onProgress must be a function, but is ${show(onProgress)}.`);
}

/**
 * Reads a place that `reserve` has returned.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function parsePlace(value: unknown): Place {
  if (value instanceof Place) return value;
  throw invalidInput(`place must be one that reserve has returned, but is ${show(value)}.`);
}

function readPlace(options: CallOptions | undefined): Place | undefined {
  const place: unknown = options?.place;
  return place === undefined || place === null ? undefined : parsePlace(place);
}

/**
 * Checks the place of a call.
 * @throws DeviceCloudError `INVALID_INPUT` if it is of another device, was used, or the call waits for its device
 */
export function checkPlace(place: Place | undefined, device: string, { when }: CommandWait): void {
  if (!place) return;
  if (place.chipid !== device)
    throw invalidInput(`The place is that of device ${place.chipid}, not of device ${device}.`);
  if (place.isUsed) throw invalidInput('The place was used by another call, or given up.');
  if (when !== 'now')
    throw invalidInput('A call with a place cannot wait for its device: when must be now.');
}

/**
 * Reads the options of a place.
 * @returns `onTurn` isolated: what it throws becomes a warning
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readPlaceOptions(options: PlaceOptions | undefined): {
  signal: AbortSignal | undefined;
  progress: Progress | undefined;
  onTurn: () => void;
} {
  return readInput('options object', () => {
    const onTurn: unknown = options?.onTurn;
    if (onTurn !== undefined && onTurn !== null && typeof onTurn !== 'function')
      throw invalidInput(`onTurn must be a function, but is ${show(onTurn)}.`);
    return {
      signal: parseSignal(options?.signal),
      progress: readProgress(options),
      onTurn: () => isolated(() => options?.onTurn?.()),
    };
  });
}

/**
 * Reads `timeout`, `signal`, `onProgress` and `place`.
 * @param usual the time-out in seconds if the options have none
 * @throws DeviceCloudError `NOT_CONFIGURED` or `INVALID_INPUT`
 */
export function readLimits(options: CallOptions | undefined, usual: number): Limits {
  return readInput('options object', () => ({
    seconds: readTimeout(options?.timeout, usual),
    signal: parseSignal(options?.signal),
    progress: readProgress(options),
    place: readPlace(options),
  }));
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
    if (WHENS.includes(when)) return { when, expires: secondsOf(expires, 'The expiry', EXPIRES) };
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
