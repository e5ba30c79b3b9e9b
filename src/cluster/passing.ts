import type { Bus } from './bus';
import type { Cluster } from './cluster';
import type { Listening } from '../recovery/listen';
import { readWanted, WANTED, type OwnerState } from './messages';
import type { HistorySettings } from './shared-device';
import { PassedDevice } from './passed-device';

/** The most devices whose uploads are passed on. */
const MOST = 20_000;

/** How long a channel stays open after the last request for it, in ms. */
const KEEP = 5 * 60_000;

/** The devices of this process that others have requested. */
export class Passing {
  private readonly devices = new Map<string, PassedDevice>();
  private readonly leave: () => void;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly bus: Bus,
    private readonly listening: Listening,
    private readonly history: () => HistorySettings,
  ) {
    bus.on('want', ({ devices }, from) => this.want(devices, from));
    this.leave = cluster.listen({
      onShare: () => this.check(),
      onState: (state) => state === 'closed' && this.check(),
    });
  }

  close(): void {
    this.leave();
    clearInterval(this.timer);
    for (const device of this.devices.values()) device.close();
    this.devices.clear();
  }

  private want(wanted: unknown, member: string): void {
    const states: OwnerState[] = [];
    for (const [chipid, again] of readWanted(wanted)) {
      const device = this.deviceOf(chipid, again);
      if (!device) continue;
      device.want(member);
      states.push(device.state);
    }
    if (states.length > 0) this.bus.post(member, 'state', { states });
  }

  private deviceOf(chipid: string, again: boolean): PassedDevice | undefined {
    const epoch = this.cluster.epochOf(chipid);
    if (epoch === undefined) return undefined;
    const known = this.devices.get(chipid);
    if (known?.epoch === epoch) return known;
    known?.close();
    if (!known && this.devices.size >= MOST) {
      this.cluster.report(`other processes ask for more than ${MOST} devices`, 'wanted');
      return undefined;
    }
    const { bus, cluster, listening, history } = this;
    const now = (): number => performance.now();
    const device = new PassedDevice(chipid, epoch, again, {
      ...{ bus, cluster, listening, history, now },
    });
    this.devices.set(chipid, device);
    this.timer ??= setInterval(() => this.check(), WANTED.again);
    return device;
  }

  /** Releases devices that another process holds by now, or that have not been requested for long. */
  private check(): void {
    for (const device of this.devices.values()) {
      device.sweep();
      const isOld = performance.now() - device.wantedAt > KEEP;
      if (!isOld && this.cluster.epochOf(device.chipid) === device.epoch) continue;
      device.close();
      this.devices.delete(device.chipid);
    }
    if (this.devices.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
