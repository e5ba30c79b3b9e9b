import type { Channels } from '../channel/pool';
import {
  IsolatedListener,
  type ChannelListener,
  type ChannelState,
  type ChannelSubscription,
  type ChannelView,
} from '../channel/listener';
import { invalidInput } from '../errors';
import { arrivalKeys, type BodyKeys, parseForm } from '../history/form';
import { parseZoneSetting } from '../history/zone';
import type { Listen, Listening, RecoverHere } from '../recovery/listen';
import type { Deliver } from '../recovery/options';
import type { Position } from '../recovery/position';
import type { Upload } from '../types';
import type { Cluster } from './cluster';
import { positionFromText, positionToText, uploadToText } from './messages';

/** The most keys in a position. If a longer batch is interrupted, its first part is recovered again. */
const MOST_KEYS = 10_000;

/** A listener of a device, and where its uploads are delivered. */
export interface Place {
  readonly listener: IsolatedListener;
  readonly deliver: Deliver;
}

type EmittingCluster = Pick<Cluster, 'mayEmit'> & {
  readonly positions: Pick<Cluster['positions'], 'save' | 'append'>;
};

/**
 * Emits the uploads of one device: to its listeners, or into the queue, each with its position. Nothing is emitted
 * while the cluster does not allow it.
 */
export class Gate {
  /** The position of what was emitted. */
  position: Position | undefined = undefined;
  readonly #chipid: string;
  readonly #cluster: EmittingCluster;
  readonly #places: ReadonlySet<Place>;
  /** Keys of the uploads that were emitted after the position, if there is one. */
  #left: BodyKeys[] = [];
  /** Uploads for the queue that do not have a position yet, as texts. */
  #queued: string[] = [];
  /** To be written as soon as what was emitted has reached the flow. */
  #unsaved: Position | undefined;

  constructor(chipid: string, cluster: EmittingCluster, places: ReadonlySet<Place>) {
    this.#chipid = chipid;
    this.#cluster = cluster;
    this.#places = places;
  }

  /** Emits an upload. @returns false if nothing may be emitted now */
  pass(upload: Upload): boolean {
    if (!this.#cluster.mayEmit(this.#chipid)) return false;
    const places = [...this.#places];
    // Before the listeners are called, since a flow may change the bytes.
    if (this.position) this.#left.push(arrivalKeys(upload.body));
    if (places.some(({ deliver }) => deliver === 'queue')) this.#enqueue(upload);
    let isShared = false;
    for (const { listener, deliver } of places) {
      if (deliver === 'queue') continue;
      listener.onUpload(isShared ? { ...upload, body: Buffer.from(upload.body) } : upload);
      isShared = true;
    }
    return true;
  }

  /** Sets the position up to which uploads have been emitted. */
  save(position: Position): void {
    const before = this.position;
    this.position = position;
    this.#left = [];
    if (this.#queued.length > 0) {
      this.#unsaved = undefined;
      this.#append(before, position);
      return;
    }
    // Node-RED passes a message on in the next turn, and drops it if it is stopped before that.
    if (!this.#unsaved) setImmediate(() => this.flush());
    this.#unsaved = position;
  }

  /** Interrupts a batch. What was emitted of it is after the position: its keys keep it from being recovered again. */
  breakOff(): void {
    const { position } = this;
    const left = this.#left;
    if (position && left.length > 0 && left.length <= MOST_KEYS)
      this.save({
        ...position,
        keys: [...(position.keys ?? []), ...left.map((keys) => keys.join())],
      });
    this.#left = [];
  }

  /** Writes the position of what was emitted, without waiting for the turn to end. */
  flush(): void {
    const position = this.#unsaved;
    this.#unsaved = undefined;
    if (position) this.#cluster.positions.save(this.#chipid, positionToText(position));
  }

  /** The last listener has left: what was emitted in this turn will be emitted again to the next one. */
  close(): void {
    this.#unsaved = undefined;
  }

  #enqueue(upload: Upload): void {
    // For a device that has no position yet.
    if (this.#queued.length === 0) queueMicrotask(() => this.#append(this.position, this.position));
    this.#queued.push(uploadToText(upload));
  }

  /** Uploads that arrive together share the position of the last one. */
  #append(before: Position | undefined, after: Position | undefined): void {
    const queued = this.#queued;
    if (queued.length === 0) return;
    this.#queued = [];
    const earlier = before ? positionToText(before) : '';
    const last = after ? positionToText(after) : '';
    for (const [index, upload] of queued.entries()) {
      const position = index === queued.length - 1 ? last : earlier;
      this.#cluster.positions.append(this.#chipid, position, upload);
    }
    // Written after them: what listeners here were given as well counts as emitted, which is allowed only in time.
    if (last !== '' && [...this.#places].some(({ deliver }) => deliver !== 'queue'))
      this.#cluster.positions.save(this.#chipid, last);
  }
}

/** Milliseconds until positions that could not be read are requested again, all of them together. */
const RETRY = 500;

const INVALID =
  'The position stored in the cluster is invalid: uploads that came before now are not recovered.';

/** How a history is read: as the first listener of a device says, for all its listeners. */
export type HistorySettings = Pick<RecoverHere, 'encoding' | 'zone'>;

/** What all shared devices of a client have in common. */
interface Shared {
  readonly cluster: Cluster;
  readonly listening: Pick<Listening, 'recover'>;
  readonly channels: Pick<Channels, 'join'>;
  /** Calls {@link SharedDevice.update} again soon. */
  readonly retry: () => void;
}

/**
 * A device with listeners here. Its channel is open, and its uploads are emitted, while this process holds the device.
 * All listeners share one position.
 */
class SharedDevice implements ChannelListener, ChannelView {
  state: ChannelState = 'elsewhere';
  reason: string | undefined = undefined;
  readonly chipid: string;
  readonly places = new Set<Place>();
  readonly #settings: HistorySettings;
  readonly #shared: Shared;
  /** The epoch of the claim under which the channel is open; undefined while another process holds the device. */
  #epoch: number | undefined;
  #gate: Gate;
  /** Recovers and emits; undefined while the position is being read, or nothing may be emitted. */
  #recovering: ChannelSubscription | undefined;
  /** Keeps the channel open while nothing may be emitted. */
  #waiting: ChannelSubscription | undefined;
  #isLoading = false;

  constructor(chipid: string, settings: HistorySettings, shared: Shared) {
    this.chipid = chipid;
    this.#settings = settings;
    this.#shared = shared;
    this.#gate = new Gate(chipid, shared.cluster, this.places);
  }

  /** The device may have another owner now, or what failed before may be possible. */
  update(): void {
    const epoch = this.places.size > 0 ? this.#shared.cluster.epochOf(this.chipid) : undefined;
    if (epoch !== this.#epoch) {
      this.leave();
      this.#epoch = epoch;
      this.onState(epoch === undefined ? 'elsewhere' : 'connecting');
    }
    if (epoch !== undefined && !this.#recovering && !this.#waiting && !this.#isLoading)
      void this.#load(epoch);
  }

  /** Uploads that were refused may be emitted now. */
  resume(): void {
    if (!this.#waiting || this.#shared.cluster.epochOf(this.chipid) !== this.#epoch) return;
    this.#recover();
    this.#waiting.release();
    this.#waiting = undefined;
  }

  onUpload(upload: Upload): void {
    if (this.#gate.pass(upload)) return;
    // The history contains what was refused, and all that follows. The channel stays open.
    this.#waiting ??= this.#shared.channels.join(this.chipid, {
      onState: (state, reason) => this.onState(state, reason),
    });
    this.#stop();
  }

  onState(state: ChannelState, reason?: string): void {
    if (state === this.state && reason === this.reason) return;
    this.state = state;
    this.reason = reason;
    this.#each((listener) => listener.onState(state, reason));
  }

  onFault(fault: string, kind?: string): void {
    this.#each((listener) => listener.onFault(fault, kind));
  }

  onGap(): void {
    this.#each((listener) => listener.onGap());
  }

  /** Leaves the channel without calling any listener. */
  leave(): void {
    this.#stop();
    this.#waiting?.release();
    this.#waiting = undefined;
    this.#epoch = undefined;
    if (this.places.size > 0) this.#gate.flush();
    else this.#gate.close();
    this.#gate = new Gate(this.chipid, this.#shared.cluster, this.places);
  }

  async #load(epoch: number): Promise<void> {
    this.#isLoading = true;
    const position = await this.#shared.cluster.positions
      .load(this.chipid)
      .then(positionFromText, () => 'unread' as const);
    this.#isLoading = false;
    if (this.#epoch !== epoch) this.update();
    else if (position === 'unread') this.#shared.retry();
    else {
      if (position === 'invalid') this.onFault(INVALID, 'stored position');
      else this.#gate.position = position;
      this.#recover();
    }
  }

  /** Joins the channel, and recovers what was uploaded since the position. */
  #recover(): void {
    const gate = this.#gate;
    this.#recovering = this.#shared.listening.recover(this.chipid, this, {
      ...this.#settings,
      start: gate.position,
      save: (position: Position) => gate.save(position),
      isShared: true,
    });
    // Another part of the client may have opened the channel already.
    const { state, reason } = this.#recovering.channel;
    this.onState(state, reason);
  }

  #each(call: (listener: IsolatedListener) => void): void {
    for (const { listener } of [...this.places]) call(listener);
  }

  #stop(): void {
    this.#recovering?.release();
    this.#recovering = undefined;
    this.#gate.breakOff();
  }
}

/** Shares the listeners of a client with other processes. */
export function shareListening(
  cluster: Cluster,
  listening: Pick<Listening, 'recover'>,
  channels: Pick<Channels, 'join'>,
): {
  readonly listen: Listen;
  /** How histories are read: as the latest listener says, since all belong to one application. */
  readonly history: () => HistorySettings;
  readonly close: () => void;
} {
  const devices = new Map<string, SharedDevice>();
  /** Ends the claim of a share of the devices, which the first listener begins. */
  let endUse: (() => void) | undefined;
  let history: HistorySettings = {};
  let timer: NodeJS.Timeout | undefined;

  const updateAll = (): void => {
    for (const device of [...devices.values()]) device.update();
  };
  const retry = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      updateAll();
    }, RETRY);
  };
  const leave = cluster.listen({
    onShare: updateAll,
    onState: (state) => state === 'closed' && updateAll(),
    onResumed() {
      for (const device of [...devices.values()]) device.resume();
    },
  });
  const release = (device: SharedDevice, place: Place): void => {
    place.listener.release();
    if (!device.places.delete(place) || device.places.size > 0) return;
    if (devices.get(device.chipid) === device) devices.delete(device.chipid);
    device.update();
    if (devices.size > 0) return;
    endUse?.();
    endUse = undefined;
  };

  return {
    listen(chipid, listener, options) {
      if (!options)
        throw invalidInput(
          'A listener of a client with a cluster needs the option recover, since the cluster keeps positions.',
        );
      const { encoding, zone, deliver = 'here' } = options;
      const isolated = new IsolatedListener(listener);
      // Checked here, since no channel is opened for a device of another process.
      parseForm(encoding);
      parseZoneSetting(zone);
      history = { encoding, zone };
      const device =
        devices.get(chipid) ??
        new SharedDevice(chipid, history, { cluster, listening, channels, retry });
      endUse ??= cluster.claims.use('listens');
      const place: Place = { listener: isolated, deliver };
      device.places.add(place);
      devices.set(chipid, device);
      if (device.places.size === 1) device.update();
      queueMicrotask(() => {
        // Callers assume that a channel is connecting until `onState` is called.
        if (device.state === 'elsewhere') isolated.onState('elsewhere', undefined);
      });
      return { channel: device, release: () => release(device, place) };
    },
    history: () => history,
    close() {
      leave();
      endUse?.();
      endUse = undefined;
      clearTimeout(timer);
      for (const device of devices.values()) {
        device.leave();
        for (const { listener } of device.places) listener.release();
      }
      devices.clear();
    },
  };
}
