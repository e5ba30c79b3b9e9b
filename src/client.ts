import type {
  Answer,
  PushAnswer,
  RefreshAnswer,
  ResultAnswer,
  CallOptions,
  Chipid,
  Day,
  JsonObject,
  Level,
  Pin,
  PushMessage,
  PushOptions,
  Query,
  AppRecord,
  DeviceRecord,
  PushRecord,
  SyncRecord,
  UploadRecord,
} from './types';
import { readFormat, readLimits, readRecovery } from './call-options';
import { createApplication, type Application, type OpenApiParts } from './application';
import { createConnectLimiter, type ConnectLimiter } from './channel/connect-limiter';
import type { ChannelSubscription, ChannelListener } from './channel/types';
import type { RecoverOptions } from './recovery/options';
import { parseChipid } from './input/chipid';
import { parsePeriod } from './input/day';
import { DeviceCloudError } from './errors';
import { parseLevel, parsePin } from './input/gpio';
import { callService } from './http/call';
import type { CallSpec } from './http/call-spec';
import { parseKey } from './api/open-api';
import { pushBytes, pushMessage } from './input/push-payload';
import { parseBody, parseDeviceid, parseQuery, type ServerApi } from './api/server-api';
import type { Encoding } from './recovery/facts';
import type { Explanation } from './api/explain';
import { explainCall, type ExplainedArguments, type ExplainedCall } from './explain-call';
import type { ClientOptions } from './settings';

/**
 * Seconds that a call to a device may take: the service's own limit of about 10, after which the device
 * is offline (section 8), and the network.
 */
const DEVICE_TIMEOUT = 12;

/** The limit that all clients of a process share unless they are given another. */
const CONNECT_LIMITER = createConnectLimiter();

/**
 * One application of the service: all its calls, its channels, and the order of its commands.
 *
 * Every call checks what it is given before anything is sent, whatever the types say, and fails with a
 * {@link DeviceCloudError}: `INVALID_INPUT` for what it was given, `NOT_CONFIGURED` for keys that are
 * missing or an invalid time-out, and the codes of the service and the network. Calls that reach a
 * device go out one at a time per device, in the order in which they were made, at most 100 waiting
 * (`QUEUE_FULL`), and are never repeated. Reads that only touch the cloud are tried again at most twice.
 */
export class DeviceCloudClient {
  readonly #application: Application;

  /**
   * Nothing is opened before the first call.
   * @param connectLimiter internal: spreads the connects of channels, default one for the whole process
   * @throws DeviceCloudError `NOT_CONFIGURED` if an option is wrong
   */
  constructor(options: ClientOptions, connectLimiter: ConnectLimiter = CONNECT_LIMITER) {
    this.#application = createApplication(options, connectLimiter);
  }

  /**
   * Reads the application's name and its online devices (section 4.2, endpoint 1).
   * @param options `timeout` in seconds, default the client's; `signal`
   */
  async app(options?: CallOptions): Promise<Answer<AppRecord>> {
    return this.#call(this.#open().api.app(), options);
  }

  /**
   * Lists the online devices (section 4.2, endpoint 2). Of the two spellings of its address the one
   * that answers is remembered.
   * @param options `timeout` in seconds, default the client's; `signal`
   */
  async devices(options?: CallOptions): Promise<Answer<DeviceRecord[]>> {
    const { http, timeout } = this.#application;
    const { seconds, signal } = readLimits(options, timeout);
    return this.#open().listDevices(http, seconds, signal);
  }

  /**
   * Pushes to one device and waits for its answer (section 4.2, endpoint 3).
   * @param chipid the device
   * @param message text, number, boolean, Buffer, or object as JSON; HEX and B64 take text or a Buffer
   * @param options `format`, default `MSG`; `timeout` in seconds, default 12; `signal`
   * @throws DeviceCloudError `TIMEOUT`, `GATEWAY` and `CONNECTION_LOST` leave it open whether the device
   * got it
   */
  async push(
    chipid: Chipid,
    message: PushMessage,
    options?: PushOptions,
  ): Promise<Answer<PushAnswer>> {
    const format = readFormat(options);
    const device = parseChipid(chipid);
    const spec = this.#open().api.push(device, pushMessage(message, format), format);
    return this.#onDevice(device, spec, options);
  }

  /**
   * Pushes to all online devices of the application (section 4.2, endpoint 4). It does not wait for
   * them, nor for commands to single devices.
   * @param message as for {@link push}
   * @param options `format`, default `MSG`; `timeout` in seconds, default 12; `signal`
   */
  async pushToApp(message: PushMessage, options?: PushOptions): Promise<Answer<PushAnswer>> {
    const format = readFormat(options);
    const spec = this.#open().api.pushToApp(pushMessage(message, format), format);
    return this.#call(spec, options, DEVICE_TIMEOUT);
  }

  /**
   * Pushes data over the device's channel (section 6, `msgpush`): opens it if nobody has, waits for
   * it, and releases it five minutes after the last push. There is no answer.
   * @param chipid the device
   * @param message as for {@link push}
   * @param options `format` `MSG` (default), `HEX` or `B64`; `timeout` in seconds, default 12; `signal`
   * @throws DeviceCloudError `NOT_CONNECTED` if the channel does not come up: nothing was sent
   */
  async pushOverChannel(
    chipid: Chipid,
    message: PushMessage,
    options?: PushOptions,
  ): Promise<void> {
    const device = parseChipid(chipid);
    const bytes = pushBytes(message, readFormat(options));
    const { seconds, signal } = readLimits(options, DEVICE_TIMEOUT);
    const { channelPush } = this.#open();
    await this.#application.queues.run(
      device,
      () => channelPush.push(device, bytes, seconds, signal),
      signal,
    );
  }

  /**
   * Reads what a device uploaded (section 4.2, endpoint 5).
   * @param chipid the device
   * @param options `timeout` in seconds, default the client's; `signal`
   */
  async uploads(chipid: Chipid, options?: CallOptions): Promise<Answer<UploadRecord[]>> {
    return this.#call(this.#open().api.uploads(parseChipid(chipid)), options);
  }

  /**
   * Reads what was pushed to a device (section 4.2, endpoint 6).
   * @param chipid the device
   * @param options `timeout` in seconds, default the client's; `signal`
   */
  async pushes(chipid: Chipid, options?: CallOptions): Promise<Answer<PushRecord[]>> {
    return this.#call(this.#open().api.pushes(parseChipid(chipid)), options);
  }

  /**
   * Reads all uploads between two days (section 4.2, endpoint 7).
   * @param begin `YYYYMMDD`, a Date, milliseconds since 1970, or ISO text. A point in time stands for its
   * day here or in Beijing, so that nothing is missed
   * @param end likewise; not before `begin`
   * @param options `timeout` in seconds, default the client's; `signal`
   */
  async sync(begin: Day, end: Day, options?: CallOptions): Promise<Answer<SyncRecord[]>> {
    const [from, to] = parsePeriod(begin, end);
    return this.#call(this.#open().api.sync(from, to), options);
  }

  /**
   * Reads the value of a callback that the device's firmware has registered (section 4.2, endpoint 8).
   * @param chipid the device
   * @param key the key under which the callback is registered
   * @param options `timeout` in seconds, default 12; `signal`
   */
  async rtStatus(chipid: Chipid, key: string, options?: CallOptions): Promise<Answer<unknown>> {
    const device = parseChipid(chipid);
    return this.#onDevice(device, this.#open().api.rtStatus(device, parseKey(key)), options);
  }

  /**
   * Reads the levels of all pins, a character each (section 4.2, endpoint 9).
   * @param chipid the device
   * @param options `timeout` in seconds, default 12; `signal`
   */
  async gpioStatus(chipid: Chipid, options?: CallOptions): Promise<Answer<ResultAnswer>> {
    const device = parseChipid(chipid);
    return this.#onDevice(device, this.#open().api.gpioStatus(device), options);
  }

  /**
   * Sets the output level of a pin (section 4.2, endpoint 10).
   * @param chipid the device
   * @param pin an integer from 0
   * @param level 0, 1, "0", "1", a boolean, "high", "low", "on" or "off"
   * @param options `timeout` in seconds, default 12; `signal`
   * @throws DeviceCloudError `TIMEOUT`, `GATEWAY` and `CONNECTION_LOST` leave it open whether it was set
   */
  async setGpioEdge(
    chipid: Chipid,
    pin: Pin,
    level: Level,
    options?: CallOptions,
  ): Promise<Answer<ResultAnswer>> {
    const device = parseChipid(chipid);
    const spec = this.#open().api.setGpioEdge(device, parsePin(pin), parseLevel(level));
    return this.#onDevice(device, spec, options);
  }

  /**
   * Has the service probe a device, which may take 10 seconds (section 4.2, endpoint 11).
   * @param chipid the device
   * @param options `timeout` in seconds, default 12; `signal`
   */
  async refresh(chipid: Chipid, options?: CallOptions): Promise<Answer<RefreshAnswer>> {
    const device = parseChipid(chipid);
    return this.#onDevice(device, this.#open().api.refresh(device), options);
  }

  /**
   * Resets a device (section 4.2, endpoint 12).
   * @param chipid the device
   * @param options `timeout` in seconds, default 12; `signal`
   * @throws DeviceCloudError `TIMEOUT`, `GATEWAY` and `CONNECTION_LOST` leave it open whether it was reset
   */
  async reboot(chipid: Chipid, options?: CallOptions): Promise<Answer<ResultAnswer>> {
    const device = parseChipid(chipid);
    return this.#onDevice(device, this.#open().api.reboot(device), options);
  }

  /**
   * Server API: lists the registered devices (section 4.1). The answer's shape is not shown.
   * @param query `page` and `count`, both optional, passed through
   * @param options `timeout` in seconds, default the client's; `signal`
   */
  async serverDevices(query?: Query, options?: CallOptions): Promise<Answer<unknown>> {
    return this.#call(this.#server().devices(parseQuery(query)), options);
  }

  /**
   * Server API: reads the record of one device (section 4.1). The answer's shape is not shown.
   * @param deviceid 1 to 64 letters, digits, "-", "_", "." or "~"
   * @param options `timeout` in seconds, default the client's; `signal`
   */
  async serverDevice(deviceid: string | number, options?: CallOptions): Promise<Answer<unknown>> {
    return this.#call(this.#server().device(parseDeviceid(deviceid)), options);
  }

  /**
   * Server API: renames, disables or re-enables a device (section 4.1). It is treated as a command.
   * @param deviceid as for {@link serverDevice}
   * @param body a JSON object, passed through: its fields are not shown
   * @param options `timeout` in seconds, default the client's; `signal`
   */
  async serverUpdate(
    deviceid: string | number,
    body: JsonObject,
    options?: CallOptions,
  ): Promise<Answer<unknown>> {
    const id = parseDeviceid(deviceid);
    return this.#command(id, this.#server().update(id, parseBody(body)), options);
  }

  /**
   * Server API: sends data to a device (section 4.1). It is treated as a command.
   * @param deviceid as for {@link serverDevice}
   * @param body a JSON object, passed through: its fields are not shown
   * @param options `timeout` in seconds, default the client's; `signal`
   */
  async serverPassthrough(
    deviceid: string | number,
    body: JsonObject,
    options?: CallOptions,
  ): Promise<Answer<unknown>> {
    const id = parseDeviceid(deviceid);
    return this.#command(id, this.#server().passthrough(id, parseBody(body)), options);
  }

  /**
   * Server API: reads uploads (section 4.1). The answer's shape is not shown.
   * @param query its parameters, passed through: pagination is required, its names are not shown
   * @param options `timeout` in seconds, default the client's; `signal`
   */
  async serverUploads(query?: Query, options?: CallOptions): Promise<Answer<unknown>> {
    return this.#call(this.#server().uploads(parseQuery(query)), options);
  }

  /**
   * Joins the channel of a device, on which its uploads arrive live (section 6). There is one channel
   * per device, opened with its first listener, kept open, and closed with its last.
   * @param chipid the device
   * @param listener is called with uploads, with the channel's state, and with what could not be read
   * @param recover recovers, from the history, the uploads that the channel missed while it was
   * down: once each, in order, before later live ones, marked `replayed`. Without it: live ones only.
   * @throws DeviceCloudError `INVALID_INPUT` or `NOT_CONFIGURED`; if a channel does not come up,
   * `listener.onState` is called
   */
  listen(chipid: Chipid, listener: ChannelListener, recover?: RecoverOptions): ChannelSubscription {
    const { listening } = this.#open();
    const [device, options] = [parseChipid(chipid), readRecovery(recover)];
    return listening.listen(device, listener, options);
  }

  /**
   * How far the service's clock is ahead of this one, in whole seconds, by the latest answer of any
   * status; undefined before the first. Signatures carry a timestamp that the service may check
   * (section 5).
   */
  get clockSkew(): number | undefined {
    return this.#application.http.clock.skew();
  }

  /**
   * How the history of uploads writes `body`, once an upload that came both ways, live and recovered,
   * has shown it; undefined before. Which of the two is not shown (sections 2.3 to 2.5).
   */
  get historyEncoding(): Encoding | undefined {
    return this.#application.open?.listening.historyEncoding;
  }

  /**
   * Explains what a call would send and how it would be signed (section 5), without a network, a key or a
   * sign: method, path, parameters, the text that is signed, and a `curl` command.
   * @param call the name of a method that sends a request
   * @param args what that method takes
   * @throws DeviceCloudError as that method does for what it is given: `INVALID_INPUT`, `NOT_CONFIGURED`
   */
  explain<C extends ExplainedCall>(call: C, ...args: ExplainedArguments<C>): Explanation {
    const { settings, options } = this.#application;
    const [open, server] = [() => this.#open().api, () => this.#server()];
    return explainCall({ settings, options, open, server }, call, args);
  }

  /** Ends every call with an error and closes every channel and connection. Idempotent. */
  close(): Promise<void> {
    return this.#application.close();
  }

  #open(): OpenApiParts {
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

  #call<T>(
    spec: CallSpec<T>,
    options: CallOptions | undefined,
    usual = this.#application.timeout,
  ): Promise<Answer<T>> {
    const { seconds, signal } = readLimits(options, usual);
    return callService(this.#application.http, spec, seconds, signal);
  }

  /** @param key commands of the same key go out one at a time */
  #command<T>(
    key: string,
    spec: CallSpec<T>,
    options: CallOptions | undefined,
    usual = this.#application.timeout,
  ): Promise<Answer<T>> {
    const { http, queues } = this.#application;
    // Checked now, not when the commands before it have ended.
    const { seconds, signal } = readLimits(options, usual);
    return queues.run(key, () => callService(http, spec, seconds, signal), signal);
  }

  #onDevice<T>(device: string, spec: CallSpec<T>, options?: CallOptions): Promise<Answer<T>> {
    return this.#command(device, spec, options, DEVICE_TIMEOUT);
  }
}
