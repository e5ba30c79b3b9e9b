import { IsolatedListener, type ChannelSubscription, type ChannelView } from '../channel/listener';
import type { Channels } from '../channel/pool';
import type { Cluster } from './cluster';
import { invalidInput } from '../errors';
import { parseForm } from '../history/form';
import type { Listen, Listening } from '../recovery/listen';
import type { RecoverOptions } from '../recovery/options';
import { parseZoneSetting } from '../history/zone';
import type { Place } from './place';
import { SharedDevice, type HistorySettings } from './shared-device';

/** Milliseconds until positions that could not be read are requested again, all of them together. */
const RETRY = 500;

/** The listeners of a client whose devices several processes share. */
export class SharedListening {
  private readonly devices = new Map<string, SharedDevice>();
  private readonly leave: () => void;
  /** Ends the claim of a share of the devices, which the first listener begins. */
  private endUse: (() => void) | undefined;
  private latest: HistorySettings = {};
  private retrying = new Set<SharedDevice>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly cluster: Cluster,
    private readonly listening: Listening,
    private readonly channels: Channels,
  ) {
    this.leave = cluster.listen({
      onShare: () => this.each((device) => device.update()),
      onState: (state) => {
        if (state === 'closed') this.each((device) => device.update());
      },
      onResumed: () => this.each((device) => device.resume()),
    });
  }

  /** As `listen` of the client. @throws DeviceCloudError `INVALID_INPUT` */
  readonly listen: Listen = (chipid, listener, options) => {
    if (!options)
      throw invalidInput(
        'A listener of a client with a cluster needs the option recover, since the cluster keeps positions.',
      );
    const device = this.deviceOf(chipid, options);
    this.endUse ??= this.cluster.use('listens');
    const isolated = new IsolatedListener(listener);
    const place: Place = { listener: isolated, deliver: options.deliver ?? 'here' };
    device.places.add(place);
    this.devices.set(chipid, device);
    if (device.places.size === 1) device.update();
    queueMicrotask(() => {
      // Callers assume that a channel is connecting until `onState` is called.
      if (device.state === 'elsewhere') isolated.onState('elsewhere', undefined);
    });
    return new SharedSubscription(device, () => this.release(device, place));
  };

  /** How histories are read: as the latest listener says, since all belong to one application. */
  get history(): HistorySettings {
    return this.latest;
  }

  close(): void {
    this.leave();
    this.endUse?.();
    clearTimeout(this.timer);
    this.each((device) => {
      device.leave();
      for (const { listener } of device.places) listener.release();
    });
    this.devices.clear();
  }

  private deviceOf(chipid: string, options: RecoverOptions): SharedDevice {
    const { encoding, zone } = options;
    // Checked here, since no channel is opened for a device of another process.
    parseForm(encoding);
    parseZoneSetting(zone);
    this.latest = { encoding, zone };
    const known = this.devices.get(chipid);
    if (known) return known;
    const { cluster, listening, channels } = this;
    const retry = (device: SharedDevice): void => this.retry(device);
    return new SharedDevice(chipid, { encoding, zone }, { cluster, listening, channels, retry });
  }

  private release(device: SharedDevice, place: Place): void {
    place.listener.release();
    if (!device.places.delete(place) || device.places.size > 0) return;
    if (this.devices.get(device.chipid) === device) this.devices.delete(device.chipid);
    device.update();
    if (this.devices.size > 0) return;
    this.endUse?.();
    this.endUse = undefined;
  }

  private each(change: (device: SharedDevice) => void): void {
    for (const device of [...this.devices.values()]) change(device);
  }

  private retry(device: SharedDevice): void {
    this.retrying.add(device);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const devices = this.retrying;
      this.retrying = new Set();
      for (const each of devices) each.update();
    }, RETRY);
  }
}

class SharedSubscription implements ChannelSubscription {
  constructor(
    readonly channel: ChannelView,
    readonly release: () => void,
  ) {}
}
