import { KeptSubscriptions } from '../channel/pool';
import type { ChannelListener, ChannelState } from '../channel/listener';
import { DeviceCloudError, ERRORS } from '../errors';
import type { Deadline, Deadlines } from '../http/deadline';
import type { Listening } from '../recovery/listen';
import type { RecoveringChannel } from '../recovery/options';
import type { Charset, Upload } from '../types';
import { deviceTitle } from '../util/show';
import { MAX_WAITING, notSent, queueFull, type Queues } from './queue';
import { PendingRequest, type PushOutcome, type Request } from './pending-request';
import { UploadReading, type Reply } from './reply';

/** Milliseconds that a request waits for the first reading of the history, once the channel is up. */
const READING_PATIENCE = 2000;

const FEWER =
  'It answers more slowly than requests arrive: send fewer, or give a shorter reply time-out.';

interface RequestsDeps {
  listening: Pick<Listening, 'recover'>;
  deadlines: Deadlines;
  queues: Queues;
  /** Own code, which never throws: is called with the error of each push that failed. */
  onPushError: (chipid: string, error: unknown) => void;
  /** For requests that take any upload, of which a device has one at a time. */
  turns: Queues;
}

/** The channel of one device, as its requests use it, and those that wait for an upload. */
class DeviceRequests implements ChannelListener {
  /** The number of its requests, without those that wait for their turn. */
  running = 0;
  /**
   * Whether a push may be sent now: the channel is connected, and what it missed before can be distinguished
   * from what comes later, unless the history takes too long.
   */
  isReady = false;
  readonly #chipid: string;
  readonly #charset: Charset;
  readonly #channel: RecoveringChannel;
  /** Oldest first. Replaced, never changed: a request that ends leaves while an upload is judged. */
  #open: readonly PendingRequest[] = [];
  readonly #waiting = new Set<() => void>();
  #patience: NodeJS.Timeout | undefined;

  constructor({ chipid, charset, recover }: Request, listening: RequestsDeps['listening']) {
    this.#chipid = chipid;
    this.#charset = charset;
    // More of what was missed may have come.
    this.#channel = listening.recover(chipid, this, { ...recover, save: () => this.#look() });
    this.onState(this.#channel.channel.state);
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
    if (this.isReady && !deadline.ended) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve);
      deadline.listen(({ reason, detail = '' }) => {
        this.#waiting.delete(resolve);
        if (reason === 'aborted') reject(notSent(deviceTitle(this.#chipid), detail, 'request'));
        else reject(notConnected(this.#chipid, deadline.timeout, this.#channel.channel.reason));
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

  /** Gives an upload to the oldest request that it answers. */
  onUpload(upload: Upload): void {
    if (this.#open.length === 0) return;
    const reading = new UploadReading(upload, this.#charset);
    for (const request of this.#open) if (request.take(reading)) return;
  }

  onState(state: ChannelState): void {
    if (state === 'connecting') return;
    this.isReady = false;
    clearTimeout(this.#patience);
    if (state === 'connected') {
      this.#patience = setTimeout(() => this.#setReady(), READING_PATIENCE);
      this.#look();
    } else if (this.isCovered) {
      // What is recovered after this came after the request: nothing older was still to be recovered.
      for (const request of this.#open) request.isCovered = true;
    }
  }

  /** Recovery reports that it cannot read the history, among other faults: then there is nothing to wait for. */
  onFault(): void {
    if (this.#channel.channel.state === 'connected') this.#setReady();
  }

  release(): void {
    clearTimeout(this.#patience);
    this.#channel.release();
  }

  #look(): void {
    if (this.isCovered && this.#channel.channel.state === 'connected') this.#setReady();
  }

  #setReady(): void {
    clearTimeout(this.#patience);
    this.isReady = true;
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }
}

/** A request whose push has been sent. */
interface Pushed {
  readonly isOpen: boolean;
  readonly reply: Promise<Reply>;
}

/** The requests of one application: a push to a device, and the upload that answers it. */
export class Requests {
  readonly #deps: RequestsDeps;
  readonly #channels = new KeptSubscriptions<DeviceRequests>();

  constructor(deps: RequestsDeps) {
    this.#deps = deps;
  }

  /**
   * Waits for the device's channel, pushes, and waits for the upload that answers.
   * @throws DeviceCloudError the error of the push; `NOT_CONNECTED`, `QUEUE_FULL` and `UNREACHABLE` if nothing
   * was sent; `NO_REPLY` if the push was accepted and no upload answered it; `CONNECTION_LOST` if it is
   * aborted after the push was sent
   */
  run(request: Request): Promise<Reply> {
    const { chipid, matcher, signal, onProgress: progress } = request;
    const run = (): Promise<Reply> => this.#run(request);
    return matcher.takesAny ? this.#deps.turns.call(chipid, run, { signal, progress }) : run();
  }

  /** Releases the channels. The deadlines and the queues, which end first, end every request. */
  close(): void {
    this.#deps.turns.close();
    this.#channels.close();
  }

  async #run(request: Request): Promise<Reply> {
    const { chipid, onProgress } = request;
    const device = this.#channels.use(
      chipid,
      () => new DeviceRequests(request, this.#deps.listening),
    );
    try {
      if (device.running++ > MAX_WAITING) {
        const waiting = `${MAX_WAITING} requests wait already`;
        throw queueFull(`device ${chipid}`, waiting, FEWER, 'request');
      }
      onProgress({ state: 'calling' });
      const { isOpen, reply } = await this.#send(device, request);
      if (isOpen) onProgress({ state: 'awaiting-reply' });
      return await reply;
    } finally {
      device.running--;
      this.#channels.leave(chipid, device);
    }
  }

  /** Pushes while the channel is connected: after a gap that began earlier, a reply could not be recognised. */
  async #send(device: DeviceRequests, request: Request): Promise<Pushed> {
    const { deadlines, queues } = this.#deps;
    const { chipid, timeout, signal, onProgress: progress } = request;
    for (;;) {
      const deadline = deadlines.start(timeout, signal);
      await device.ready(deadline).finally(() => deadline.clear());
      const push = async (): Promise<Pushed | undefined> =>
        // It may have been lost while other commands were sent.
        device.isReady ? this.#push(device, request) : undefined;
      const pushed = await queues.call(chipid, push, { signal, progress });
      if (pushed) return pushed;
    }
  }

  async #push(device: DeviceRequests, request: Request): Promise<Pushed> {
    const { replyTimeout, signal } = request;
    const deadline: Deadline = this.#deps.deadlines.start(replyTimeout, signal);
    const pending = new PendingRequest(request, device.isCovered, () => {
      deadline.clear();
      device.remove(pending);
    });
    device.add(pending);
    deadline.listen((end) => {
      // In a process that stood still, the reply may have come in time: it is read in this turn.
      if (end.reason === 'timeout') setImmediate(() => pending.end(end));
      else pending.end(end);
    });
    let push: PushOutcome;
    try {
      push = { answer: await request.push() };
    } catch (error) {
      if (!signal?.aborted) this.#deps.onPushError(request.chipid, error);
      push = { error };
    }
    const reply = pending.reply(push);
    // It is awaited later: until then, a rejection would end the process.
    reply.catch(() => undefined);
    return { isOpen: pending.isOpen, reply };
  }
}

function notConnected(
  chipid: string,
  timeout: number,
  reason: string | undefined,
): DeviceCloudError {
  const why = reason === undefined ? '' : ` (${reason})`;
  return new DeviceCloudError(
    'NOT_CONNECTED',
    `The channel did not connect in ${timeout / 1000} s${why}. The request to device ${chipid} was not sent, since its ` +
      `reply would come on the channel. ${ERRORS.NOT_CONNECTED.advice}`,
  );
}
