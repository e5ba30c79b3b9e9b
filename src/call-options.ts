import { invalidInput } from './errors';
import type { Request } from './commands/requests';
import type { KeeperOptions } from './commands/pins';
import type { Progress } from './commands/queue';
import { matcherOf, type RequestOptions } from './commands/reply';
import { ORIGIN, SEMAPHORE, type CommandLimits, type OwnOptions } from './commands/waiting-list';
import { parseCodes, parseDuration } from './protocol/gpio';
import {
  durationOf,
  readTimeout,
  parseFormat,
  oneOf,
  parseDatatype,
  parseSignal,
  parseValueDatatype,
  readInput,
  isolated,
} from './protocol/values';
import type { RecoverOptions } from './recovery/options';
import type { Settings } from './settings';
import {
  WHENS,
  type CallOptions,
  type CommandKind,
  type CommandOptions,
  type CommandWhat,
  type PinKeeper,
  type PulseOptions,
  type PushFormat,
  type PushOptions,
  type ValueDatatype,
  type ValueOptions,
} from './types';
import { show } from './util/show';

/*
 * The options of the calls, each checked when the call is made. Each reader throws a DeviceCloudError, `INVALID_INPUT` or, for a
 * duration, `NOT_CONFIGURED`.
 */

/**
 * Milliseconds that a call to a device may take: the service's own limit of about 10 s, after which the device
 * is offline (section 8), and the network.
 */
export const DEVICE_TIMEOUT = 12_000;

/** What ends a call before its answer, and who is shown what it waits for. */
interface Limits {
  /** Milliseconds that it may take. */
  timeout: number;
  signal: AbortSignal | undefined;
  progress: Progress | undefined;
}

/** What a call to a device keeps to. */
export type DeviceLimits = Limits & CommandLimits & { longest: number };

function readProgress(options: Pick<CallOptions, 'onProgress'> | undefined): Progress | undefined {
  const onProgress: unknown = options?.onProgress;
  if (onProgress === undefined || onProgress === null) return undefined;
  if (typeof onProgress === 'function')
    return (progress) => isolated(() => onProgress.call(options, progress) as unknown);
  throw invalidInput(`onProgress must be a function, but is ${show(onProgress)}.`);
}

/** @param usual the time-out in ms if the options have none */
export const readLimits = (options: CallOptions | undefined, usual: number): Limits =>
  readInput('options object', () => ({
    timeout: readTimeout(options?.timeout, usual),
    signal: parseSignal(options?.signal),
    progress: readProgress(options),
  }));

/** How long a command waits for its device unless its caller says otherwise. */
const EXPIRES = 3_600_000;

/** @param what the command does; left out where only its other options are read */
export const readCommand = (
  options: CommandOptions | undefined,
  what: CommandWhat = { kind: 'request' },
): DeviceLimits =>
  readInput('options object', () => {
    const { when, expires, replace = false } = options ?? {};
    const own = options as OwnOptions | undefined;
    if (typeof replace !== 'boolean')
      throw invalidInput(`replace must be true or false, but is ${show(replace)}.`);
    const timeout = readTimeout(options?.timeout, DEVICE_TIMEOUT);
    return {
      // Not spread: with each command, a copy would cost as much as all else that is done with its options.
      timeout,
      longest: timeout,
      signal: parseSignal(options?.signal),
      progress: readProgress(options),
      semaphore: own?.[SEMAPHORE],
      when: when === undefined ? 'now' : oneOf('when', WHENS, when),
      replace,
      expires: durationOf(expires, 'The expiry', EXPIRES),
      origin: own?.[ORIGIN],
      what,
    };
  });

/**
 * The options of a push that cannot wait for a device.
 * @param name the push, as the error names it
 */
export function readSentNow(
  options: CommandOptions | undefined,
  kind: CommandKind,
  name: string,
): DeviceLimits {
  const limits = readCommand(options, { kind });
  if (limits.when === 'now') return limits;
  throw invalidInput(`${name} cannot wait for a device: when must be now.`);
}

/** How many calls of `callEach` run side by side unless its caller says otherwise. */
const AT_ONCE = 16;

/** @returns `each`, the options of each of the calls, and what they share */
export function readEachOptions<O extends CallOptions>(
  options: (O & { atOnce?: number }) | undefined,
) {
  const { timeout, signal, progress } = readCommand(options);
  return readInput('options object', () => {
    const atOnce: unknown = options?.atOnce ?? AT_ONCE;
    if (!Number.isInteger(atOnce) || (atOnce as number) < 1)
      throw invalidInput(`atOnce must be a whole number from 1, but is ${show(atOnce)}.`);
    const given = { ...options } as O & { atOnce?: number };
    const { atOnce: _, onProgress: _progress, ...others } = given;
    // As they were read: an option may be inherited.
    return {
      atOnce: atOnce as number,
      progress,
      each: { ...others, timeout, ...(signal && { signal }) },
    };
  });
}

export const readDuration = (options: PulseOptions | undefined): number =>
  readInput('options object', () => parseDuration(options?.duration ?? 500));

export const readFormat = (options: PushOptions | undefined): PushFormat =>
  readInput('options object', () => parseFormat(options?.format ?? 'MSG'));

export const readValueDatatype = (options: ValueOptions | undefined): ValueDatatype =>
  readInput('options object', () => parseValueDatatype(options?.datatype));

/** Milliseconds between two looks at a device whose pins are kept. */
const CHECK = 300_000;

export const readKeeper = (keeper: PinKeeper): KeeperOptions =>
  readInput('keeper', () => ({
    keeper,
    id: keeper.id ?? '',
    check:
      keeper.check === 0
        ? 0
        : durationOf(keeper.check, 'The check must be 0, or else it', CHECK, 1000),
    codes: parseCodes(keeper.codes ?? { 0: 0, 1: 1 }),
    timeout: readTimeout(keeper.timeout, DEVICE_TIMEOUT),
  }));

/** From sending the push of a request until its reply, in ms. */
const REPLY_TIMEOUT = 30_000;

/** @param settings what it leaves out is as it is set for the application */
export const readRequest = (
  options: RequestOptions | undefined,
  { charset, historyZone }: Settings,
): Omit<Request, 'chipid' | 'name' | 'push'> =>
  readInput('options object', () => {
    const { match, replyTimeout, datatype, decode, recover } =
      options ?? ({} as Partial<RequestOptions>);
    const { progress, ...limits } = readLimits(options, DEVICE_TIMEOUT);
    if (decode !== undefined && typeof decode !== 'function')
      throw invalidInput(`decode must be a function, but is ${show(decode)}.`);
    return {
      ...limits,
      matcher: matcherOf(match),
      replyTimeout: readTimeout(replyTimeout, REPLY_TIMEOUT),
      decoding: decode ?? parseDatatype(datatype),
      recover: { zone: recover?.zone ?? historyZone },
      charset,
      // What the options have accepts the progress of a reply, too.
      onProgress: (progress as Request['onProgress'] | undefined) ?? (() => undefined),
    };
  });

/** Reads each option once: recovery uses them for as long as it runs. @param settings as for {@link readRequest} */
export const readRecovery = (options: RecoverOptions, { historyZone }: Settings): RecoverOptions =>
  readInput('options object for recovery', () => {
    const { zone = historyZone, start, save, saveLater } = options;
    return {
      zone,
      start,
      ...(save && { save: (position) => save.call(options, position) }),
      ...(saveLater && { saveLater: (position) => saveLater.call(options, position) }),
    };
  });
