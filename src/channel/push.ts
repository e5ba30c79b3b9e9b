import { type Channels, type OpenSubscription, KeptSubscriptions } from './pool';
import type { CallAborted, Deadline, Deadlines } from '../http/deadline';
import { DeviceCloudError } from '../errors';
import type { ChannelListener } from './listener';

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
export function createChannelPush(channels: Channels, deadlines: Deadlines) {
  const kept = new KeptSubscriptions<OpenSubscription>();

  const send = (
    chipid: string,
    subscription: OpenSubscription,
    bytes: Buffer,
    deadline: Deadline,
  ): Promise<void> =>
    new Promise((resolve, reject) => {
      const { channel } = subscription;
      const { timeout } = deadline;
      let isSending = false;
      const watcher: ChannelListener = { onState: trySend };

      function settle(error?: DeviceCloudError): void {
        deadline.clear();
        channel.leave(watcher);
        if (error) reject(error);
        else resolve();
      }
      function trySend(): void {
        if (isSending) return;
        isSending = channel.push(bytes, (error) =>
          settle(error ? broken(chipid, undefined, timeout) : undefined),
        );
      }

      channel.join(watcher);
      deadline.listen((end) =>
        settle(
          isSending
            ? broken(chipid, end, timeout)
            : notConnected(chipid, end.detail ?? channel.reason),
        ),
      );
      if (!deadline.ended) trySend();
    });

  return {
    /**
     * Opens the channel unless it is open, waits for it, and sends.
     * @param timeout milliseconds for the whole call
     * @throws DeviceCloudError `NOT_CONNECTED` if the channel does not open in time, `CONNECTION_LOST` or
     * `TIMEOUT` if it closes or stalls while the data is being sent
     */
    async push(
      chipid: string,
      bytes: Buffer,
      timeout: number,
      signal?: AbortSignal,
    ): Promise<void> {
      const deadline = deadlines.start(timeout, signal);
      const subscription = kept.use(chipid, () => channels.join(chipid, {}));
      try {
        await send(chipid, subscription, bytes, deadline);
      } finally {
        kept.leave(chipid, subscription);
      }
    },
    close: (): void => kept.close(),
  };
}
