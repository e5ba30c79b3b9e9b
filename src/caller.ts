import { openApiMissing, type OpenApi, type OpenApiCall } from './api/open-api';
import type { ServerApi } from './api/server-api';
import type { Application, OpenApiParts } from './application';
import { readDeviceLimits, readLimits, readWait, type DeviceLimits } from './call-options';
import { CALLING } from './commands/outcome';
import { DeviceCloudError } from './errors';
import type { Explainable } from './explain-call';
import { callService } from './http/call';
import type { CallSpec } from './http/answer';
import type { ClientOptions, Settings } from './settings';
import type { Answer, CallOptions, Charset, CommandOptions } from './types';

/**
 * Milliseconds that a call to a device may take: the service's own limit of about 10 s, after which the device
 * is offline (section 8), and the network.
 */
export const DEVICE_TIMEOUT = 12_000;

/** Carries out the calls of a client: reads their options, and sends each in its turn. */
export class Caller implements Explainable {
  readonly #application: Application;

  constructor(application: Application) {
    this.#application = application;
  }

  get settings(): Settings {
    return this.#application.settings;
  }

  get options(): ClientOptions {
    return this.#application.options;
  }

  /** @throws DeviceCloudError `NOT_CONFIGURED` without the keys of the open API */
  get parts(): OpenApiParts {
    const { open } = this.#application;
    if (open) return open;
    throw openApiMissing();
  }

  readonly open = (): OpenApi => this.parts.api;

  readonly server = (): ServerApi => {
    const { server } = this.#application;
    if (server) return server;
    throw new DeviceCloudError(
      'NOT_CONFIGURED',
      'The server API needs its key and its password. Set them in the configuration.',
    );
  };

  readonly charset = (): Charset => this.settings.charset;

  /**
   * Makes calls that wait for no other.
   * @param work makes them, within a time-out and until the signal aborts
   * @param usual the time-out in ms if the options have none
   */
  within<T>(
    work: (seconds: number, signal: AbortSignal | undefined) => Promise<T>,
    options: CallOptions | undefined,
    usual = this.settings.timeout,
  ): Promise<T> {
    const { seconds, signal, progress } = readLimits(options, usual);
    progress?.(CALLING);
    return work(seconds, signal);
  }

  /** Makes a call that waits for no other. @param usual the time-out in ms if the options have none */
  call<T>(spec: CallSpec<T>, options: CallOptions | undefined, usual?: number): Promise<Answer<T>> {
    const { http } = this.#application;
    return this.within(
      (seconds, signal) => callService(http, spec, seconds, signal),
      options,
      usual,
    );
  }

  /** Makes a command of the server API. @param deviceid commands of the same id go out one at a time */
  callServer<T>(
    deviceid: string,
    spec: CallSpec<T>,
    options: CallOptions | undefined,
  ): Promise<Answer<T>> {
    const { http, queues, settings, exclusive } = this.#application;
    // Checked now, not when the commands before it have ended.
    const { seconds, signal, progress } = readLimits(options, settings.timeout);
    const work = (): Promise<Answer<T>> => callService(http, spec, seconds, signal);
    const caller = { signal, progress };
    const call = exclusive ? () => exclusive(deviceid, seconds * 1000, caller, work) : work;
    return queues.call(deviceid, call, caller);
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
      const { http, registry } = this.#application;
      const call = ({ seconds, signal }: DeviceLimits): Promise<Answer<T>> =>
        callService(http, spec, seconds, signal);
      const { path } = spec.unsigned;
      return registry.recent.command(device, path, this.onDevice(device, call, options));
    } catch (error) {
      // As an async function fails: what was thrown may be anything.
      return new Promise(() => {
        throw error;
      });
    }
  }

  /**
   * Everything that reaches a device goes through here: it checks the options, waits for the device if `when` says so,
   * and runs the work when the commands before it have ended. The work occupies the device's queue until its promise has
   * settled, so it may make several calls.
   * @param work is called at most once, with what its calls have to keep to
   * @param longest milliseconds that it takes at most
   */
  onDevice<T>(
    device: string,
    work: (limits: DeviceLimits) => Promise<T>,
    options: CommandOptions | undefined,
    longest = ({ seconds }: DeviceLimits): number => seconds * 1000,
  ): Promise<T> {
    // Checked now, not when the commands before it have ended.
    const limits = readDeviceLimits(options, DEVICE_TIMEOUT);
    const wait = readWait(options);
    const { commands, exclusive } = this.#application;
    if (!commands) throw openApiMissing();
    const command = (): Promise<T> =>
      exclusive ? exclusive(device, longest(limits), limits, () => work(limits)) : work(limits);
    return commands.run(device, command, limits, wait);
  }
}
