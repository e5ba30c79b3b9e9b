import { createApplication, type Application, type OpenPart } from './application';
import type { ChannelUser } from './channel';
import type { ChannelLease } from './channels';
import { parseChipid } from './chipid';
import { parsePeriod } from './day';
import { DeviceCloudError } from './errors';
import { parseLevel, parsePin } from './gpio';
import type { RecoverOptions } from './listening';
import { callService, type Answer, type CallOptions, type CallSpec } from './http-call';
import { parseKey, type PushAnswer, type RefreshAnswer } from './open-api';
import { parseFormat, pushBytes, pushMessage } from './push-payload';
import type { AppRecord, DeviceRecord, PushRecord, SyncRecord, UploadRecord } from './records';
import { parseBody, parseDeviceid, parseQuery, type ServerApi } from './server-api';
import { readTimeout, type ClientOptions } from './settings';
import type { ResultAnswer } from './shapes';

/** Seconds a push waits for its device: later silence means that it is offline (section 8). */
const PUSH_TIMEOUT = 10;

/** How to push. */
export interface PushOptions extends CallOptions {
  /** `MSG` (default), `HEX`, `AT`, `LUA` or `B64`. */
  format?: unknown;
}

/**
 * One application of the service: all its calls, its channels, and the order of its commands.
 *
 * Every call checks what it is given before anything is sent, and fails with a
 * {@link DeviceCloudError}. Calls that reach a device go out one at a time per device, in the order
 * in which they were made, and are never repeated. Reads that only touch the cloud are tried again at
 * most twice. Chip numbers may be safe integers or strings of digits.
 */
export class DeviceCloudClient {
  readonly #application: Application;

  /** @throws DeviceCloudError `NOT_CONFIGURED` if an option is wrong. Nothing is opened yet. */
  constructor(options: ClientOptions) {
    this.#application = createApplication(options);
  }

  /** Reads the application's name and its online devices (endpoint 1). */
  async app(options?: CallOptions): Promise<Answer<AppRecord>> {
    return this.#read(this.#open().api.app(), options);
  }

  /** Lists the online devices (endpoint 2). */
  async devices(options: CallOptions = {}): Promise<Answer<DeviceRecord[]>> {
    const { line, timeout } = this.#application;
    const seconds = readTimeout(options.timeout, timeout);
    return this.#open().listDevices(line, seconds, options.signal);
  }

  /**
   * Pushes to one device and waits for its answer (endpoint 3).
   * @param message text, number, boolean, Buffer, or object as JSON; HEX and B64 take text or a Buffer
   * @param options `timeout` in seconds, default 10
   */
  async push(
    chipid: unknown,
    message: unknown,
    options: PushOptions = {},
  ): Promise<Answer<PushAnswer>> {
    const format = parseFormat(options.format ?? 'MSG');
    const device = parseChipid(chipid);
    const spec = this.#open().api.push(device, pushMessage(message, format), format);
    return this.#command(device, spec, { timeout: PUSH_TIMEOUT, ...options });
  }

  /** Pushes to all online devices of the application (endpoint 4). It does not wait for them. */
  async pushToApp(message: unknown, options: PushOptions = {}): Promise<Answer<PushAnswer>> {
    const format = parseFormat(options.format ?? 'MSG');
    const spec = this.#open().api.pushToApp(pushMessage(message, format), format);
    return this.#read(spec, { timeout: PUSH_TIMEOUT, ...options });
  }

  /**
   * Pushes data over the device's channel (section 6, `msgpush`): opens it if nobody has, waits for
   * it, and lets go of it five minutes after the last push. There is no answer.
   * @param options `format` `MSG` (default), `HEX` or `B64`; `timeout` in seconds, default 10
   */
  async pushOverChannel(
    chipid: unknown,
    message: unknown,
    options: PushOptions = {},
  ): Promise<void> {
    const device = parseChipid(chipid);
    const bytes = pushBytes(message, parseFormat(options.format ?? 'MSG'));
    const seconds = readTimeout(options.timeout, PUSH_TIMEOUT);
    const { channelPush } = this.#open();
    const { signal } = options;
    await this.#application.order.run(
      device,
      () => channelPush.push(device, bytes, seconds, signal),
      signal,
    );
  }

  /** Reads what a device uploaded (endpoint 5). */
  async uploads(chipid: unknown, options?: CallOptions): Promise<Answer<UploadRecord[]>> {
    return this.#read(this.#open().api.uploads(parseChipid(chipid)), options);
  }

  /** Reads what was pushed to a device (endpoint 6). */
  async pushes(chipid: unknown, options?: CallOptions): Promise<Answer<PushRecord[]>> {
    return this.#read(this.#open().api.pushes(parseChipid(chipid)), options);
  }

  /**
   * Reads all uploads between two days (endpoint 7).
   * @param begin `YYYYMMDD`, a Date, milliseconds since 1970, or ISO text; so is `end`
   */
  async sync(begin: unknown, end: unknown, options?: CallOptions): Promise<Answer<SyncRecord[]>> {
    const [from, to] = parsePeriod(begin, end);
    return this.#read(this.#open().api.sync(from, to), options);
  }

  /** Reads the value of a callback that the device's firmware has registered (endpoint 8). */
  async rtStatus(chipid: unknown, key: unknown, options?: CallOptions): Promise<Answer<unknown>> {
    const device = parseChipid(chipid);
    return this.#command(device, this.#open().api.rtStatus(device, parseKey(key)), options);
  }

  /** Reads the levels of all pins, a character each (endpoint 9). */
  async gpioStatus(chipid: unknown, options?: CallOptions): Promise<Answer<ResultAnswer>> {
    const device = parseChipid(chipid);
    return this.#command(device, this.#open().api.gpioStatus(device), options);
  }

  /**
   * Sets the output level of a pin (endpoint 10).
   * @param level 0, 1, "0", "1", a boolean, "high", "low", "on" or "off"
   */
  async setGpioEdge(
    chipid: unknown,
    pin: unknown,
    level: unknown,
    options?: CallOptions,
  ): Promise<Answer<ResultAnswer>> {
    const device = parseChipid(chipid);
    const spec = this.#open().api.setGpioEdge(device, parsePin(pin), parseLevel(level));
    return this.#command(device, spec, options);
  }

  /** Has the service probe a device, which may take 10 seconds (endpoint 11). */
  async refresh(chipid: unknown, options?: CallOptions): Promise<Answer<RefreshAnswer>> {
    const device = parseChipid(chipid);
    return this.#command(device, this.#open().api.refresh(device), options);
  }

  /** Resets a device (endpoint 12). */
  async reboot(chipid: unknown, options?: CallOptions): Promise<Answer<ResultAnswer>> {
    const device = parseChipid(chipid);
    return this.#command(device, this.#open().api.reboot(device), options);
  }

  /** Server API: lists the registered devices (section 4.1). @param query `page` and `count` */
  async serverDevices(query?: unknown, options?: CallOptions): Promise<Answer<unknown>> {
    return this.#read(this.#server().devices(parseQuery(query)), options);
  }

  /** Server API: reads the record of one device (section 4.1). */
  async serverDevice(deviceid: unknown, options?: CallOptions): Promise<Answer<unknown>> {
    return this.#read(this.#server().device(parseDeviceid(deviceid)), options);
  }

  /** Server API: renames, disables or re-enables a device (section 4.1). @param body a JSON object */
  async serverUpdate(
    deviceid: unknown,
    body: unknown,
    options?: CallOptions,
  ): Promise<Answer<unknown>> {
    const id = parseDeviceid(deviceid);
    return this.#command(id, this.#server().update(id, parseBody(body)), options);
  }

  /** Server API: sends data to a device (section 4.1). @param body a JSON object */
  async serverPassthrough(
    deviceid: unknown,
    body: unknown,
    options?: CallOptions,
  ): Promise<Answer<unknown>> {
    const id = parseDeviceid(deviceid);
    return this.#command(id, this.#server().passthrough(id, parseBody(body)), options);
  }

  /** Server API: reads uploads (section 4.1). @param query its parameters, whose names are not shown */
  async serverUploads(query?: unknown, options?: CallOptions): Promise<Answer<unknown>> {
    return this.#read(this.#server().uploads(parseQuery(query)), options);
  }

  /**
   * Joins the channel of a device, on which its uploads arrive live (section 6). There is one channel
   * per device, opened with its first user, kept open, and closed with its last.
   * @param recover gives back, from the history, the uploads that the channel missed while it was
   * down: once, in order, before later live ones, marked `replayed`. Left out: live ones alone.
   */
  listen(chipid: unknown, user: ChannelUser, recover?: RecoverOptions): ChannelLease {
    return this.#open().listening.listen(parseChipid(chipid), user, recover);
  }

  /**
   * How far the service's clock is ahead of this one, in whole seconds, by the latest answer of any
   * status; undefined before the first. Signatures carry a timestamp that the service may check.
   */
  get clockSkew(): number | undefined {
    return this.#application.line.clock.skew();
  }

  /** Ends every call with an error, closes every channel and connection. */
  close(): Promise<void> {
    return this.#application.close();
  }

  #open(): OpenPart {
    const { open } = this.#application;
    if (open) return open;
    throw new DeviceCloudError(
      'NOT_CONFIGURED',
      'The open API needs the appid and the app key. Set them in the configuration.',
    );
  }

  #server(): ServerApi {
    const { server } = this.#application;
    if (server) return server;
    throw new DeviceCloudError(
      'NOT_CONFIGURED',
      'The server API needs its key and its password. Set them in the configuration.',
    );
  }

  #read<T>(spec: CallSpec<T>, options: CallOptions = {}): Promise<Answer<T>> {
    const { line, timeout } = this.#application;
    return callService(line, spec, readTimeout(options.timeout, timeout), options.signal);
  }

  #command<T>(key: string, spec: CallSpec<T>, options: CallOptions = {}): Promise<Answer<T>> {
    return this.#application.order.run(key, () => this.#read(spec, options), options.signal);
  }
}
