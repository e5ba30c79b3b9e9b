import { KeptSubscriptions } from '../channel/pool';
import { broken, notConnected, type ChannelPush } from '../channel/push';
import type { ChannelListener } from '../channel/listener';
import { DeviceCloudError, isDeviceCloudError, type ErrorCode } from '../errors';
import type { Deadline, Deadlines } from '../http/deadline';
import { decodeBase64 } from '../util/base64';
import { oneLine } from '../util/show';
import type { Cluster } from './cluster';
import type { Follow, Followed } from './followed';
import { isChipid, type Bus, type BusData } from './messages';

/** The most pushes of other processes that are under way here. */
const MOST = 1000;

/** The longest time that a push of another process may take here, in seconds. */
const LONGEST = 600;

const MAX_TEXT = 500;

const CODES: readonly ErrorCode[] = ['NOT_CONNECTED', 'CONNECTION_LOST', 'TIMEOUT'];

/** A device whose channel is kept open for pushes, and the pushes that wait for it. */
class PushedDevice implements ChannelListener {
  readonly followed: Followed;
  readonly #waiting = new Set<() => void>();

  constructor(chipid: string, follow: Follow) {
    this.followed = follow(chipid, this);
  }

  onState(): void {
    for (const look of [...this.#waiting]) look();
  }

  release(): void {
    this.followed.release();
  }

  /** Resolves when the channel is connected. @throws DeviceCloudError `NOT_CONNECTED` at the deadline */
  connected(deadline: Deadline): Promise<void> {
    const { followed } = this;
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (followed.state !== 'connected') return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      deadline.listen(({ detail }) => {
        this.#waiting.delete(look);
        reject(notConnected(followed.chipid, detail ?? followed.reason));
      });
      look();
    });
  }
}

/**
 * Pushes over channels that are open in any process.
 * @param local pushes over the channels of this process
 */
export function remotePush(
  cluster: Pick<Cluster, 'owns' | 'report'>,
  bus: Bus,
  follow: Follow,
  local: ChannelPush,
  deadlines: Deadlines,
): ChannelPush {
  const kept = new KeptSubscriptions<PushedDevice>();
  let serving = 0;

  /** From here on it is unknown whether the owner has sent the push, until it reports the outcome. */
  const send = (chipid: string, owner: string, bytes: Buffer, deadline: Deadline): Promise<void> =>
    new Promise<void>((resolve, reject) => {
      const { seconds } = deadline;
      // The answer of the owner may have come while this process stood still: it is read in this turn.
      deadline.listen((end) => setImmediate(() => reject(broken(chipid, end, seconds))));
      const push = { chipid, body: bytes.toString('base64'), seconds };
      bus.ask(owner, 'push', push, Math.min(seconds, LONGEST) * 1000).then(
        (answer) => {
          const error = readError(answer);
          if (error) reject(error);
          // Otherwise the deadline is over.
          else if (answer) resolve();
        },
        // A failed publication may have arrived nevertheless.
        () => reject(broken(chipid, undefined, seconds)),
      );
    });

  /** Makes a push of another process over a channel of this one. */
  const serve = async (data: BusData, from: string): Promise<void> => {
    const { id, chipid, body, seconds } = data;
    const bytes = typeof body === 'string' ? decodeBase64(body) : undefined;
    const isTime = typeof seconds === 'number' && seconds > 0;
    if (typeof id !== 'string' || !isChipid(chipid) || !bytes || !isTime) {
      cluster.report('A push of another process was malformed, and ignored.', 'push');
      return;
    }
    const isServed = serving < MOST && cluster.owns(chipid);
    if (isServed) serving++;
    try {
      if (!isServed) throw notConnected(chipid, 'CLUSTER');
      await local.push(chipid, bytes, Math.min(seconds, LONGEST));
      bus.post(from, 'answer', { id });
    } catch (error) {
      const { code, message } = isDeviceCloudError(error) ? error : broken(chipid, undefined, 0);
      bus.post(from, 'answer', { id, code, message });
    } finally {
      if (isServed) serving--;
    }
  };
  bus.on('push', (data, from) => void serve(data, from));

  return {
    async push(chipid, bytes, seconds, signal) {
      if (cluster.owns(chipid)) return local.push(chipid, bytes, seconds, signal);
      const began = performance.now();
      const deadline = deadlines.start(seconds, signal);
      const device = kept.use(chipid, () => new PushedDevice(chipid, follow));
      try {
        await device.connected(deadline);
        const { owner } = device.followed;
        if (owner !== undefined) await send(chipid, owner, bytes, deadline);
        else await local.push(chipid, bytes, seconds - (performance.now() - began) / 1000, signal);
      } finally {
        deadline.clear();
        kept.leave(chipid, device);
      }
    },
    close() {
      kept.close();
      local.close();
    },
  };
}

/** Reads an error that another process has reported, which may be malformed. */
function readError({ code, message }: BusData = {}): DeviceCloudError | undefined {
  if (code === undefined) return undefined;
  const known = CODES.find((each) => each === code) ?? 'CONNECTION_LOST';
  const text = typeof message === 'string' ? message : 'The push failed in another process.';
  return new DeviceCloudError(known, oneLine(text, MAX_TEXT));
}
