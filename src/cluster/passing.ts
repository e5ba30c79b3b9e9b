import type { ChannelListener, ChannelState } from '../channel/listener';
import type { Listening, RecoveringChannel } from '../recovery/listen';
import type { Position } from '../recovery/position';
import type { Upload } from '../types';
import type { Cluster } from './cluster';
import type { HistorySettings } from './listening';
import { readWanted, uploadToText, WANTED, type Bus, type OwnerState } from './messages';
import { positionFromText } from './positions';

/** The most devices whose uploads are passed on, and how many members may request one of them. */
const MOST = { devices: 20_000, members: 100 };

/** How long a channel stays open after the last request for it, in ms. */
const KEEP = 5 * 60_000;

interface PassingDeps {
  readonly bus: Pick<Bus, 'post'>;
  readonly cluster: Pick<Cluster, 'loadPosition'>;
  readonly listening: Pick<Listening, 'recover'>;
  /** How histories are read. */
  readonly history: () => HistorySettings;
}

/** A device of this process whose uploads are passed on to the processes that have requested them. */
class PassedDevice implements ChannelListener {
  readonly chipid: string;
  readonly epoch: number;
  /** When it was last requested. */
  wantedAt = 0;
  readonly #deps: PassingDeps;
  /** Until when each member wants it. */
  readonly #members = new Map<string, number>();
  #channel: RecoveringChannel | undefined;
  #wasComplete = false;
  #isClosed = false;

  /** @param again whether an earlier owner has passed uploads on: if so, those since the position are passed on, too */
  constructor(chipid: string, epoch: number, again: boolean, deps: PassingDeps) {
    this.chipid = chipid;
    this.epoch = epoch;
    this.#deps = deps;
    if (again) void this.#openAtPosition();
    else this.#open(undefined);
  }

  get state(): OwnerState {
    const { chipid, epoch } = this;
    const { state = 'connecting', reason } = this.#channel?.channel ?? {};
    return { chipid, state, reason, isComplete: this.#channel?.isComplete === true, epoch };
  }

  want(member: string): void {
    this.wantedAt = performance.now();
    if (this.#members.has(member) || this.#members.size < MOST.members)
      this.#members.set(member, this.wantedAt + WANTED.lasts);
  }

  /** Forgets members that have not repeated their request. */
  sweep(): void {
    const now = performance.now();
    for (const [member, until] of this.#members) if (until < now) this.#members.delete(member);
  }

  onUpload(upload: Upload): void {
    if (this.#members.size === 0) return;
    const { chipid, epoch } = this;
    this.#post('upload', { chipid, epoch, upload: uploadToText(upload) });
  }

  onState(state: ChannelState): void {
    // The recovery knows the new state already, before this listener.
    this.#wasComplete = state === 'connected' && this.#channel?.isComplete === true;
    this.#post('state', { states: [this.state] });
  }

  close(): void {
    this.#isClosed = true;
    this.#channel?.release();
  }

  #open(start: Position | undefined): void {
    this.#channel = this.#deps.listening.recover(this.chipid, this, {
      ...this.#deps.history(),
      start,
      save: () => {
        if (this.#wasComplete || this.#channel?.isComplete !== true) return;
        this.#wasComplete = true;
        this.#post('state', { states: [this.state] });
      },
    });
  }

  async #openAtPosition(): Promise<void> {
    const { cluster } = this.#deps;
    const start = positionFromText(await cluster.loadPosition(this.chipid).catch(() => undefined));
    if (!this.#isClosed) this.#open(start === 'invalid' ? undefined : start);
  }

  #post(kind: string, data: object): void {
    for (const member of this.#members.keys()) this.#deps.bus.post(member, kind, data);
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
  listening: Pick<Listening, 'recover'>,
  history: () => HistorySettings,
): () => void {
  const devices = new Map<string, PassedDevice>();
  let timer: NodeJS.Timeout | undefined;

  /** Releases devices that another process holds by now, or that have not been requested for long. */
  const check = (): void => {
    for (const device of devices.values()) {
      device.sweep();
      const isOld = performance.now() - device.wantedAt > KEEP;
      if (!isOld && cluster.epochOf(device.chipid) === device.epoch) continue;
      device.close();
      devices.delete(device.chipid);
    }
    if (devices.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const deviceOf = (chipid: string, again: boolean): PassedDevice | undefined => {
    const epoch = cluster.epochOf(chipid);
    if (epoch === undefined) return undefined;
    const known = devices.get(chipid);
    if (known?.epoch === epoch) return known;
    known?.close();
    if (!known && devices.size >= MOST.devices) {
      cluster.report(`other processes ask for more than ${MOST.devices} devices`, 'wanted');
      return undefined;
    }
    const device = new PassedDevice(chipid, epoch, again, { bus, cluster, listening, history });
    devices.set(chipid, device);
    timer ??= setInterval(check, WANTED.again);
    return device;
  };
  bus.on('want', ({ devices: wanted }, from) => {
    const states: OwnerState[] = [];
    for (const [chipid, again] of readWanted(wanted)) {
      const device = deviceOf(chipid, again);
      if (!device) continue;
      device.want(from);
      states.push(device.state);
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
