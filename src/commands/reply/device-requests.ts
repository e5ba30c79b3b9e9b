import type { Charset, Upload } from '../../types';
import type { ChannelListener, ChannelState } from '../../channel/types';
import { DeviceCloudError } from '../../errors';
import type { Deadline } from '../../http/deadline';
import type { RecoveringChannel } from '../../recovery/listen';
import type { RecoverOptions } from '../../recovery/options';
import type { TurnLimit } from '../../util/turn-limit';
import type { PendingRequest } from './pending-request';
import { UploadReading } from './upload-reading';

/** Milliseconds that a request waits for the first reading of the history, once the channel is up. */
const READING_PATIENCE = 2000;

/** Uploads that may wait to be judged, and their bytes: a condition may be slow, and devices fast. */
const MAX_BACKLOG = 1000;
const MAX_BACKLOG_BYTES = 16 * 1024 * 1024;

/**
 * Joins the channel of a device with recovery.
 * @param options `save` is called when more of what was missed may have come
 */
export type JoinChannel = (
  listener: ChannelListener,
  options: Pick<RecoverOptions, 'save'>,
) => RecoveringChannel;

/** The channel of one device, as its requests use it, and those that wait for an upload. */
export class DeviceRequests implements ChannelListener {
  readonly #chipid: string;
  readonly #charset: Charset;
  readonly #channel: RecoveringChannel;
  readonly #turns: TurnLimit;
  /** Uploads are judged, and requests expire, one after another: a condition may have to be waited for. */
  #last: Promise<void> = Promise.resolve();
  readonly #backlog = { uploads: 0, bytes: 0 };
  /** Oldest first. Replaced, never changed: an upload may still be judged for those of its arrival. */
  #open: readonly PendingRequest[] = [];
  #waiting: (() => void)[] = [];
  #ready = false;
  #patience: NodeJS.Timeout | undefined;

  /** @param turns of all devices of the application */
  constructor(chipid: string, join: JoinChannel, charset: Charset, turns: TurnLimit) {
    this.#chipid = chipid;
    this.#charset = charset;
    this.#turns = turns;
    this.#channel = join(this, { save: () => this.#look() });
    if (this.#channel.channel.state === 'connected') this.#connected();
  }

  /**
   * Whether a push may be sent now: the channel is connected, and what it missed before can be distinguished
   * from what comes later, unless the history takes too long.
   */
  get isReady(): boolean {
    return this.#ready;
  }

  /** Whether uploads that are recovered from now on came after now. */
  get isCovered(): boolean {
    return this.#channel.isComplete;
  }

  /**
   * Waits until a push may be sent.
   * @throws DeviceCloudError `NOT_CONNECTED` at the deadline, `UNREACHABLE` if it is aborted
   */
  ready(deadline: Deadline): Promise<void> {
    if (this.#ready && !deadline.ended) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push(resolve);
      deadline.listen(({ reason, detail = '' }) => {
        this.#waiting = this.#waiting.filter((waiting) => waiting !== resolve);
        if (reason === 'aborted') reject(notSent(this.#chipid, detail));
        else reject(notConnected(this.#chipid, deadline.seconds, this.#channel.channel.reason));
      });
    });
  }

  /** Judges the uploads that come from now on for a request, after those that are older. */
  add(request: PendingRequest): void {
    this.#open = [...this.#open, request];
  }

  remove(request: PendingRequest): void {
    this.#open = this.#open.filter((open) => open !== request);
  }

  /** The time of a request is over: what has come before is judged first. */
  expire(request: PendingRequest): void {
    this.#inOrder(() => request.expire());
  }

  onUpload(upload: Upload): void {
    const requests = this.#open;
    if (requests.length === 0) return;
    const backlog = this.#backlog;
    const size = upload.body.length;
    const fits = backlog.bytes + size <= MAX_BACKLOG_BYTES && backlog.uploads < MAX_BACKLOG;
    if (backlog.uploads > 0 && !fits) {
      for (const request of requests) request.drop();
      return;
    }
    const reading = new UploadReading(upload, this.#charset);
    backlog.uploads++;
    backlog.bytes += size;
    this.#inOrder(async () => {
      await this.#judge(reading, requests);
      backlog.uploads--;
      backlog.bytes -= size;
    });
  }

  onState(state: ChannelState): void {
    if (state === 'connected') this.#connected();
    else if (state === 'disconnected') this.#disconnected();
  }

  /** Recovery reports that it cannot read the history, among other faults: then there is nothing to wait for. */
  onFault(): void {
    if (this.#channel.channel.state === 'connected') this.#setReady();
  }

  release(): void {
    clearTimeout(this.#patience);
    this.#channel.release();
  }

  /** @param task never throws, and its promise never rejects */
  #inOrder(task: () => void | Promise<void>): void {
    this.#last = this.#last.then(task);
  }

  /** Gives an upload to the oldest request that it matches. */
  async #judge(reading: UploadReading, requests: readonly PendingRequest[]): Promise<void> {
    const turns = this.#turns;
    for (const request of requests) {
      while (!turns.isFree) await turns.next();
      const began = performance.now();
      const verdict = request.judge(reading);
      const matches = typeof verdict === 'boolean' ? verdict : await verdict;
      turns.spend(performance.now() - began);
      if (matches && request.settleWith(reading)) return;
    }
  }

  #connected(): void {
    this.#ready = false;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#setReady(), READING_PATIENCE);
    this.#look();
  }

  #disconnected(): void {
    this.#ready = false;
    clearTimeout(this.#patience);
    // What is recovered after this came after the request, if nothing older was still to be recovered.
    if (!this.isCovered) return;
    const requests = this.#open;
    this.#inOrder(() => {
      for (const request of requests) request.isCovered = true;
    });
  }

  #look(): void {
    if (this.isCovered && this.#channel.channel.state === 'connected') this.#setReady();
  }

  #setReady(): void {
    clearTimeout(this.#patience);
    this.#ready = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}

const notSent = (chipid: string, why: string): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', `The request to device ${chipid} was not sent: ${why}.`);

function notConnected(
  chipid: string,
  seconds: number,
  reason: string | undefined,
): DeviceCloudError {
  const why = reason === undefined ? '' : ` (${reason})`;
  return new DeviceCloudError(
    'NOT_CONNECTED',
    `The request to device ${chipid} was not sent: its channel, on which the reply would come, did not ` +
      `connect within ${seconds} s${why}. Check the keys, the address and the network.`,
  );
}
