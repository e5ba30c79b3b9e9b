import type { Upload } from '../types';
import type { ChannelListener, ChannelState } from '../channel/listener';
import type { Bus } from './bus';
import type { Cluster } from './cluster';
import { uploadToText } from './upload-text';
import type { Listening, RecoveringChannel } from '../recovery/listen';
import { WANTED, type OwnerState } from './messages';
import type { HistorySettings } from './shared-device';
import { positionFromText } from './stored-position';

/** How many members may request one device. */
const MOST_MEMBERS = 100;

/** The dependencies that all passed devices of a client share. */
export interface PassedDeps {
  readonly bus: Pick<Bus, 'post'>;
  readonly cluster: Pick<Cluster, 'loadPosition'>;
  readonly listening: Pick<Listening, 'recover'>;
  /** How histories are read. */
  readonly history: () => HistorySettings;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

/** A device of this process whose uploads are passed on to the processes that have requested them. */
export class PassedDevice implements ChannelListener {
  /** When it was last requested. */
  wantedAt = 0;
  /** Until when each member wants it. */
  private readonly members = new Map<string, number>();
  private channel: RecoveringChannel | undefined;
  private wasComplete = false;
  private isClosed = false;

  /** @param again whether an earlier owner has passed uploads on: if so, those since the position are passed on, too */
  constructor(
    readonly chipid: string,
    readonly epoch: number,
    again: boolean,
    private readonly deps: PassedDeps,
  ) {
    if (again) void this.openAtPosition();
    else this.open();
  }

  get state(): OwnerState {
    const { chipid, epoch, channel } = this;
    const { state, reason } = channel?.channel ?? {
      state: 'connecting' as const,
      reason: undefined,
    };
    return { chipid, state, reason, isComplete: channel?.isComplete === true, epoch };
  }

  want(member: string): void {
    this.wantedAt = this.deps.now();
    if (this.members.has(member) || this.members.size < MOST_MEMBERS)
      this.members.set(member, this.wantedAt + WANTED.lasts);
  }

  /** Forgets members that have not repeated their request. */
  sweep(): void {
    for (const [member, until] of this.members)
      if (until < this.deps.now()) this.members.delete(member);
  }

  onUpload(upload: Upload): void {
    if (this.members.size === 0) return;
    const { chipid, epoch } = this;
    this.post('upload', { chipid, epoch, upload: uploadToText(upload) });
  }

  onState(state: ChannelState): void {
    // The recovery knows the new state already, before this listener.
    this.wasComplete = state === 'connected' && this.channel?.isComplete === true;
    this.post('state', { states: [this.state] });
  }

  close(): void {
    this.isClosed = true;
    this.channel?.release();
  }

  private open(start?: Parameters<Listening['recover']>[2]['start']): void {
    this.channel = this.deps.listening.recover(this.chipid, this, {
      ...this.deps.history(),
      start,
      save: () => {
        if (this.channel?.isComplete === true && !this.wasComplete) {
          this.wasComplete = true;
          this.post('state', { states: [this.state] });
        }
      },
    });
  }

  private async openAtPosition(): Promise<void> {
    const text = await this.deps.cluster.loadPosition(this.chipid).catch(() => undefined);
    const start = positionFromText(text);
    if (!this.isClosed) this.open(start === 'invalid' ? undefined : start);
  }

  private post(kind: string, data: object): void {
    for (const member of this.members.keys()) this.deps.bus.post(member, kind, data);
  }
}
