import type { Node, NodeAPI, NodeMessage } from 'node-red';
import {
  HISTORY_NOT_UNDERSTOOD,
  HISTORY_UNDERSTOOD,
  type ChannelListener,
  type ChannelState,
  type ChannelSubscription,
  type DeviceCloudClient,
  type Position,
  type RecoverOptions,
  type Upload,
} from '../../src/for-nodes';
import {
  inShard,
  invalidInput,
  notConfigured,
  parseChipid,
  readShard,
  show,
  type Shard,
} from '../../src/input';
import { withFields } from '../common/action.runtime';
import { choiceOf, substitute } from '../common/settings';
import type { DeviceState } from './channels-status';
import type { ListenConfig } from './listen.config';
import type { Positions } from './positions';

/** What a listener does when something happens on its devices' channels. */
export interface DevicesListener {
  onUpload(upload: Upload): void;
  /** Called when a channel's state or the set of devices has changed. */
  onChange(): void;
  /** @returns what resolves once the uploads of a device that have arrived are emitted; undefined if they are */
  waits(chipid: string): Promise<void> | undefined;
  /**
   * Called when something is wrong with a device's channel or its recovery, in words for the log.
   * @param kind the same for all faults of a kind, whatever the device
   */
  onFault(chipid: string, fault: string, kind: string): void;
}

type Deliver = NonNullable<RecoverOptions['deliver']>;

/** How missed uploads are recovered. */
export interface Recover {
  /** Left out if they are not needed: they change with each upload. */
  positions?: Positions | undefined;
  deliver: Deliver;
}

/** One device that is listened to. There may be very many: no closures. */
class ListenedDevice implements ChannelListener, RecoverOptions, DeviceState {
  state: ChannelState = 'connecting';
  reason: string | undefined = undefined;
  lastUpload: number | undefined = undefined;
  isHistoryUnclear = false;
  subscription: ChannelSubscription | undefined = undefined;
  readonly #recover: Recover | undefined;

  constructor(
    protected readonly chipid: string,
    protected readonly listener: DevicesListener,
    recover: Recover | undefined,
  ) {
    this.#recover = recover;
  }

  get deliver(): Deliver | undefined {
    return this.#recover?.deliver;
  }

  onUpload(upload: Upload): void {
    // One that was missed came before.
    if (!upload.replayed) this.lastUpload = Date.now();
    this.listener.onUpload(upload);
  }

  onState(state: ChannelState, reason?: string): void {
    this.state = state;
    this.reason = reason;
    // Another process reads the history from now on.
    if (state === 'elsewhere') this.isHistoryUnclear = false;
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

class KeptDevice extends ListenedDevice {
  readonly #positions: Positions;

  constructor(chipid: string, listener: DevicesListener, recover: Recover, positions: Positions) {
    super(chipid, listener, recover);
    this.#positions = positions;
  }

  get start(): Position | undefined {
    return this.#positions.get(this.chipid);
  }

  saveLater(position: () => Position): void {
    const { chipid, listener } = this;
    const positions = this.#positions;
    const waits = listener.waits(chipid);
    // One that was removed meanwhile has none any more.
    if (waits) void waits.then(() => this.subscription && positions.set(chipid, position));
    else positions.set(chipid, position);
  }
}

/** The devices that a listener listens to, each with its subscription to a channel. */
export class ListenedDevices {
  readonly #devices = new Map<string, ListenedDevice>();
  readonly #client: DeviceCloudClient;
  readonly #listener: DevicesListener;
  readonly #recover: Recover | undefined;
  readonly #shard: Shard | undefined;

  /**
   * @param recover how missed uploads are recovered; left out: not at all
   * @param shard the share of the devices that is listened to: others are ignored; left out: all
   */
  constructor(
    client: DeviceCloudClient,
    listener: DevicesListener,
    recover: Recover | undefined,
    shard?: Shard,
  ) {
    this.#client = client;
    this.#listener = listener;
    this.#recover = recover;
    this.#shard = shard;
  }

  /** Listens to a device from now on, unless it is in another share. */
  add(chipid: string): void {
    const [listener, recover, shard] = [this.#listener, this.#recover, this.#shard];
    if (this.#devices.has(chipid) || (shard && !inShard(chipid, shard))) return;
    const device = recover?.positions
      ? new KeptDevice(chipid, listener, recover, recover.positions)
      : new ListenedDevice(chipid, listener, recover);
    const subscription = this.#client.listen(chipid, device, recover && device);
    device.subscription = subscription;
    device.state = subscription.channel.state;
    device.reason = subscription.channel.reason;
    this.#devices.set(chipid, device);
    listener.onChange();
  }

  /** Stops listening to a device. What it uploads until it is added again is not recovered. */
  remove(chipid: string): void {
    this.#recover?.positions?.forget(chipid);
    const device = this.#devices.get(chipid);
    if (!device) return;
    this.#devices.delete(chipid);
    device.subscription?.release();
    device.subscription = undefined;
    this.#listener.onChange();
  }

  chipids(): string[] {
    return [...this.#devices.keys()];
  }

  states(): Iterable<DeviceState> {
    return this.#devices.values();
  }

  close(): void {
    for (const { subscription } of this.#devices.values()) subscription?.release();
    this.#devices.clear();
  }
}

const chipidsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).map(parseChipid);

/**
 * Carries out what a message asks of a dynamic listener: `msg.action` = `subscribe`, `unsubscribe` or
 * `list`, with `msg.chipid` a number, a string or an array of them.
 * @returns the message to send on, for `list`: the chip numbers as payload
 * @throws DeviceCloudError `INVALID_INPUT`; then nothing has changed
 */
export function changeDevices(devices: ListenedDevices, msg: NodeMessage): NodeMessage | undefined {
  const { action } = msg;
  switch (action) {
    case 'subscribe':
      for (const chipid of chipidsOf(msg['chipid'])) devices.add(chipid);
      return undefined;
    case 'unsubscribe':
      for (const chipid of chipidsOf(msg['chipid'])) devices.remove(chipid);
      return undefined;
    case 'list':
      return withFields(msg, [], { payload: devices.chipids() });
    default:
      throw invalidInput(
        `msg.action must be "subscribe", "unsubscribe" or "list", but is ${show(action)}.`,
      );
  }
}

/** How a listener shares its devices and its uploads with other processes. */
export interface Processes {
  /** The share of the devices that it listens to; undefined for all. */
  readonly shard: Shard | undefined;
  readonly deliver: NonNullable<RecoverOptions['deliver']>;
}

/**
 * Reads what a listener says about other processes.
 * @throws DeviceCloudError `NOT_CONFIGURED` if it does not go together with the cluster, or without one
 */
export function readProcesses(
  RED: NodeAPI,
  node: Node,
  { recover, shard, deliver: to }: ListenConfig,
  { cluster }: DeviceCloudClient,
): Processes {
  // A flow that was written by hand may have anything there.
  const given: unknown = shard;
  const text = typeof given === 'string' ? given.trim() : show(given);
  const deliver = choiceOf(to, 'deliver', ['here', 'queue']);
  if (!cluster) {
    if (deliver === 'queue')
      throw notConfigured(
        "Uploads can go into a queue only if the application has a cluster. Choose one in the application's configuration.",
      );
    return { deliver, shard: text === '' ? undefined : readShard(substitute(RED, node, text)) };
  }
  if (recover === 'off')
    throw notConfigured(
      'Recover must not be off: the application has a cluster, which keeps the positions of its devices.',
    );
  if (text !== '')
    throw notConfigured(
      'The shard must be empty: the application has a cluster, which shares the devices.',
    );
  return { deliver, shard: undefined };
}
