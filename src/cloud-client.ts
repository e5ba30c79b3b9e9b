import { requireOpenApi } from './protocol/open-api';
import {
  parseBody,
  parseDeviceid,
  parsePagination,
  parseQuery,
  type ServerApi,
} from './protocol/server-api';
import { createApplication, type Application, type OpenApiParts } from './application';
import { readFormat, readLimits, readSentNow } from './call-options';
import { CALLING } from './commands/queue';
import { invalidInput, notConfigured } from './errors';
import type { Fleet } from './fleet/fleet';
import type { LatestUpload } from './fleet/latest';
import type { TestRecorder } from './fleet/test-recorder';
import { isUsable, sortList, usableList } from './fleet/list-poller';
import { callService } from './http/call';
import { callOnce } from './http/exchange';
import { AllServiceLimits } from './http/service-limiter';
import { parsePeriod } from './protocol/day';
import { parseCodes, readLevels } from './protocol/gpio';
import { parseChipid, parseChipids, pushMessage } from './protocol/values';
import type { Acknowledged } from './recovery/acknowledged';
import type { Writing } from './recovery/writing';
import { zoneText } from './recovery/zone';
import type { ClientOptions } from './settings';
import type {
  Answer,
  AppRecord,
  CallOptions,
  Chipid,
  Day,
  DeviceRecord,
  JsonObject,
  PushAnswer,
  PushMessage,
  PushOptions,
  PushRecord,
  Query,
  SyncRecord,
  UploadRecord,
} from './types';
import { isObject } from './util/json';
import { show } from './util/show';
import type { CallSpec } from './protocol/call-spec';

/** Not for users: for the client of a process that shares its devices. */
export const APPLICATION = Symbol('application');

/**
 * How many channels connect and histories are read side by side. It belongs to the process, since the limits are those of
 * a service: two clients of one service share them, and they outlive a client that is recreated by a deploy.
 */
const LIMITS = new AllServiceLimits();

/** Of the process, too: a token is good at any client of its application. */
const ACKNOWLEDGING = new Set<Acknowledged>();

/** The calls of a client that wait for no device; and what is known of the devices, and of the service. */
export class CloudClient implements AsyncDisposable {
  readonly [APPLICATION]: Application;
  /** What is known of the devices: who is online, the channels, the latest uploads. */
  readonly fleet: Fleet;

  /**
   * Nothing is opened before the first call, except the device book.
   * @throws DeviceCloudError `NOT_CONFIGURED` if an option is wrong
   */
  constructor(options: ClientOptions) {
    this[APPLICATION] = createApplication(options, LIMITS, ACKNOWLEDGING);
    this.fleet = this[APPLICATION].fleet;
  }

  /** The id of the application; undefined without the appid and the app key. */
  get appid(): string | undefined {
    return this[APPLICATION].settings.openApi?.appid;
  }

  /**
   * Reads the application's name and its online devices (section 4.2, endpoint 1).
   * @param options see {@link CallOptions}
   */
  async app(options?: CallOptions): Promise<Answer<AppRecord>> {
    const at = this[APPLICATION].now();
    const { statusCode, body } = await this.#call(this.open.api.app(), options);
    const list = sortList(body.online);
    // Otherwise it says nothing about the devices. The record of the application is good without it.
    if (isUsable(list)) this.fleet.applyList({ at, devices: list.devices });
    return { statusCode, body: { ...body, online: list.records } };
  }

  /**
   * Lists the online devices (section 4.2, endpoint 2). Of the two spellings of its address the one
   * that answers is remembered.
   * @param options see {@link CallOptions}
   * @throws DeviceCloudError `INVALID_RESPONSE` also if there are records and none has a valid chip number
   */
  async devices(options?: CallOptions): Promise<Answer<DeviceRecord[]>> {
    const { listDevices } = this.open;
    const at = this[APPLICATION].now();
    const answer = await this.#within(listDevices, options);
    const { devices, records } = usableList(answer.body, answer.statusCode);
    this.fleet.applyList({ at, devices });
    // Who reads them trusts that each is an object.
    return { ...answer, body: records.filter(isObject) };
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
    const spec = this.open.api.pushToApp(pushMessage(message, format), format);
    progress?.(CALLING);
    return callOnce(this[APPLICATION].http, spec, timeout, signal);
  }

  /**
   * Reads the history of a device's uploads (section 4.2, endpoint 5).
   * @param chipid the device
   * @param options see {@link CallOptions}
   */
  async uploadHistory(chipid: Chipid, options?: CallOptions): Promise<Answer<UploadRecord[]>> {
    return this.#call(this.open.api.uploads(parseChipid(chipid)), options);
  }

  /**
   * Reads the history of what was pushed to a device (section 4.2, endpoint 6).
   * @param chipid the device
   * @param options see {@link CallOptions}
   */
  async pushHistory(chipid: Chipid, options?: CallOptions): Promise<Answer<PushRecord[]>> {
    return this.#call(this.open.api.pushes(parseChipid(chipid)), options);
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
    const { sync } = this.open;
    return this.#within((...limits) => sync(first, last, ...limits), options);
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
    return this.#serverCommand(id, this.#server.update(id, parseBody(body)), options);
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
    return this.#serverCommand(id, this.#server.passthrough(id, parseBody(body)), options);
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
   * Reads the `result` of `gpioStatus` by the client's option `pins` (section 4.2, endpoint 9).
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
    return readLevels(result, this[APPLICATION].settings.pins, parseCodes(codes));
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
   * Records, in memory, the live uploads of devices (section 6), and the pins and pushes that they get meanwhile (section 4.2,
   * endpoints 3, 4 and 10), for at most ten minutes, 1,000 uploads or 8 MiB. `toYaml()` of the recorder is a test for
   * `device-cloud-test`, which has no key in it.
   * @param chipids the devices, default all
   * @throws DeviceCloudError `INVALID_INPUT` while another recording runs
   */
  recordTest(chipids?: readonly Chipid[]): TestRecorder {
    return this[APPLICATION].recordTest(chipids && parseChipids(chipids));
  }

  /**
   * How many milliseconds the service's clock is ahead of this one, to the second, by the latest answer of any
   * status; undefined before the first. Signatures carry a timestamp that the service may check
   * (section 5).
   */
  get clockSkew(): number | undefined {
    return this[APPLICATION].http.clock.skew();
  }

  /**
   * The service's time in ms since 1970, whatever this machine's clock says: by the `Date` of its latest answer and the time that has
   * passed since; before the first answer by the time of the first upload, and undefined before either.
   */
  get serviceTime(): number | undefined {
    return this[APPLICATION].http.clock.time();
  }

  /**
   * The address under which the list of online devices has answered, below `/openapi/`: `devices/list/`, or
   * `devices/lists/` as of the public server of 2016 (section 4.2 shows both); undefined before it was read.
   */
  get listPath(): string | undefined {
    return this[APPLICATION].found.listPath;
  }

  /**
   * How the history of uploads writes `body`, once an upload that came both ways, live and recovered,
   * has shown it; undefined before. Which form it is, the document does not show (sections 2.3 to 2.5).
   */
  get historyEncoding(): Writing | undefined {
    const writing = this[APPLICATION].open?.listening.shared.facts.writing;
    return writing === 'bare' ? 'trimmed' : writing;
  }

  /**
   * The time zone of the service's times, an offset such as `+08:00`: as it is set, or as uploads that came both
   * ways have shown it; before, UTC of a service that lists devices as the public server of 2016, otherwise Beijing time.
   */
  get historyZone(): string {
    return zoneText(this[APPLICATION].zone);
  }

  /** Ends every call with an error; closes every channel and connection. Idempotent. */
  close(): Promise<void> {
    return this[APPLICATION].close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal @throws DeviceCloudError `NOT_CONFIGURED` without the keys of the open API */
  protected get open(): OpenApiParts {
    return requireOpenApi(this[APPLICATION].open);
  }

  /** @throws DeviceCloudError `NOT_CONFIGURED` without its keys */
  get #server(): ServerApi {
    const { server } = this[APPLICATION];
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
    const { timeout, signal, progress } = readLimits(options, this[APPLICATION].settings.timeout);
    progress?.(CALLING);
    return work(timeout, signal);
  }

  /** Makes a call that waits for no other. */
  #call<T>(spec: CallSpec<T>, options: CallOptions | undefined): Promise<Answer<T>> {
    return this.#within(
      (...limits) => callService(this[APPLICATION].http, spec, ...limits),
      options,
    );
  }

  /** Makes a command of the server API. @param id commands of the same id go out one at a time */
  #serverCommand<T>(
    id: string,
    spec: CallSpec<T>,
    options: CallOptions | undefined,
  ): Promise<Answer<T>> {
    const { http, serverQueues, settings } = this[APPLICATION];
    const { timeout, signal, progress } = readLimits(options, settings.timeout);
    const call = (): Promise<Answer<T>> => callOnce(http, spec, timeout, signal);
    return serverQueues.call(id, call, { signal, progress });
  }
}
