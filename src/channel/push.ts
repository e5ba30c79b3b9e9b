import { type Channels, type OpenSubscription, KeptSubscriptions } from './pool';
import type { CallAborted, Deadline, Deadlines } from '../http/deadline';
import { DeviceCloudError } from '../errors';

/** The error of a push whose channel did not open in time. */
function notConnected(chipid: string, reason: string | undefined): DeviceCloudError {
  const why = reason === undefined ? '' : ` (${reason})`;
  return new DeviceCloudError(
    'NOT_CONNECTED',
    `The channel is not connected${why}. Push to device ${chipid} was not sent. ` +
      'Check the keys and the address, or push over HTTP.',
  );
}

/** The error of a push that may have been sent. @param end what ended the wait; undefined if the channel closed */
function broken(chipid: string, end: CallAborted | undefined, timeout: number): DeviceCloudError {
  const isLate = end?.reason === 'timeout';
  const what = isLate
    ? `The data did not go out in ${timeout / 1000} s`
    : `Broken off: ${end?.detail ?? 'the channel is down'}`;
  return new DeviceCloudError(
    isLate ? 'TIMEOUT' : 'CONNECTION_LOST',
    `${what}. Push to device ${chipid} over its channel failed. Whether it reached the device is unknown.`,
  );
}

/** Pushes over the channels of an application (section 6, `msgpush`). */
export class ChannelPushes {
  readonly #channels: Channels;
  readonly #deadlines: Deadlines;
  readonly #kept = new KeptSubscriptions<OpenSubscription>();

  constructor(channels: Channels, deadlines: Deadlines) {
    this.#channels = channels;
    this.#deadlines = deadlines;
  }

  /**
   * Opens the channel unless it is open, waits for it, and sends.
   * @param timeout milliseconds for the whole call
   * @throws DeviceCloudError `NOT_CONNECTED` if the channel does not open in time, `CONNECTION_LOST` or
   * `TIMEOUT` if it closes or stalls while the data is being sent
   */
  async push(chipid: string, bytes: Buffer, timeout: number, signal?: AbortSignal): Promise<void> {
    const kept = this.#kept.use(chipid, () => this.#channels.join(chipid, {}));
    try {
      const send = (deadline: Deadline): Promise<void> => this.#send(chipid, bytes, deadline);
      await this.#deadlines.run(send, timeout, signal);
    } finally {
      this.#kept.leave(chipid, kept);
    }
  }

  close(): void {
    this.#kept.close();
  }

  async #send(chipid: string, bytes: Buffer, deadline: Deadline): Promise<void> {
    let trySend = (): void => undefined;
    const joined = this.#channels.join(chipid, { onState: () => trySend() });
    const { channel } = joined;
    const { timeout } = deadline;
    try {
      await new Promise<void>((resolve, reject) => {
        let isSending = false;
        trySend = () => {
          isSending ||= channel.push(bytes, (error) =>
            error ? reject(broken(chipid, undefined, timeout)) : resolve(),
          );
        };
        deadline.listen((end) =>
          reject(
            isSending
              ? broken(chipid, end, timeout)
              : notConnected(chipid, end.detail ?? channel.reason),
          ),
        );
        if (!deadline.ended) trySend();
      });
    } finally {
      joined.release();
    }
  }
}
