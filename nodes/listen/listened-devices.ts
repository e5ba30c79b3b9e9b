import type { NodeStatus } from 'node-red';
import {
  type AckOptions,
  type AckSubscription,
  HISTORY_NOT_UNDERSTOOD,
  HISTORY_UNDERSTOOD,
  type ChannelListener,
  type ChannelState,
  type ChannelSubscription,
  type DeviceCloudClient,
  ELSEWHERE,
  isPosition,
  type Keeping,
  type Position,
  type RecoverOptions,
  type WaitingUpload,
} from '../../src/index';
import { STATUS } from '../common/status';

/** Makes a position: with each upload, there is another. */
type Make = () => Position;

/** A position that is made when it is written. Until then, the store need not be told that there is a later one. */
class Later {
  isWritten = false;

  constructor(public make: Make) {}

  toJSON(): Position {
    this.isWritten = true;
    return this.make();
  }
}

/** A device that has sent. */
class Sender {
  /** Of what it has sent in this turn. */
  now: Make | undefined;
  saved: Later | undefined;

  constructor(readonly key: string) {}
}

/**
 * How far the uploads of each device have been emitted. Node-RED passes a message on in the next turn, and drops it if it is
 * stopped before, so that a position counts a turn later, too.
 */
export class Positions {
  /** Not filled anew in each turn, which would cost more than all else that is done here with an upload. */
  readonly #senders = new Map<string, Sender>();
  /** Those that have sent in this turn. */
  #sent: Sender[] = [];
  readonly #store: Keeping;
  readonly #prefix: string;
  readonly #passOn = (): void => {
    for (const sender of this.#sent) {
      const { now, saved, key } = sender;
      if (!now) continue;
      sender.now = undefined;
      if (saved && !saved.isWritten && this.#store.get(key) === saved) saved.make = now;
      else this.#store.update(key, (sender.saved = new Later(now)));
    }
    this.#sent = [];
  };

  /** @param node the id of the listener */
  constructor(store: Keeping, node: string) {
    this.#store = store;
    this.#prefix = `position:${node}:`;
  }

  get(chipid: string): Position | undefined {
    const now = this.#senders.get(chipid)?.now;
    if (now) return now();
    const value = this.#store.get(this.#prefix + chipid);
    const position: unknown = value instanceof Later ? value.toJSON() : value;
    return isPosition(position) ? position : undefined;
  }

  /** A message of a device was sent. @param position makes it, once it is written */
  set(chipid: string, position: Make): void {
    let sender = this.#senders.get(chipid);
    if (!sender) this.#senders.set(chipid, (sender = new Sender(this.#prefix + chipid)));
    if (!sender.now && this.#sent.push(sender) === 1) setImmediate(this.#passOn);
    sender.now = position;
  }

  forget(chipid: string): void {
    this.#drop(chipid);
    const key = this.#prefix + chipid;
    if (this.#store.get(key) !== undefined) this.#store.update(key, undefined);
  }

  /** Node-RED drops what it has not passed on yet. */
  close(): void {
    for (const chipid of this.#senders.keys()) this.#drop(chipid);
  }

  #drop(chipid: string): void {
    const sender = this.#senders.get(chipid);
    if (sender) sender.now = undefined;
    this.#senders.delete(chipid);
  }
}

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
class ListenedDevice implements ChannelListener {
  state: ChannelState = 'connecting';
  reason: string | undefined = undefined;
  /** Its history does not contain what arrived live: missed uploads are not recovered. */
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

/** Milliseconds. */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Live uploads come, those that were missed do not. */
const HISTORY_UNCLEAR: NodeStatus = {
  fill: 'yellow',
  shape: 'dot',
  text: 'status.history-unclear',
};

/** What comes before the first reading of a history is lost if the process ends. */
const FIRST_READING: NodeStatus = { fill: 'yellow', shape: 'dot', text: 'status.first-reading' };

/** What usual flows take is not shown, and seconds only by tens, in milliseconds. */
const BRIEF = 1000;
const TENS = 10_000;

/** How many devices wait for an acknowledgement, and how long the first of them has. The units are the same in all languages. */
function waitingText(count: number, longest: number): string {
  const age =
    longest < MINUTE
      ? `${Math.floor(longest / TENS) * 10} s`
      : longest < HOUR
        ? `${Math.floor(longest / MINUTE)} min`
        : longest < DAY
          ? `${Math.floor(longest / HOUR)} h`
          : `${Math.floor(longest / DAY)} d`;
  return longest < TENS ? `⏳ ${count}` : `⏳ ${count} · ${age}`;
}

/**
 * What a listener shows for all its channels together: `connected`; `3/5` when there are several; and what waits for an
 * acknowledgement, with what is wrong with the channels before it. While the history of any of them is not understood, it says so
 * instead.
 * @param isKept whether the positions survive a restart, where they are meant to
 */
function channelsStatus(states: Iterable<ListenedDevice>, isKept: boolean): NodeStatus {
  const all = [...states];
  const here = all.filter(({ reason }) => reason !== ELSEWHERE);
  const total = here.length;
  if (total === 0) return all.length > 0 ? STATUS.elsewhere : STATUS.noDevices;
  const connected = here.filter(({ state }) => state === 'connected').length;
  if (connected > 0) {
    if (here.some(({ isHistoryUnclear }) => isHistoryUnclear)) return HISTORY_UNCLEAR;
    if (!isKept) return STATUS.notKept;
    if (here.some(({ waiting }) => waiting?.hasPosition === false)) return FIRST_READING;
  }
  const refused = here.find(({ reason }) => reason === '401' || reason === '403')?.reason;
  const isConnecting = here.some(({ state }) => state === 'connecting');
  const waits = here.flatMap(({ waiting }) => waiting?.waitedFor ?? []);
  const longest = waits.reduce((before, each) => Math.max(before, each), 0);
  if (longest >= BRIEF) {
    const text = waitingText(waits.length, longest);
    if (connected === total) return { fill: 'blue', shape: 'dot', text };
    const isDown = refused !== undefined || (connected === 0 && !isConnecting);
    const what = refused ?? `${connected}/${total}`;
    return { fill: isDown ? 'red' : 'yellow', shape: 'ring', text: `${what} ${text}` };
  }
  if (connected > 0)
    return all.length > 1
      ? { ...STATUS.connected, text: `${connected}/${total}` }
      : STATUS.connected;
  if (refused !== undefined) return STATUS.unauthorized;
  return isConnecting ? STATUS.connecting : STATUS.disconnected;
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

  /** @param isKept whether the positions survive a restart, where they are meant to */
  status(isKept: boolean): NodeStatus {
    return channelsStatus(this.#devices.values(), isKept);
  }

  close(): void {
    for (const { subscription } of this.#devices.values()) subscription?.release();
    this.#devices.clear();
  }
}
