import { KeptSubscriptions } from '../channel/pool';
import { broken, notConnected, type ChannelPush } from '../channel/push';
import type { Bus } from './bus';
import type { Cluster } from './cluster';
import { DeviceCloudError, isDeviceCloudError, type ErrorCode } from '../errors';
import type { Deadline, Deadlines } from '../http/deadline';
import { decodeBase64 } from '../util/base64';
import { oneLine } from '../util/show';
import type { ChannelListener } from '../channel/listener';
import type { Followed } from './followed';
import { isChipid } from './messages';

/** The most pushes of other processes that are under way here. */
const MOST = 1000;

/** The longest time that a push of another process may take here, in seconds. */
const LONGEST = 600;

const MAX_TEXT = 500;

const CODES: readonly ErrorCode[] = ['NOT_CONNECTED', 'CONNECTION_LOST', 'TIMEOUT'];

export interface RemotePushDeps {
  readonly cluster: Pick<Cluster, 'owns' | 'report'>;
  readonly bus: Bus;
  /** Pushes over the channels of this process. */
  readonly local: ChannelPush;
  readonly deadlines: Deadlines;
  readonly follow: (chipid: string, listener: ChannelListener) => Followed;
}

type Settle = (error?: DeviceCloudError) => void;

/** A device whose channel is kept open for pushes, and the pushes that wait for it. */
class PushedDevice implements ChannelListener {
  readonly followed: Followed;
  readonly waiting = new Set<() => void>();

  constructor(chipid: string, follow: RemotePushDeps['follow']) {
    this.followed = follow(chipid, this);
  }

  onState(): void {
    for (const look of [...this.waiting]) look();
  }

  release(): void {
    this.followed.release();
  }
}

/** Pushes over channels that are open in any process. */
export class RemotePush implements ChannelPush {
  private readonly kept = new KeptSubscriptions<PushedDevice>();
  /** Pushes whose outcome another process is to report. */
  private readonly pending = new Map<string, Settle>();
  private count = 0;
  private serving = 0;

  constructor(private readonly deps: RemotePushDeps) {
    deps.bus.on('push', (data, from) => void this.serve(data, from));
    deps.bus.on('pushed', ({ id, code, message }) => {
      this.pending.get(String(id))?.(errorOf(code, message));
    });
  }

  async push(chipid: string, bytes: Buffer, seconds: number, signal?: AbortSignal): Promise<void> {
    const { cluster, local, deadlines, follow } = this.deps;
    if (cluster.owns(chipid)) return local.push(chipid, bytes, seconds, signal);
    const began = performance.now();
    const deadline = deadlines.start(seconds, signal);
    const device = this.kept.use(chipid, () => new PushedDevice(chipid, follow));
    try {
      await this.connected(chipid, device, deadline);
      const { owner } = device.followed;
      if (owner !== undefined) await this.send(chipid, owner, bytes, deadline);
      else await local.push(chipid, bytes, seconds - (performance.now() - began) / 1000, signal);
    } finally {
      deadline.clear();
      this.kept.leave(chipid, device);
    }
  }

  close(): void {
    this.kept.close();
    this.deps.local.close();
  }

  private connected(chipid: string, device: PushedDevice, deadline: Deadline): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (device.followed.state !== 'connected') return;
        device.waiting.delete(look);
        resolve();
      };
      device.waiting.add(look);
      deadline.listen(({ detail }) => {
        device.waiting.delete(look);
        reject(notConnected(chipid, detail ?? device.followed.reason));
      });
      look();
    });
  }

  /** From here on it is unknown whether the owner has sent the push, until it reports the outcome. */
  private send(chipid: string, owner: string, bytes: Buffer, deadline: Deadline): Promise<void> {
    const id = `${++this.count}`;
    const { bus } = this.deps;
    const { seconds } = deadline;
    return new Promise<void>((resolve, reject) => {
      this.pending.set(id, (error) => (error ? reject(error) : resolve()));
      deadline.listen((end) => reject(broken(chipid, end, seconds)));
      const body = bytes.toString('base64');
      // A failed publication may have arrived nevertheless.
      bus
        .send(owner, 'push', { id, chipid, body, seconds })
        .catch(() => reject(broken(chipid, undefined, seconds)));
    }).finally(() => this.pending.delete(id));
  }

  /** Makes a push of another process over a channel of this one. */
  private async serve(data: Readonly<Record<string, unknown>>, from: string): Promise<void> {
    const { cluster, local, bus } = this.deps;
    const { id, chipid, body, seconds } = data;
    const bytes = typeof body === 'string' ? decodeBase64(body) : undefined;
    const isTime = typeof seconds === 'number' && seconds > 0;
    if (typeof id !== 'string' || !isChipid(chipid) || !bytes || !isTime) {
      cluster.report('a push of another process was malformed, and ignored', 'push');
      return;
    }
    if (this.serving >= MOST || !cluster.owns(chipid)) {
      const { code, message } = notConnected(chipid, 'CLUSTER');
      bus.post(from, 'pushed', { id, code, message });
      return;
    }
    this.serving++;
    try {
      await local.push(chipid, bytes, Math.min(seconds, LONGEST));
      bus.post(from, 'pushed', { id });
    } catch (error) {
      const { code, message } = isDeviceCloudError(error) ? error : broken(chipid, undefined, 0);
      bus.post(from, 'pushed', { id, code, message });
    } finally {
      this.serving--;
    }
  }
}

/** Reads an error that another process has reported, which may be malformed. */
function errorOf(code: unknown, message: unknown): DeviceCloudError | undefined {
  if (code === undefined) return undefined;
  const known = CODES.find((each) => each === code) ?? 'CONNECTION_LOST';
  const text = typeof message === 'string' ? message : 'The push failed in another process.';
  return new DeviceCloudError(known, oneLine(text, MAX_TEXT));
}
