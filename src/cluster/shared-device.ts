import type { Channels } from '../channel/pool';
import type { Upload } from '../types';
import type {
  ChannelListener,
  ChannelState,
  ChannelSubscription,
  ChannelView,
} from '../channel/listener';
import type { Cluster } from './cluster';
import type { Listening, RecoverHere } from '../recovery/listen';
import type { Position } from '../recovery/position';
import { Gate } from './gate';
import type { Place } from './place';
import { positionFromText } from './stored-position';

/** The dependencies that all shared devices of a client have in common. */
export interface SharedDeviceDeps {
  readonly cluster: Cluster;
  readonly listening: Pick<Listening, 'recover'>;
  readonly channels: Pick<Channels, 'join'>;
  /** Calls {@link SharedDevice.update} again soon. */
  readonly retry: (device: SharedDevice) => void;
}

/** How a history is read: as the first listener of a device says, for all its listeners. */
export type HistorySettings = Pick<RecoverHere, 'encoding' | 'zone'>;

const INVALID =
  'the position stored in the cluster is invalid: uploads that came before now are not recovered';

/**
 * A device with listeners here. Its channel is open, and its uploads are emitted, while this process holds the device.
 * All listeners share one position.
 */
export class SharedDevice implements ChannelListener, ChannelView {
  state: ChannelState = 'elsewhere';
  reason: string | undefined = undefined;
  readonly places = new Set<Place>();
  /** The epoch of the claim under which the channel is open; undefined while another process holds the device. */
  private epoch: number | undefined;
  private gate: Gate;
  /** Recovers and emits; undefined while the position is being read, or nothing may be emitted. */
  private recovering: ChannelSubscription | undefined;
  /** Keeps the channel open while nothing may be emitted. */
  private waiting: ChannelSubscription | undefined;
  private isLoading = false;

  constructor(
    readonly chipid: string,
    private readonly settings: HistorySettings,
    private readonly deps: SharedDeviceDeps,
  ) {
    this.gate = this.newGate();
  }

  /** The device may have another owner now, or what failed before may be possible. */
  update(): void {
    const epoch = this.places.size > 0 ? this.deps.cluster.epochOf(this.chipid) : undefined;
    if (epoch !== this.epoch) {
      this.leave();
      this.epoch = epoch;
      this.show(epoch === undefined ? 'elsewhere' : 'connecting');
    }
    if (epoch !== undefined && !this.recovering && !this.waiting && !this.isLoading)
      void this.load(epoch);
  }

  /** Uploads that were refused may be emitted now. */
  resume(): void {
    if (!this.waiting || this.deps.cluster.epochOf(this.chipid) !== this.epoch) return;
    this.recover();
    this.waiting.release();
    this.waiting = undefined;
  }

  onUpload(upload: Upload): void {
    if (this.gate.pass(upload)) return;
    const { deps, chipid } = this;
    // The history contains what was refused, and all that follows. The channel stays open.
    this.waiting ??= deps.channels.join(chipid, {
      onState: (state, reason) => this.show(state, reason),
    });
    this.stop();
  }

  onState(state: ChannelState, reason?: string): void {
    this.show(state, reason);
  }

  onFault(fault: string, kind?: string): void {
    for (const { listener } of [...this.places]) listener.onFault(fault, kind);
  }

  onGap(): void {
    for (const { listener } of [...this.places]) listener.onGap();
  }

  /** Leaves the channel without calling any listener. */
  leave(): void {
    this.stop();
    this.waiting?.release();
    this.waiting = undefined;
    this.epoch = undefined;
    if (this.places.size > 0) this.gate.flush();
    else this.gate.close();
    this.gate = this.newGate();
  }

  private async load(epoch: number): Promise<void> {
    this.isLoading = true;
    const loaded = await this.deps.cluster.loadPosition(this.chipid).then(
      (text) => ({ text }),
      () => undefined,
    );
    this.isLoading = false;
    if (this.epoch !== epoch) {
      this.update();
      return;
    }
    if (!loaded) {
      this.deps.retry(this);
      return;
    }
    const position = positionFromText(loaded.text);
    if (position === 'invalid') this.onFault(INVALID, 'stored position');
    else this.gate.position = position;
    this.recover();
  }

  /** Joins the channel, and recovers what was uploaded since the position. */
  private recover(): void {
    const { deps, chipid, settings, gate } = this;
    this.recovering = deps.listening.recover(chipid, this, {
      ...settings,
      start: gate.position,
      save: (position: Position) => gate.save(position),
      isShared: true,
    });
    // Another part of the client may have opened the channel already.
    const { state, reason } = this.recovering.channel;
    this.show(state, reason);
  }

  private stop(): void {
    this.recovering?.release();
    this.recovering = undefined;
    this.gate.breakOff();
  }

  private newGate(): Gate {
    return new Gate(this.chipid, this.deps.cluster, this.places);
  }

  private show(state: ChannelState, reason?: string): void {
    if (state === this.state && reason === this.reason) return;
    this.state = state;
    this.reason = reason;
    for (const { listener } of [...this.places]) listener.onState(state, reason);
  }
}
