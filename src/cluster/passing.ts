import type { ChannelListener, ChannelState } from '../channel/listener';
import type { Listening, RecoveringChannel } from '../recovery/listen';
import type { Position } from '../recovery/position';
import type { Upload } from '../types';
import type { Cluster } from './cluster';
import type { HistorySettings } from './listening';
import { isChipid, itemsOf, startFrom, uploadToText, WANTED } from './messages';
import type { Bus, OwnerState, Wanted } from './messages';

/** The most devices whose uploads are passed on, and how many members may request one of them. */
const MOST = { devices: 20_000, members: 100 };

/** How long a channel stays open after the last request for it, in ms. */
const KEEP = 5 * 60_000;

const isWanted = (each: unknown): each is Wanted => Array.isArray(each) && isChipid(each[0]);

/** A device of this process whose uploads are passed on to the processes that have requested them. */
class PassedDevice implements ChannelListener {
  readonly chipid: string;
  readonly epoch: number;
  readonly #bus: Pick<Bus, 'post'>;
  /** When it was last requested. */
  #wantedAt = 0;
  /** Until when each member wants it. */
  readonly #members = new Map<string, number>();
  #channel: RecoveringChannel | undefined;
  #wasComplete = false;
  #isClosed = false;

  constructor(chipid: string, epoch: number, bus: Pick<Bus, 'post'>) {
    this.chipid = chipid;
    this.epoch = epoch;
    this.#bus = bus;
  }

  get state(): OwnerState {
    const { chipid, epoch } = this;
    const { state = 'connecting', reason } = this.#channel?.channel ?? {};
    return { chipid, state, reason, isComplete: this.#channel?.isComplete === true, epoch };
  }

  /** Joins the channel. @param start from where uploads are passed on; default: from now on */
  open(recover: Listening['recover'], settings: HistorySettings, start?: Position): void {
    if (this.#isClosed) return;
    const save = (): void => {
      if (!this.#wasComplete && this.#channel?.isComplete === true) this.#postState(true);
    };
    this.#channel = recover(this.chipid, this, { ...settings, start, save });
  }

  want(member: string): void {
    this.#wantedAt = performance.now();
    if (this.#members.has(member) || this.#members.size < MOST.members)
      this.#members.set(member, this.#wantedAt + WANTED.lasts);
  }

  /** Forgets members that have not repeated their request. @returns whether any has of late */
  sweep(): boolean {
    const now = performance.now();
    for (const [member, until] of this.#members) if (until < now) this.#members.delete(member);
    return now - this.#wantedAt <= KEEP;
  }

  onUpload(upload: Upload): void {
    if (this.#members.size === 0) return;
    const { chipid, epoch } = this;
    this.#post('upload', { chipid, epoch, upload: uploadToText(upload) });
  }

  onState(state: ChannelState): void {
    // The recovery knows the new state already, before this listener.
    this.#postState(state === 'connected' && this.#channel?.isComplete === true);
  }

  close(): void {
    this.#isClosed = true;
    this.#channel?.release();
  }

  #postState(isComplete: boolean): void {
    this.#wasComplete = isComplete;
    this.#post('state', { states: [this.state] });
  }

  #post(kind: string, data: object): void {
    for (const member of this.#members.keys()) this.#bus.post(member, kind, data);
  }
}

/**
 * Passes the uploads of this process's devices on to the processes that request them.
 * @param history how histories are read
 * @returns a function that ends it
 */
export function passUploads(
  cluster: Cluster,
  bus: Bus,
  { recover }: Pick<Listening, 'recover'>,
  history: () => HistorySettings,
): () => void {
  const devices = new Map<string, PassedDevice>();
  let timer: NodeJS.Timeout | undefined;

  /** Releases devices that another process holds by now, or that have not been requested for long. */
  const check = (): void => {
    for (const device of devices.values()) {
      if (device.sweep() && cluster.epochOf(device.chipid) === device.epoch) continue;
      device.close();
      devices.delete(device.chipid);
    }
    if (devices.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  /** @param again whether an earlier owner has passed uploads on: if so, those since the position are passed on, too */
  const deviceOf = (chipid: string, again: boolean): PassedDevice | undefined => {
    const epoch = cluster.epochOf(chipid);
    const known = devices.get(chipid);
    if (epoch === undefined) return undefined;
    if (known?.epoch === epoch) return known;
    known?.close();
    if (!known && devices.size >= MOST.devices) {
      cluster.report(`Other processes ask for more than ${MOST.devices} devices.`, 'wanted');
      return undefined;
    }
    const device = new PassedDevice(chipid, epoch, bus);
    devices.set(chipid, device);
    timer ??= setInterval(check, WANTED.again);
    if (again)
      void startFrom(cluster.positions, chipid).then((start) =>
        device.open(recover, history(), start),
      );
    else device.open(recover, history());
    return device;
  };
  bus.on('want', ({ devices: wanted }, from) => {
    const states: OwnerState[] = [];
    for (const [chipid, again] of itemsOf(wanted).filter(isWanted)) {
      const device = deviceOf(chipid, again);
      device?.want(from);
      if (device) states.push(device.state);
    }
    if (states.length > 0) bus.post(from, 'state', { states });
  });
  const leave = cluster.listen({
    onShare: check,
    onState: (state) => state === 'closed' && check(),
  });
  return () => {
    leave();
    clearInterval(timer);
    for (const device of devices.values()) device.close();
    devices.clear();
  };
}
