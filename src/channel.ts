import { backoff } from './backoff';
import type { ChannelState, ChannelUser, ChannelView } from './channel-user';
import type { ConnectRate } from './connect-rate';
import { openConnection, type Connection, type ConnectionSettings } from './connection';
import { readFrame, type Upload } from './upload-event';

/** Everything a channel needs from its application. */
export interface ChannelSettings extends ConnectionSettings {
  /** The address with a fresh signature (section 4.3). */
  url: (chipid: string) => string;
  rate: ConnectRate;
  /** Ends what is on its way below the sockets. */
  close?(): void;
}

/** The channel of one device, kept open until it is closed. */
export interface Channel extends ChannelView {
  readonly users: Set<ChannelUser>;
  /** Sends data to the device (section 6, `msgpush`). @returns false if the channel is not connected */
  push(bytes: Buffer, sent: (error?: Error) => void): boolean;
  /** Tells when everything that the peer has sent by now has arrived, or can no longer arrive. */
  fence(passed: () => void): void;
  close(): void;
}

const BACKOFF_BASE = 1000;
const BACKOFF_CAP = 60_000;
/** A connection that held so long was a good one: the next back-off begins anew. */
const STABLE = 60_000;

/** Opens the channel of one device and keeps it open: every end but `close` leads to a new attempt. */
export function openChannel(chipid: string, settings: ChannelSettings): Channel {
  const users = new Set<ChannelUser>();
  let connection: Connection | undefined;
  /** Calls off the attempt that is due. */
  let callOff: (() => void) | undefined;
  let attempts = 0;

  const become = (next: ChannelState): void => {
    channel.state = next;
    for (const user of users) user.onState?.(next, channel.reason);
  };

  const deliver = (upload: Upload): void => {
    let shared = false;
    for (const user of users) {
      if (!user.onUpload) continue;
      // The first gets the bytes themselves; a further one its own, since a flow may change them.
      user.onUpload(shared ? { ...upload, body: Buffer.from(upload.body) } : upload);
      shared = true;
    }
  };

  const pause = (): number =>
    channel.reason === '401' || channel.reason === '403'
      ? // Keys do not mend themselves: no hurry, and no load on the service.
        BACKOFF_CAP * (0.5 + 0.5 * settings.random())
      : backoff(attempts++, BACKOFF_BASE, BACKOFF_CAP, settings.random);

  const again = (why: string): void => {
    channel.reason = why;
    const timer = setTimeout(attempt, pause());
    callOff = () => clearTimeout(timer);
    become('disconnected');
  };

  const connect = (): void => {
    try {
      connection = openConnection(settings.url(chipid), settings, {
        opened() {
          channel.reason = undefined;
          become('connected');
        },
        frame(data, isBinary) {
          const frame = isBinary
            ? { fault: 'a frame is binary' }
            : readFrame((data as Buffer).toString('utf8'), chipid);
          if ('upload' in frame) deliver(frame.upload);
          else if ('fault' in frame) for (const user of users) user.onFault?.(frame.fault);
        },
        ended(why, openFor) {
          connection = undefined;
          if (openFor >= STABLE) attempts = 0;
          again(why);
        },
      });
    } catch (error) {
      again(error instanceof Error ? error.name : 'unknown error');
    }
  };

  function attempt(): void {
    callOff = settings.rate.queue(connect);
    become('connecting');
  }

  // No accessors: V8 makes an object with one slow and large, and there are many.
  const channel: Channel & { state: ChannelState; reason: string | undefined } = {
    users,
    state: 'connecting',
    reason: undefined,
    push(bytes, sent) {
      if (!connection || channel.state !== 'connected') return false;
      const body = bytes.toString('base64');
      connection.send(JSON.stringify({ type: 'msgpush', body }), sent);
      return true;
    },
    fence(passed) {
      if (connection && channel.state === 'connected') connection.fence(passed);
      else passed();
    },
    close() {
      channel.state = 'disconnected';
      users.clear();
      callOff?.();
      connection?.close();
    },
  };
  attempt();
  return channel;
}
