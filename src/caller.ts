import { openApiMissing, type OpenApi, type OpenApiCall } from './api/open-api';
import type { ServerApi } from './api/server-api';
import type { Application, OpenApiParts } from './application';
import { callService } from './http/call';
import type { CallSpec } from './http/answer';
import { invalidInput, notConfigured } from './errors';
import type { KeeperOptions } from './commands/pins';
import { CALLING, type Progress } from './commands/queue';
import { matcherOf } from './commands/reply';
import type { Request } from './commands/requests';
import type { RequestOptions, RequestProgress } from './commands/reply';
import { originOf, semaphoreOf, type CommandLimits } from './commands/waiting-list';
import { oneOf, parseDatatype, parseValueDatatype, readInput, parseSignal } from './input/values';
import { parseCodes, parseDuration } from './input/gpio';
import { parseFormat } from './input/push-payload';
import type { RecoverOptions } from './recovery/options';
import { durationOf, readTimeout } from './settings';
import {
  WHENS,
  type Answer,
  type CallOptions,
  type CommandOptions,
  type PinKeeper,
  type PulseOptions,
  type PushFormat,
  type PushOptions,
  type ValueDatatype,
  type ValueOptions,
} from './types';
import { show } from './util/show';
import { isolated } from './util/thrown';

/**
 * Milliseconds that a call to a device may take: the service's own limit of about 10 s, after which the device
 * is offline (section 8), and the network.
 */
export const DEVICE_TIMEOUT = 12_000;

/** What ends a call before its answer, and who is shown what it waits for. */
export interface Limits {
  /** Milliseconds that it may take. */
  timeout: number;
  signal: AbortSignal | undefined;
  progress: Progress | undefined;
}

/** What a call to a device keeps to. */
export interface DeviceLimits extends Limits, CommandLimits {
  signal: AbortSignal | undefined;
  progress: Progress | undefined;
  /** Milliseconds that it may take once it has begun. */
  longest: number;
}

/** How long a command waits for its device unless its caller says otherwise. */
const EXPIRES = 3_600_000;

function readProgress(options: Pick<CallOptions, 'onProgress'> | undefined): Progress | undefined {
  const onProgress: unknown = options?.onProgress;
  if (onProgress === undefined || onProgress === null) return undefined;
  if (typeof onProgress === 'function')
    return (progress) => isolated(() => onProgress.call(options, progress) as unknown);
  throw invalidInput(`onProgress must be a function, but is ${show(onProgress)}.`);
}

/**
 * Reads `timeout`, `signal` and `onProgress`.
 * @param usual the time-out in ms if the options have none
 * @throws DeviceCloudError `NOT_CONFIGURED` or `INVALID_INPUT`
 */
export const readLimits = (options: CallOptions | undefined, usual: number): Limits =>
  readInput('options object', () => ({
    timeout: readTimeout(options?.timeout, usual),
    signal: parseSignal(options?.signal),
    progress: readProgress(options),
  }));

/** How many calls of `callEach` run side by side unless its caller says otherwise. */
const AT_ONCE = 16;

/**
 * Reads the options of `callEach`.
 * @throws DeviceCloudError `NOT_CONFIGURED` or `INVALID_INPUT`
 */
export function readEachOptions<O extends CallOptions>(
  options: (O & { atOnce?: number }) | undefined,
) {
  const limits = readCommand(options, '');
  return readInput('options object', () => {
    const atOnce: unknown = options?.atOnce ?? AT_ONCE;
    if (!Number.isInteger(atOnce) || (atOnce as number) < 1)
      throw invalidInput(`atOnce must be a whole number from 1, but is ${show(atOnce)}.`);
    const given = { ...options } as O & { atOnce?: number };
    const { atOnce: _, onProgress: _progress, ...others } = given;
    // As they were read: an option may be inherited.
    const { timeout, signal } = limits;
    const each = { ...others, timeout, ...(signal && { signal }) };
    return { atOnce: atOnce as number, limits, each };
  });
}

/** Milliseconds between two looks at a device whose pins are kept. */
const CHECK = 300_000;

/**
 * Reads how pins are kept.
 * @throws DeviceCloudError `INVALID_INPUT` or `NOT_CONFIGURED`
 */
export function readKeeper(keeper: PinKeeper): KeeperOptions {
  return readInput('keeper', () => ({
    keeper,
    id: keeper.id ?? '',
    check:
      keeper.check === 0
        ? 0
        : durationOf(keeper.check, 'The check must be 0, or else it', CHECK, 1000),
    codes: parseCodes(keeper.codes ?? { 0: 0, 1: 1 }),
    timeout: readTimeout(keeper.timeout, DEVICE_TIMEOUT),
  }));
}

/** Reads `duration`, in milliseconds. @throws DeviceCloudError `INVALID_INPUT` */
export const readDuration = (options: PulseOptions | undefined): number =>
  readInput('options object', () => parseDuration(options?.duration ?? 500));

/**
 * Reads the options of a call to a device: those of {@link readLimits}, and `when`, `expires` and `replace`.
 * @param path of its request, or what stands for it
 * @throws DeviceCloudError `INVALID_INPUT` or `NOT_CONFIGURED`
 */
export function readCommand(options: CommandOptions | undefined, path: string): DeviceLimits {
  return readInput('options object', () => {
    const { when, expires, replace = false } = options ?? {};
    if (typeof replace !== 'boolean')
      throw invalidInput(`replace must be true or false, but is ${show(replace)}.`);
    const timeout = readTimeout(options?.timeout, DEVICE_TIMEOUT);
    return {
      // Not spread: with each command, a copy would cost as much as all else that is done with its options.
      timeout,
      longest: timeout,
      signal: parseSignal(options?.signal),
      progress: readProgress(options),
      semaphore: semaphoreOf(options),
      when: when === undefined ? 'now' : oneOf('when', WHENS, when),
      replace,
      expires: durationOf(expires, 'The expiry', EXPIRES),
      origin: originOf(options),
      path,
    };
  });
}

/**
 * Rejects `when` for a push that cannot wait for a device.
 * @param what the push, as the error names it
 * @throws DeviceCloudError `INVALID_INPUT` or `NOT_CONFIGURED`
 */
export function checkSentNow(options: CommandOptions | undefined, what: string): void {
  if (readCommand(options, '').when !== 'now')
    throw invalidInput(`${what} cannot wait for a device: when must be now.`);
}

/** Reads `format`. @throws DeviceCloudError `INVALID_INPUT` */
export const readFormat = (options: PushOptions | undefined): PushFormat =>
  readInput('options object', () => parseFormat(options?.format ?? 'MSG'));

/** Reads `datatype` of a callback's value. @throws DeviceCloudError `INVALID_INPUT` */
export const readValueDatatype = (options: ValueOptions | undefined): ValueDatatype =>
  readInput('options object', () => parseValueDatatype(options?.datatype));

/** From sending the push of a request until its reply. */
const REPLY_TIMEOUT = 30_000;

/** @throws DeviceCloudError `INVALID_INPUT` */
function readDecoder(decode: RequestOptions['decode']): RequestOptions['decode'] {
  if (decode === undefined || typeof decode === 'function') return decode;
  throw invalidInput(`decode must be a function, but is ${show(decode)}.`);
}

/**
 * Reads the options that a request has and a push has not.
 * @throws DeviceCloudError `NOT_CONFIGURED` or `INVALID_INPUT`
 */
export function readRequest(
  options: RequestOptions | undefined,
): Pick<Request, 'matcher' | 'replyTimeout' | 'decoding' | 'recover' | 'onProgress'> {
  return readInput('options object', () => {
    const { match, replyTimeout, datatype, decode, recover, onProgress } =
      options ?? ({} as Partial<RequestOptions>);
    return {
      matcher: matcherOf(match),
      replyTimeout: readTimeout(replyTimeout, REPLY_TIMEOUT),
      decoding: readDecoder(decode) ?? parseDatatype(datatype),
      recover: { zone: recover?.zone },
      onProgress: (progress: RequestProgress) => isolated(() => onProgress?.(progress)),
    };
  });
}

/**
 * Reads each option once: recovery uses them for as long as it runs.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readRecovery(options: RecoverOptions | undefined): RecoverOptions | undefined {
  if (!options) return undefined;
  return readInput('options object for recovery', () => {
    const { zone, start, save, saveLater } = options;
    return {
      zone,
      start,
      ...(save && { save: (position) => save.call(options, position) }),
      ...(saveLater && { saveLater: (position) => saveLater.call(options, position) }),
    };
  });
}

/** Carries out the calls of a client: reads their options, and sends each in its turn. */
export class Caller {
  readonly #application: Application;

  constructor(application: Application) {
    this.#application = application;
  }

  /** @throws DeviceCloudError `NOT_CONFIGURED` without the keys of the open API */
  get parts(): OpenApiParts {
    const { open } = this.#application;
    if (open) return open;
    throw openApiMissing();
  }

  /** @throws DeviceCloudError `NOT_CONFIGURED` without its keys */
  get open(): OpenApi {
    return this.parts.api;
  }

  /** @throws DeviceCloudError `NOT_CONFIGURED` without its keys */
  get server(): ServerApi {
    const { server } = this.#application;
    if (server) return server;
    throw notConfigured(
      'The server API needs its key and its password. Set them in the configuration.',
    );
  }

  /**
   * Makes calls that wait for no other.
   * @param work makes them, within a time-out and until the signal aborts
   * @param usual the time-out in ms if the options have none
   */
  within<T>(
    work: (timeout: number, signal: AbortSignal | undefined) => Promise<T>,
    options: CallOptions | undefined,
    usual = this.#application.settings.timeout,
  ): Promise<T> {
    const { timeout, signal, progress } = readLimits(options, usual);
    progress?.(CALLING);
    return work(timeout, signal);
  }

  /** Makes a call that waits for no other. @param usual the time-out in ms if the options have none */
  call<T>(spec: CallSpec<T>, options: CallOptions | undefined, usual?: number): Promise<Answer<T>> {
    const { http } = this.#application;
    return this.within((...limits) => callService(http, spec, ...limits), options, usual);
  }

  /** Makes a command of the server API. @param deviceid commands of the same id go out one at a time */
  callServer<T>(
    deviceid: string,
    spec: CallSpec<T>,
    options: CallOptions | undefined,
  ): Promise<Answer<T>> {
    const { http, serverQueues, settings } = this.#application;
    // Checked now, not when the commands before it have ended.
    const { timeout, signal, progress } = readLimits(options, settings.timeout);
    const call = (): Promise<Answer<T>> => callService(http, spec, timeout, signal);
    return serverQueues.call(deviceid, call, { signal, progress });
  }

  /**
   * Makes one call to a device over HTTP, in the device's queue. Not an async function: with tens of thousands of pushes
   * a second, the promises on their way are what costs most.
   * @param prepare checks the arguments of the call; what it throws is what the call fails with
   */
  callDevice<T>(
    prepare: () => { device: string; spec: OpenApiCall<T> },
    options: CommandOptions | undefined,
  ): Promise<Answer<T>> {
    try {
      const { device, spec } = prepare();
      const { http } = this.#application;
      const call = ({ timeout, signal, when }: DeviceLimits): Promise<Answer<T>> => {
        // Its error is not to advise what it has done.
        if (when !== 'now') spec.call.canWait = false;
        return callService(http, spec, timeout, signal);
      };
      return this.onDevice(device, spec.unsigned.path, call, options);
    } catch (error) {
      // As an async function fails: what was thrown may be anything.
      return new Promise(() => {
        throw error;
      });
    }
  }

  /**
   * Every call to a device goes through here, except those that keep pins: it checks the options, waits for the device if
   * `when` says so, and runs the work when the commands before it have ended. The work occupies the device's queue until
   * its promise has settled, so it may make several calls.
   * @param path of its request, or what stands for it
   * @param work is called at most once, with what its calls have to keep to
   * @param pause of work that makes two calls: the milliseconds between them
   */
  onDevice<T>(
    device: string,
    path: string,
    work: (limits: DeviceLimits) => Promise<T>,
    options: CommandOptions | undefined,
    pause?: number,
  ): Promise<T> {
    // Checked now, not when the commands before it have ended.
    const limits = readCommand(options, path);
    if (pause !== undefined) limits.longest = 2 * limits.longest + pause;
    const { registry } = this.#application;
    const { commands } = this.parts;
    const outcome = commands.run(device, () => work(limits), limits);
    return registry.recent.command(device, path, outcome);
  }
}
