import {
  type AckOptions,
  type AckSubscription,
  HISTORY_NOT_UNDERSTOOD,
  HISTORY_UNDERSTOOD,
  type ChannelListener,
  type ChannelState,
  type ChannelSubscription,
  type DeviceCloudClient,
  type Position,
  type RecoverOptions,
  type WaitingUpload,
} from '../../src/index';
import type { DeviceState } from './channels-status';
import type { Positions } from './positions';

/** What a listener does when something happens on its devices' channels. */
export interface DevicesListener {
  onUpload(upload: WaitingUpload): void;
  /** Called when a channel's state or the set of devices has changed. */
  onChange(): void;
  /**
   * Called when something is wrong with a device's channel or its recovery, in words for the log.
   * @param kind the same for all faults of a kind, whatever the device
   */
  onFault(chipid: string, fault: string, kind: string): void;
}

/** One device that is listened to. There may be very many: no closures. */
class ListenedDevice implements ChannelListener, DeviceState {
  state: ChannelState = 'connecting';
  reason: string | undefined = undefined;
  isHistoryUnclear = false;
  subscription: ChannelSubscription | undefined = undefined;
  /** The same of a listener that waits for acknowledgements. */
  waiting: AckSubscription | undefined = undefined;

  constructor(
    protected readonly chipid: string,
    protected readonly listener: DevicesListener,
  ) {}

  onUpload(upload: WaitingUpload): void {
    this.listener.onUpload(upload);
  }

  onState(state: ChannelState, reason?: string): void {
    this.state = state;
    this.reason = reason;
    if (state === 'disconnected') {
      const why = reason ?? 'closed';
      this.listener.onFault(this.chipid, `the channel is down (${why})`, `down ${why}`);
    }
    this.listener.onChange();
  }

  onFault(fault: string, kind = fault): void {
    this.listener.onFault(this.chipid, fault, kind);
    if (kind !== HISTORY_NOT_UNDERSTOOD && kind !== HISTORY_UNDERSTOOD) return;
    this.isHistoryUnclear = kind === HISTORY_NOT_UNDERSTOOD;
    this.listener.onChange();
  }
}

class KeptDevice extends ListenedDevice implements RecoverOptions {
  readonly #positions: Positions;

  constructor(chipid: string, listener: DevicesListener, positions: Positions) {
    super(chipid, listener);
    this.#positions = positions;
  }

  get start(): Position | undefined {
    return this.#positions.get(this.chipid);
  }

  saveLater(position: () => Position): void {
    this.#positions.set(this.chipid, position);
  }
}

/** The devices that a listener listens to, each with its subscription to a channel. */
export class ListenedDevices {
  readonly #devices = new Map<string, ListenedDevice>();
  readonly #client: DeviceCloudClient;
  readonly #listener: DevicesListener;
  readonly #recovers: boolean;
  readonly #positions: Positions | undefined;
  readonly #ack: AckOptions | undefined;

  /**
   * @param recovers whether missed uploads are recovered
   * @param positions from which they are; undefined if they are not kept, or move when uploads are acknowledged
   * @param ack how they are; undefined if they are not
   */
  constructor(
    client: DeviceCloudClient,
    listener: DevicesListener,
    recovers: boolean,
    positions: Positions | undefined,
    ack?: AckOptions,
  ) {
    this.#client = client;
    this.#listener = listener;
    this.#recovers = recovers;
    this.#positions = positions;
    this.#ack = ack;
  }

  /** Listens to a device from now on. */
  add(chipid: string): void {
    if (this.#devices.has(chipid)) return;
    const listener = this.#listener;
    const positions = this.#positions;
    const kept = positions && new KeptDevice(chipid, listener, positions);
    const device = kept ?? new ListenedDevice(chipid, listener);
    const recover = this.#recovers ? (kept ?? {}) : undefined;
    device.waiting = this.#ack && this.#client.acknowledged.listen(chipid, device, this.#ack);
    const subscription = device.waiting ?? this.#client.listen(chipid, device, recover);
    device.subscription = subscription;
    device.state = subscription.channel.state;
    device.reason = subscription.channel.reason;
    this.#devices.set(chipid, device);
    listener.onChange();
  }

  /** Stops listening to a device. What it uploads until it is added again is not recovered. */
  remove(chipid: string): void {
    this.#positions?.forget(chipid);
    const device = this.#devices.get(chipid);
    if (!device) return;
    this.#devices.delete(chipid);
    if (device.waiting) device.waiting.release(true);
    else device.subscription?.release();
    device.subscription = device.waiting = undefined;
    this.#listener.onChange();
  }

  /** Listens to these devices and no others. Those that stay keep their channel. */
  follow(wanted: ReadonlySet<string>): void {
    for (const chipid of this.chipids()) if (!wanted.has(chipid)) this.remove(chipid);
    for (const chipid of wanted) this.add(chipid);
  }

  chipids(): string[] {
    return [...this.#devices.keys()];
  }

  has(chipid: string): boolean {
    return this.#devices.has(chipid);
  }

  /** Those whose histories are not understood. */
  unclear(): string[] {
    return this.chipids().filter((chipid) => this.#devices.get(chipid)?.isHistoryUnclear);
  }

  states(): Iterable<DeviceState> {
    return this.#devices.values();
  }

  close(): void {
    for (const { subscription } of this.#devices.values()) subscription?.release();
    this.#devices.clear();
  }
}
