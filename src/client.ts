import { requireOpenApi, type OpenApi, type OpenApiCommand } from './protocol/open-api';
import {
  readCommand,
  readDuration,
  readEachOptions,
  readFormat,
  readKeeper,
  readRecovery,
  readRequest,
  readSentNow,
  readValueDatatype,
  type DeviceLimits,
} from './call-options';
import { Subscription, type ChannelListener } from './channel/listener';
import { APPLICATION, CloudClient } from './cloud-client';
import { callEach } from './commands/many';
import type { Kept } from './commands/pins';
import { Command } from './commands/queue';
import type { Reply, RequestOptions } from './commands/reply';
import type { WaitingCommands } from './commands/waiting';
import { SEMAPHORE, type OwnOptions, type WaitingSelection } from './commands/waiting-list';
import { invalidInput, isDeviceCloudError } from './errors';
import { callOnce } from './http/exchange';
import { parseLevel, parsePin } from './protocol/gpio';
import { parseChipid, parseChipids, parseKey, pushBytes, pushMessage } from './protocol/values';
import type { Acknowledging } from './recovery/acknowledged';
import type { RecoverOptions } from './recovery/options';
import { testService, type ServiceTest, type TestOptions } from './service-test';
import type { ClientOptions } from './settings';
import type {
  Answer,
  CallOptions,
  Chipid,
  CommandKind,
  CommandOptions,
  KeptPin,
  Level,
  Pin,
  PinKeeper,
  PulseOptions,
  PushAnswer,
  PushMessage,
  PushOptions,
  RefreshAnswer,
  ResultAnswer,
  ValueOptions,
} from './types';
import { show } from './util/show';

/** Commands that can wait for their device, besides a pulse. */
const CAN_WAIT: ReadonlySet<CommandKind> = new Set(['push', 'gpio', 'reboot']);

/**
 * One application of the service: all its calls, its channels, and the order of its commands. Durations are in
 * milliseconds. The last argument of a call is its options: see {@link CallOptions}, {@link CommandOptions}.
 *
 * Every call checks what it is given before anything is sent, whatever the types say, and fails with a
 * {@link DeviceCloudError}: `INVALID_INPUT` for what it was given, `NOT_CONFIGURED` for keys that are
 * missing or an invalid time-out, and the codes of the service and the network. Calls that reach a
 * device go out one at a time per device, in the order in which they were made, at most 100 waiting
 * (`QUEUE_FULL`), and are never repeated: `uncertain` of the error says whether the device may have acted. A
 * command may also wait until its device shows itself: see {@link CommandOptions}; if it does not in time, it is `EXPIRED`.
 * Reads that only touch the cloud are tried again at most twice.
 */
export class DeviceCloudClient extends CloudClient {
  /** Of pins that are kept without one. */
  readonly #keeper: PinKeeper = {};

  /**
   * Pushes to one device and waits for its answer (section 4.2, endpoint 3).
   * @param chipid the device
   * @param message text, number, boolean, Buffer, or object as JSON; HEX and B64 take text or a Buffer
   * @param options see {@link PushOptions}
   */
  push(chipid: Chipid, message: PushMessage, options?: PushOptions): Promise<Answer<PushAnswer>> {
    return this.#command(chipid, options, (api, device) => {
      const format = readFormat(options);
      return api.push(device, pushMessage(message, format), format);
    });
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
    const { api, requests } = this.open;
    const { http, settings } = this[APPLICATION];
    const format = readFormat(options);
    const device = parseChipid(chipid);
    const spec = api.push(device, pushMessage(message, format), format);
    const limits = readRequest(options, settings);
    const push = () => callOnce(http, spec, limits.timeout, limits.signal);
    const request = { ...limits, chipid: device, name: spec.call.name, push };
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
    const { charset } = this[APPLICATION].settings;
    const bytes = pushBytes(message, readFormat(options), charset);
    const limits = readSentNow(options, 'channel', 'A push over the channel');
    const { timeout, signal } = limits;
    const { channelPush } = this.open;
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
    void this.open;
    const { arrivals } = this[APPLICATION].queues;
    return callEach(devices, arrivals, atOnce, progress, (chipid, shared) =>
      call(chipid, { ...each, ...shared } as unknown as O),
    );
  }

  /**
   * Reads the value of a callback that the device's firmware has registered (section 4.2, endpoint 8).
   * @param chipid the device
   * @param key the key under which the callback is registered
   * @param options `datatype`, see {@link ValueOptions}; `timeout`, default 12,000; `signal`
   * @throws DeviceCloudError `INVALID_RESPONSE` if the answer is empty
   */
  rtStatus(chipid: Chipid, key: string, options?: ValueOptions): Promise<Answer<unknown>> {
    return this.#command(chipid, options, (api, device) =>
      api.rtStatus(device, parseKey(key), readValueDatatype(options)),
    );
  }

  /**
   * Reads the levels of all pins, a character each (section 4.2, endpoint 9). {@link pinLevels} says which is whose.
   * @param chipid the device
   * @param options see {@link CallOptions}
   */
  gpioStatus(chipid: Chipid, options?: CallOptions): Promise<Answer<ResultAnswer>> {
    return this.#command(chipid, options, (api, device) => api.gpioStatus(device));
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
    return this.#command(chipid, options, (api, device) =>
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
    const what = { kind: 'pulse', pin: parsePin(pin), level: parseLevel(level) } as const;
    const duration = readDuration(options);
    const { pulses } = this.open;
    const limits = readCommand(options, what);
    const { timeout, signal, when } = limits;
    limits.longest = 2 * timeout + duration;
    const pulse = { ...what, chipid: device, duration, canWait: when === 'now' };
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
    return this.open.pins.keep(device, number, edge, readKeeper(keeper));
  }

  /** The pins that are kept: see {@link keepPin}. */
  get pins() {
    const { open } = this[APPLICATION];
    return {
      /** Of all devices, or of one. @throws DeviceCloudError `INVALID_INPUT` if it is no chip number */
      list: (chipid?: Chipid): Kept[] =>
        open?.pins.list(chipid === undefined ? {} : { chipid: parseChipid(chipid) }) ?? [],
      /** Those of the keeper with this id. */
      listOf: (id: string): Kept[] => open?.pins.list({ id }) ?? [],
      /** Goes on with the pins that the store has of a keeper's id. */
      restore: async (keeper: PinKeeper): Promise<void> =>
        this.open.pins.restore(readKeeper(keeper)),
      /** Stops keeping the pins of a keeper's id for now, and calls it no more. @param isGone whether they have ended */
      release: (id: string, isGone = false): void => open?.pins.release(id, isGone),
    };
  }

  /**
   * Has the service probe a device, which may take 10 seconds (section 4.2, endpoint 11). Its answer counts as whether the
   * device is online until the list is read again.
   * @param chipid the device
   * @param options see {@link CallOptions}
   */
  async refresh(chipid: Chipid, options?: CallOptions): Promise<Answer<RefreshAnswer>> {
    const answer = await this.#command(chipid, options, (api, device) => api.refresh(device));
    this.fleet.onCalled(parseChipid(chipid), answer.body.status === 'online');
    return answer;
  }

  /**
   * Resets a device (section 4.2, endpoint 12).
   * @param chipid the device
   * @param options see {@link CommandOptions}
   */
  async reboot(chipid: Chipid, options?: CommandOptions): Promise<Answer<ResultAnswer>> {
    let hasReset = true;
    try {
      return await this.#command(chipid, options, (api, device) => api.reboot(device));
    } catch (error) {
      hasReset = isDeviceCloudError(error) && error.uncertain;
      throw error;
    } finally {
      // A pin that is low now is not kept any more.
      if (hasReset) this[APPLICATION].open?.pins.rebooted(parseChipid(chipid));
    }
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
    const { listening } = this.open;
    const device = parseChipid(chipid);
    const options = recover && readRecovery(recover, this[APPLICATION].settings);
    return new Subscription(listening.listen(device, listener, options));
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

  /** The commands of the open API that wait for their devices. @throws DeviceCloudError `NOT_CONFIGURED` without its keys */
  get waiting(): WaitingCommands {
    return this.open.commands;
  }

  /** Listeners whose uploads the flow acknowledges (section 6), one at a time of each device. @throws DeviceCloudError `NOT_CONFIGURED` */
  get acknowledged(): Acknowledging {
    return this.open.acknowledged;
  }

  /**
   * Tries the interfaces whose keys are set (sections 4.1 and 4.2), and the channel (section 4.3): one that is open, or that of the
   * first online device, which is closed again. Of a refusal the result names the likely causes, and has the text that was signed, with the key masked, and a `curl`
   * command.
   * @param options see {@link TestOptions}
   * @returns what was found: nothing that goes wrong at the service is an error of the call
   */
  test(options: TestOptions = {}): Promise<ServiceTest> {
    const make = (other: ClientOptions) => new DeviceCloudClient(other);
    return testService(this, this[APPLICATION], make, options);
  }

  /**
   * Makes one call to a device over HTTP, in the device's queue. Not an async function: with tens of thousands of pushes
   * a second, the promises on their way are what costs most.
   * @param make checks the other arguments of the call; what it throws is what the call fails with
   */
  #command<T>(
    chipid: Chipid,
    options: CommandOptions | undefined,
    make: (api: OpenApi, device: string) => OpenApiCommand<T>,
  ): Promise<Answer<T>> {
    try {
      const device = parseChipid(chipid);
      const { http, open } = this[APPLICATION];
      const spec = make(requireOpenApi(open).api, device);
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
    const { queues, fleet, open } = this[APPLICATION];
    const { commands } = requireOpenApi(open);
    const outcome =
      limits.when === 'now'
        ? queues.run(new Command(device, work, limits, commands.onFailure))
        : commands.run(device, work, limits);
    return fleet.onCommand(device, limits.what, outcome);
  }
}
