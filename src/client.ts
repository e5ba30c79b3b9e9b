import { openApiMissing, type OpenApi, type OpenApiCommand } from './api/open-api';
import {
  parseBody,
  parseDeviceid,
  parsePagination,
  parseQuery,
  type ServerApi,
} from './api/server-api';
import { createApplication, type Application, type OpenApiParts } from './application';
import {
  DEVICE_TIMEOUT,
  readCommand,
  readDuration,
  readEachOptions,
  readFormat,
  readKeeper,
  readLimits,
  readRecovery,
  readRequest,
  readSentNow,
  readValueDatatype,
  type DeviceLimits,
} from './call-options';
import { Subscription, type ChannelListener } from './channel/listener';
import type { Kept } from './commands/pins';
import { CALLING, Command } from './commands/queue';
import type { Acknowledged, Acknowledging } from './recovery/acknowledged';
import { callEach } from './commands/many';
import type { WaitingCommands } from './commands/waiting';
import { SEMAPHORE, type OwnOptions, type WaitingSelection } from './commands/waiting-list';
import type { Reply, RequestOptions } from './commands/reply';
import { invalidInput, isDeviceCloudError, notConfigured } from './errors';
import type { Fleet } from './fleet/fleet';
import type { LatestUpload } from './fleet/latest';
import { isUsable, sortList, usableList } from './fleet/list-poller';
import type { TestRecorder } from './fleet/test-recorder';
import type { Writing } from './recovery/writing';
import { zoneText } from './recovery/zone';
import { AllServiceLimits } from './http/service-limiter';
import type { CallSpec } from './http/answer';
import { callService } from './http/call';
import { callOnce } from './http/exchange';
import { parseChipid, parseChipids, pushBytes, pushMessage, parseKey } from './input/values';
import { parsePeriod } from './input/day';
import { parseCodes, parseLevel, parsePin, readLevels } from './input/gpio';
import type { RecoverOptions } from './recovery/options';
import { testService, type ServiceTest, type TestOptions } from './service-test';
import type { ClientOptions } from './settings';
import type {
  Answer,
  AppRecord,
  CallOptions,
  Chipid,
  CommandKind,
  CommandOptions,
  Day,
  DeviceRecord,
  JsonObject,
  KeptPin,
  Level,
  Pin,
  PinKeeper,
  PulseOptions,
  PushAnswer,
  PushMessage,
  PushOptions,
  PushRecord,
  Query,
  RefreshAnswer,
  ResultAnswer,
  SyncRecord,
  UploadRecord,
  ValueOptions,
} from './types';
import { isObject } from './util/json';
import { show } from './util/show';

/** Commands that can wait for their device, besides a pulse. */
const CAN_WAIT: ReadonlySet<CommandKind> = new Set(['push', 'gpio', 'reboot']);

/** Not for users: for the client of a process that shares its devices. */
export const APPLICATION = Symbol('application');
export const LET_GO = Symbol('let go');

/** The pins of an application that keep their levels. */
export interface Pins {
  /**
   * Of all devices, or of one.
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  list(chipid?: Chipid): Kept[];
  /** Those of the keeper with this id. */
  listOf(id: string): Kept[];
  /** Goes on with the pins that the store has of a keeper's id. */
  restore(keeper: PinKeeper): Promise<void>;
  /** Stops keeping the pins of a keeper's id for now, and calls it no more. @param isGone whether they have ended */
  release(id: string, isGone?: boolean): void;
}

/**
 * How many channels connect and histories are read side by side. It belongs to the process, since the limits are those of
 * a service: two clients of one service share them, and they outlive a client that is recreated by a deploy.
 */
const LIMITS = new AllServiceLimits();

/** Of the process, too: a token is good at any client of its application. */
const ACKNOWLEDGING = new Set<Acknowledged>();

/**
 * One application of the service: all its calls, its channels, and the order of its commands. Durations are in
 * milliseconds.
 *
 * Every call checks what it is given before anything is sent, whatever the types say, and fails with a
 * {@link DeviceCloudError}: `INVALID_INPUT` for what it was given, `NOT_CONFIGURED` for keys that are
 * missing or an invalid time-out, and the codes of the service and the network. Calls that reach a
 * device go out one at a time per device, in the order in which they were made, at most 100 waiting
 * (`QUEUE_FULL`), and are never repeated: `uncertain` of the error says whether the device may have acted. A
 * command may also wait until its device shows itself: see {@link CommandOptions}; if it does not in time, it is `EXPIRED`.
 * Reads that only touch the cloud are tried again at most twice.
 */
export class DeviceCloudClient implements AsyncDisposable {
  readonly #application: Application;
  /** Of pins that are kept without one. */
  readonly #keeper: PinKeeper = {};

  /**
   * Nothing is opened before the first call, except the device book.
   * @throws DeviceCloudError `NOT_CONFIGURED` if an option is wrong
   */
  constructor(options: ClientOptions) {
    this.#application = createApplication(options, LIMITS, ACKNOWLEDGING);
  }

  /** The id of the application; undefined without the appid and the app key. */
  get appid(): string | undefined {
    return this.#application.settings.openApi?.appid;
  }

  /**
   * Reads the application's name and its online devices (section 4.2, endpoint 1).
   * @param options see {@link CallOptions}
   */
  async app(options?: CallOptions): Promise<Answer<AppRecord>> {
    const { fleet, now } = this.#application;
    const at = now();
    const { statusCode, body } = await this.#call(this.#open.api.app(), options);
    const list = sortList(body.online);
    // Otherwise it says nothing about the devices. The record of the application is good without it.
    if (isUsable(list)) fleet.applyList({ at, devices: list.devices });
    return { statusCode, body: { ...body, online: list.records } };
  }

  /**
   * Lists the online devices (section 4.2, endpoint 2). Of the two spellings of its address the one
   * that answers is remembered.
   * @param options see {@link CallOptions}
   * @throws DeviceCloudError `INVALID_RESPONSE` also if there are records and none has a valid chip number
   */
  async devices(options?: CallOptions): Promise<Answer<DeviceRecord[]>> {
    const { fleet, now } = this.#application;
    const { listDevices } = this.#open;
    const at = now();
    const answer = await this.#within(listDevices, options);
    const { devices, records } = usableList(answer.body, answer.statusCode);
    fleet.applyList({ at, devices });
    // Who reads them trusts that each is an object.
    return { ...answer, body: records.filter(isObject) };
  }

  /**
   * Pushes to one device and waits for its answer (section 4.2, endpoint 3).
   * @param chipid the device
   * @param message text, number, boolean, Buffer, or object as JSON; HEX and B64 take text or a Buffer
   * @param options see {@link PushOptions}
   */
  push(chipid: Chipid, message: PushMessage, options?: PushOptions): Promise<Answer<PushAnswer>> {
    return this.#callDevice(chipid, options, (api, device) => {
      const format = readFormat(options);
      return api.push(device, pushMessage(message, format), format);
    });
  }

  /**
   * Pushes to all online devices of the application (section 4.2, endpoint 4). It does not wait for
   * them, nor for commands to single devices.
   * @param message as for {@link push}
   * @param options see {@link PushOptions}; `when` can only be `now`
   */
  async pushToApp(message: PushMessage, options?: PushOptions): Promise<Answer<PushAnswer>> {
    const format = readFormat(options);
    const { timeout, signal, progress } = readSentNow(options, 'push', 'A push to all devices');
    const spec = this.#open.api.pushToApp(pushMessage(message, format), format);
    progress?.(CALLING);
    return callOnce(this.#application.http, spec, timeout, signal);
  }

  /**
   * Pushes to one device and waits for its reply: the next upload that matches (section 4.2, endpoint 3,
   * and section 6). It joins the device's channel, waits until that is connected, pushes in the order of
   * all commands to the device, and waits. The channel recovers uploads that it misses meanwhile, and is
   * released five minutes after the last request. One upload answers one request, the oldest that it
   * matches; listeners receive it all the same.
   * @param chipid the device
   * @param message as for {@link push}
   * @param options `match` says which upload is the reply
   * @returns the reply; `uncertain` if the outcome of the push is unknown
   * @throws DeviceCloudError `NOT_CONNECTED`: the channel did not come up, nothing was sent; `NO_REPLY`: the
   * push was accepted, and nothing matched in time; otherwise the error of the push
   */
  async request(chipid: Chipid, message: PushMessage, options: RequestOptions): Promise<Reply> {
    const { api, requests } = this.#open;
    const { http, settings } = this.#application;
    const format = readFormat(options);
    const device = parseChipid(chipid);
    const spec = api.push(device, pushMessage(message, format), format);
    const { timeout, signal } = readLimits(options, DEVICE_TIMEOUT);
    const request = {
      ...readRequest(options, settings),
      chipid: device,
      name: spec.call.name,
      timeout,
      signal,
      push: () => callOnce(http, spec, timeout, signal),
    };
    const run = (): Promise<Reply> => requests.run(request);
    // Of several, each has its place until its reply: a place for the push alone would open all channels at once.
    const reply = (options as OwnOptions)[SEMAPHORE]?.run(run) ?? run();
    return this.fleet.onCommand(device, { kind: 'request' }, reply);
  }

  /**
   * Pushes data over the device's channel (section 6, `msgpush`): opens it unless it is open, waits for
   * it, and releases it five minutes after the last push. There is no answer.
   * @param chipid the device
   * @param message as for {@link push}
   * @param options `format` `MSG` (default), `HEX` or `B64`; `timeout`, default 12,000; `signal`
   * @throws DeviceCloudError `NOT_CONNECTED` if the channel does not come up: nothing was sent
   */
  async pushOverChannel(
    chipid: Chipid,
    message: PushMessage,
    options?: PushOptions,
  ): Promise<void> {
    const device = parseChipid(chipid);
    const { charset } = this.#application.settings;
    const bytes = pushBytes(message, readFormat(options), charset);
    const limits = readSentNow(options, 'channel', 'A push over the channel');
    const { timeout, signal } = limits;
    const { channelPush } = this.#open;
    await this.#onDevice(device, limits, () => channelPush.push(device, bytes, timeout, signal));
  }

  /**
   * Calls several devices (section 4.2, endpoints 3 and 8 to 12; section 6, `msgpush`), and sends to a few side by side.
   * Each call has its place in the order of all commands to its device at once; ten thousand are made in several turns of the
   * event loop.
   * @param chipids the devices
   * @param call makes the call to one of them with the options that it is given:
   * `(chipid, options) => client.push(chipid, 'on', options)`
   * @param options `atOnce`, to how many devices it sends side by side, default 16; all others are passed to each call. With
   * `when`, each device waits for itself, and the promise resolves when the last one has ended
   * @returns the result of each call, in the order of the devices: it is not an error if some of them fail
   * @throws DeviceCloudError `INVALID_INPUT` or `NOT_CONFIGURED` if an argument is wrong: nothing was sent
   */
  async callEach<T, O extends CallOptions>(
    chipids: readonly Chipid[],
    call: (chipid: string, options: O) => Promise<T>,
    options?: O & { atOnce?: number },
  ): Promise<PromiseSettledResult<T>[]> {
    const devices = parseChipids(chipids);
    if (typeof call !== 'function')
      throw invalidInput(`call must be a function, but is ${show(call)}.`);
    const { atOnce, progress, each } = readEachOptions(options);
    // Fails without the keys, whether or not there are devices.
    void this.#open;
    const { arrivals } = this.#application.queues;
    return callEach(devices, arrivals, atOnce, progress, (chipid, shared) =>
      call(chipid, { ...each, ...shared } as unknown as O),
    );
  }

  /**
   * Reads the history of a device's uploads (section 4.2, endpoint 5).
   * @param chipid the device
   * @param options see {@link CallOptions}
   */
  async uploadHistory(chipid: Chipid, options?: CallOptions): Promise<Answer<UploadRecord[]>> {
    return this.#call(this.#open.api.uploads(parseChipid(chipid)), options);
  }

  /**
   * Reads the history of what was pushed to a device (section 4.2, endpoint 6).
   * @param chipid the device
   * @param options see {@link CallOptions}
   */
  async pushHistory(chipid: Chipid, options?: CallOptions): Promise<Answer<PushRecord[]>> {
    return this.#call(this.#open.api.pushes(parseChipid(chipid)), options);
  }

  /**
   * Reads the uploads of all devices between two days (section 4.2, endpoint 7). The end day is included, whether or not the service
   * does that: the uploads of the end day are requested once more if need be.
   * @param begin `YYYYMMDD`, a Date, milliseconds since 1970, or ISO text. A point in time counts as its
   * day here or in Beijing, so that nothing is missed
   * @param end likewise; not before `begin`
   * @param options see {@link CallOptions}
   */
  async appHistory(begin: Day, end: Day, options?: CallOptions): Promise<Answer<SyncRecord[]>> {
    const [first, last] = parsePeriod(begin, end);
    const { sync } = this.#open;
    return this.#within((...limits) => sync(first, last, ...limits), options);
  }

  /**
   * Reads the value of a callback that the device's firmware has registered (section 4.2, endpoint 8).
   * @param chipid the device
   * @param key the key under which the callback is registered
   * @param options `datatype`, see {@link ValueOptions}; `timeout`, default 12,000; `signal`
   * @throws DeviceCloudError `INVALID_RESPONSE` if the answer is empty
   */
  rtStatus(chipid: Chipid, key: string, options?: ValueOptions): Promise<Answer<unknown>> {
    return this.#callDevice(chipid, options, (api, device) =>
      api.rtStatus(device, parseKey(key), readValueDatatype(options)),
    );
  }

  /**
   * Reads the levels of all pins, a character each (section 4.2, endpoint 9). {@link pinLevels} says which is whose.
   * @param chipid the device
   * @param options see {@link CallOptions}
   */
  gpioStatus(chipid: Chipid, options?: CallOptions): Promise<Answer<ResultAnswer>> {
    return this.#callDevice(chipid, options, (api, device) => api.gpioStatus(device));
  }

  /**
   * Reads the `result` of {@link gpioStatus} by the client's option `pins` (section 4.2, endpoint 9).
   * @param result a character for each pin
   * @param codes the value of each level character, default `{"0":0,"1":1}`; U+0000 and U+0001 are 0 and 1 unless it names
   * them, and a character that it does not name stays itself
   * @returns the value of each pin that the answer has, and no other pin
   * @throws DeviceCloudError `INVALID_INPUT`
   */
  pinLevels(
    result: string,
    codes: Readonly<Record<string, unknown>> = { 0: 0, 1: 1 },
  ): Map<number, unknown> {
    if (typeof result !== 'string')
      throw invalidInput(`The result must be text, but is ${show(result)}.`);
    return readLevels(result, this.#application.settings.pins, parseCodes(codes));
  }

  /**
   * Sets the output level of a pin (section 4.2, endpoint 10).
   * @param chipid the device
   * @param pin an integer from 0
   * @param level 0, 1, "0", "1", a boolean, "high", "low", "on" or "off"
   * @param options see {@link CommandOptions}
   */
  setGpioEdge(
    chipid: Chipid,
    pin: Pin,
    level: Level,
    options?: CommandOptions,
  ): Promise<Answer<ResultAnswer>> {
    return this.#callDevice(chipid, options, (api, device) =>
      api.setGpioEdge(device, parsePin(pin), parseLevel(level)),
    );
  }

  /**
   * Sets a pin, waits, and sets it to the opposite level (section 4.2, endpoint 10, twice). No other
   * command to the device comes between the two. If it is unknown whether the first was carried out, the
   * opposite is sent all the same, once, and the call fails.
   * @param chipid the device
   * @param pin an integer from 0
   * @param level the level of the pulse, as for {@link setGpioEdge}
   * @param options `duration` of the pulse in milliseconds, 1 to 60,000, default 500; `timeout` of each of
   * the two, default 12,000; `signal`: when it aborts, or the client is closed, the opposite is sent
   * at once, and given up after 3 s
   * @returns the answer to the second command
   * @throws DeviceCloudError whose message says at which level the pin was left, or may have been left
   */
  async pulseGpio(
    chipid: Chipid,
    pin: Pin,
    level: Level,
    options?: PulseOptions,
  ): Promise<Answer<ResultAnswer>> {
    const device = parseChipid(chipid);
    const number = parsePin(pin);
    const edge = parseLevel(level);
    const duration = readDuration(options);
    const { pulses } = this.#open;
    const limits = readCommand(options, { kind: 'pulse', pin: number, level: edge });
    const { timeout, signal, when } = limits;
    const pulse = { chipid: device, pin: number, level: edge, duration, canWait: when === 'now' };
    limits.longest = 2 * timeout + duration;
    return this.#onDevice(device, limits, () => pulses.run(pulse, timeout, signal));
  }

  /**
   * Has a pin keep a level from now on (section 4.2, endpoints 9 and 10). It is set at once, or when the device next shows itself,
   * and read back. It is read again after the device was away, after a {@link reboot}, and every `check`, and set again if it
   * differs: once for each look, 30 s apart. Of a pin that is kept already the newest call counts.
   * @param chipid the device
   * @param pin an integer from 0
   * @param level as for {@link setGpioEdge}; null ends it
   * @param keeper `check`, and `onState`, which is called with each later change; see {@link PinKeeper}
   * @returns the pin as it is known once the wish is written: no call is waited for
   */
  async keepPin(
    chipid: Chipid,
    pin: Pin,
    level: Level | null,
    keeper: PinKeeper = this.#keeper,
  ): Promise<KeptPin> {
    const device = parseChipid(chipid);
    const number = parsePin(pin);
    const edge = level === null ? null : parseLevel(level);
    return this.#open.pins.keep(device, number, edge, readKeeper(keeper));
  }

  /** The pins that are kept: see {@link keepPin}. */
  get pins(): Pins {
    const { open } = this.#application;
    return {
      list: (chipid) =>
        open?.pins.list(chipid === undefined ? {} : { chipid: parseChipid(chipid) }) ?? [],
      listOf: (id) => open?.pins.list({ id }) ?? [],
      restore: async (keeper) => this.#open.pins.restore(readKeeper(keeper)),
      release: (id, isGone = false) => open?.pins.release(id, isGone),
    };
  }

  /**
   * Has the service probe a device, which may take 10 seconds (section 4.2, endpoint 11). Its answer counts as whether the
   * device is online until the list is read again.
   * @param chipid the device
   * @param options see {@link CallOptions}
   */
  refresh(chipid: Chipid, options?: CallOptions): Promise<Answer<RefreshAnswer>> {
    const answer = this.#callDevice(chipid, options, (api, device) => api.refresh(device));
    return answer.then((given) => {
      this.fleet.onCalled(parseChipid(chipid), given.body.status === 'online');
      return given;
    });
  }

  /**
   * Resets a device (section 4.2, endpoint 12).
   * @param chipid the device
   * @param options see {@link CommandOptions}
   */
  async reboot(chipid: Chipid, options?: CommandOptions): Promise<Answer<ResultAnswer>> {
    let hasReset = true;
    try {
      return await this.#callDevice(chipid, options, (api, device) => api.reboot(device));
    } catch (error) {
      hasReset = isDeviceCloudError(error) && error.uncertain;
      throw error;
    } finally {
      // A pin that is low now is not kept any more.
      if (hasReset) this.#application.open?.pins.rebooted(parseChipid(chipid));
    }
  }

  /**
   * Server API: lists the registered devices (section 4.1). The answer's shape is not shown.
   * @param query `page` and `count`, both optional, passed through
   * @param options see {@link CallOptions}
   */
  async serverDevices(query?: Query, options?: CallOptions): Promise<Answer<unknown>> {
    return this.#call(this.#server.devices(parseQuery(query)), options);
  }

  /**
   * Server API: reads the record of one device (section 4.1). The answer's shape is not shown.
   * @param deviceid 1 to 64 letters, digits, "-", "_", "." or "~"
   * @param options see {@link CallOptions}
   */
  async serverDevice(deviceid: string | number, options?: CallOptions): Promise<Answer<unknown>> {
    return this.#call(this.#server.device(parseDeviceid(deviceid)), options);
  }

  /**
   * Server API: renames, disables or re-enables a device (section 4.1). It is treated as a command.
   * @param deviceid as for {@link serverDevice}
   * @param body a JSON object, passed through: its fields are not shown
   * @param options see {@link CallOptions}
   */
  async serverUpdate(
    deviceid: string | number,
    body: JsonObject,
    options?: CallOptions,
  ): Promise<Answer<unknown>> {
    const id = parseDeviceid(deviceid);
    const spec = this.#server.update(id, parseBody(body));
    return this.#callServer(id, spec, options);
  }

  /**
   * Server API: sends data to a device (section 4.1). It is treated as a command.
   * @param deviceid as for {@link serverDevice}
   * @param body a JSON object, passed through: its fields are not shown
   * @param options see {@link CallOptions}
   */
  async serverPassthrough(
    deviceid: string | number,
    body: JsonObject,
    options?: CallOptions,
  ): Promise<Answer<unknown>> {
    const id = parseDeviceid(deviceid);
    const spec = this.#server.passthrough(id, parseBody(body));
    return this.#callServer(id, spec, options);
  }

  /**
   * Server API: reads uploads (section 4.1). The answer's shape is not shown.
   * @param query its parameters, passed through: pagination is required, its names are not shown
   * @param options see {@link CallOptions}
   * @throws DeviceCloudError `INVALID_INPUT` if the query is empty
   */
  async serverUploads(query: Query, options?: CallOptions): Promise<Answer<unknown>> {
    return this.#call(this.#server.uploads(parsePagination(query)), options);
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
  listen(chipid: Chipid, listener: ChannelListener, recover?: RecoverOptions): Subscription {
    const { listening } = this.#open;
    const device = parseChipid(chipid);
    const options = recover && readRecovery(recover, this.#application.settings);
    return new Subscription(listening.listen(device, listener, options));
  }

  /**
   * The latest upload of a device (section 6) that this process has received; in a cluster, the process that owns the device.
   * Undefined if no upload has been received.
   * @param chipid the device
   * @throws DeviceCloudError `INVALID_INPUT` if it is no chip number
   */
  latest(chipid: Chipid): Promise<LatestUpload | undefined> {
    return new Promise((resolve) => resolve(this.fleet.latest(chipid)));
  }

  /** The latest uploads (section 6) of all devices that have one. @returns `missing`: how many processes of a cluster were silent */
  latestAll(): Promise<{ uploads: Iterable<LatestUpload>; missing: number }> {
    return Promise.resolve({ uploads: this.fleet.latestAll(), missing: 0 });
  }

  /**
   * Cancels commands (section 4.2, endpoints 3, 10 and 12) that wait for their devices, in all processes of a cluster.
   * @param which see {@link WaitingSelection}
   * @param options `node`: only those of this node
   * @returns how many were cancelled, and how many processes were silent
   * @throws DeviceCloudError `INVALID_INPUT` or `NOT_CONFIGURED`
   */
  async cancelWaiting(
    which: WaitingSelection,
    options?: { node?: string },
  ): Promise<{ cancelled: number; missing: number }> {
    return { cancelled: await this.waiting.cancel(which, options), missing: 0 };
  }

  /**
   * The commands of the open API that wait for their devices.
   * @throws DeviceCloudError `NOT_CONFIGURED` without the appid and the app key
   */
  get waiting(): WaitingCommands {
    return this.#open.commands;
  }

  /**
   * Records, in memory, the live uploads of devices (section 6), and the pins and pushes that they get meanwhile (section 4.2,
   * endpoints 3, 4 and 10), for at most ten minutes, 1,000 uploads or 8 MiB. `toYaml()` of the recorder is a test for
   * `device-cloud-test`, which has no key in it.
   * @param chipids the devices, default all
   * @throws DeviceCloudError `INVALID_INPUT` while another recording runs
   */
  recordTest(chipids?: readonly Chipid[]): TestRecorder {
    return this.#application.recordTest(chipids && parseChipids(chipids));
  }

  /**
   * Listeners whose uploads the flow acknowledges (section 6), one at a time of each device.
   * @throws DeviceCloudError `NOT_CONFIGURED` without the appid and the app key
   */
  get acknowledged(): Acknowledging {
    return this.#open.acknowledged;
  }

  /** What is known of the devices: who is online, the channels, the latest uploads. */
  get fleet(): Fleet {
    return this.#application.fleet;
  }

  /**
   * Tries the interfaces whose keys are set (sections 4.1 and 4.2), and the channel (section 4.3): one that is open, or that of the
   * first online device, which is closed again. Of a refusal the result names the likely causes, and has the text that was signed, with the key masked, and a `curl`
   * command.
   * @param options see {@link TestOptions}
   * @returns what was found: nothing that goes wrong at the service is an error of the call
   */
  async test(options: TestOptions = {}): Promise<ServiceTest> {
    const { settings } = this.#application;
    // The book and its watcher are of no use to a client of one call.
    const { book: _, ...own } = this.#application.options;
    const make = (other: ClientOptions): DeviceCloudClient => new DeviceCloudClient(other);
    return testService(this, own, make, settings.timeout, options);
  }

  /**
   * How many milliseconds the service's clock is ahead of this one, to the second, by the latest answer of any
   * status; undefined before the first. Signatures carry a timestamp that the service may check
   * (section 5).
   */
  get clockSkew(): number | undefined {
    return this.#application.http.clock.skew();
  }

  /**
   * The service's time in ms since 1970, whatever this machine's clock says: by the `Date` of its latest answer and the time that has
   * passed since; before the first answer by the time of the first upload, and undefined before either.
   */
  get serviceTime(): number | undefined {
    return this.#application.http.clock.time();
  }

  /**
   * The address under which the list of online devices has answered, below `/openapi/`: `devices/list/`, or
   * `devices/lists/` as of the public server of 2016 (section 4.2 shows both); undefined before it was read.
   */
  get listPath(): string | undefined {
    return this.#application.found.listPath;
  }

  /**
   * How the history of uploads writes `body`, once an upload that came both ways, live and recovered,
   * has shown it; undefined before. Which form it is, the document does not show (sections 2.3 to 2.5).
   */
  get historyEncoding(): Writing | undefined {
    const writing = this.#application.open?.listening.shared.facts.writing;
    return writing === 'bare' ? 'trimmed' : writing;
  }

  /**
   * The time zone of the service's times, an offset such as `+08:00`: as it is set, or as uploads that came both
   * ways have shown it; before, UTC of a service that lists devices as the public server of 2016, otherwise Beijing time.
   */
  get historyZone(): string {
    return zoneText(this.#application.zone);
  }

  /** Ends every call with an error; closes every channel and connection. Idempotent. */
  close(): Promise<void> {
    return this.#application.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get [APPLICATION](): Application {
    return this.#application;
  }

  /** Devices are another process's from now on: what waits of theirs goes on there, and what begins of theirs is not sent. */
  [LET_GO](isOf: (chipid: string) => boolean): void {
    this.#application.open?.pins.letGo(isOf);
    this.#application.open?.commands.letGo(isOf);
  }

  /** @throws DeviceCloudError `NOT_CONFIGURED` without the keys of the open API */
  get #open(): OpenApiParts {
    const { open } = this.#application;
    if (open) return open;
    throw openApiMissing();
  }

  /** @throws DeviceCloudError `NOT_CONFIGURED` without its keys */
  get #server(): ServerApi {
    const { server } = this.#application;
    if (server) return server;
    throw notConfigured(
      'The server API needs its key and its password. Set them in the configuration.',
    );
  }

  /** Makes calls that wait for no other. @param work makes them, within a time-out and until the signal aborts */
  #within<T>(
    work: (timeout: number, signal: AbortSignal | undefined) => Promise<T>,
    options: CallOptions | undefined,
  ): Promise<T> {
    const { timeout, signal, progress } = readLimits(options, this.#application.settings.timeout);
    progress?.(CALLING);
    return work(timeout, signal);
  }

  /** Makes a call that waits for no other. */
  #call<T>(spec: CallSpec<T>, options: CallOptions | undefined): Promise<Answer<T>> {
    return this.#within(
      (...limits) => callService(this.#application.http, spec, ...limits),
      options,
    );
  }

  /** Makes a command of the server API. @param deviceid commands of the same id go out one at a time */
  #callServer<T>(
    deviceid: string,
    spec: CallSpec<T>,
    options: CallOptions | undefined,
  ): Promise<Answer<T>> {
    const { http, serverQueues, settings } = this.#application;
    const { timeout, signal, progress } = readLimits(options, settings.timeout);
    const call = (): Promise<Answer<T>> => callOnce(http, spec, timeout, signal);
    return serverQueues.call(deviceid, call, { signal, progress });
  }

  /**
   * Makes one call to a device over HTTP, in the device's queue. Not an async function: with tens of thousands of pushes
   * a second, the promises on their way are what costs most.
   * @param make checks the other arguments of the call; what it throws is what the call fails with
   */
  #callDevice<T>(
    chipid: Chipid,
    options: CommandOptions | undefined,
    make: (api: OpenApi, device: string) => OpenApiCommand<T>,
  ): Promise<Answer<T>> {
    try {
      const device = parseChipid(chipid);
      const { http } = this.#application;
      const spec = make(this.#open.api, device);
      const limits = readCommand(options, spec.does);
      const { timeout, signal, when } = limits;
      // Its error is not to advise what it has done.
      spec.call.canWait = when === 'now' && CAN_WAIT.has(spec.does.kind);
      return this.#onDevice(device, limits, () => callOnce(http, spec, timeout, signal));
    } catch (error) {
      // As an async function fails: what was thrown may be anything.
      return new Promise(() => {
        throw error;
      });
    }
  }

  /**
   * Every call to a device goes through here, except requests and those that keep pins: it waits for the device if `when` says
   * so, and runs the work when the commands before it have ended. The work occupies the device's queue until its promise has
   * settled, so it may make several calls.
   * @param work is called at most once
   */
  #onDevice<T>(device: string, limits: DeviceLimits, work: () => Promise<T>): Promise<T> {
    const { commands } = this.#open;
    const outcome =
      limits.when === 'now'
        ? this.#application.queues.run(new Command(device, work, limits, commands.onFailure))
        : commands.run(device, work, limits);
    return this.fleet.onCommand(device, limits.what, outcome);
  }
}
