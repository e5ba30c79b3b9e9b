import { KeptSubscriptions } from '../channel/pool';
import type { ChannelListener, ChannelState } from '../channel/listener';
import { DeviceCloudError, ERRORS, isDeviceCloudError, isSilence } from '../errors';
import type { CallAborted, Deadline, Deadlines } from '../http/deadline';
import type { Listening } from '../recovery/recovery';
import type { RecoveringChannel, RecoverOptions } from '../recovery/options';
import type { Answer, Charset, PushAnswer, Upload } from '../types';
import { deviceTitle } from '../util/show';
import { MAX_WAITING, notSent, queueFull, type Queues } from './queue';
import {
  UploadReading,
  type Decoding,
  type Matcher,
  type Reply,
  type RequestProgress,
} from './reply';

/** A request that has been checked. */
export interface Request {
  chipid: string;
  /** The push, as errors name it: `Push to device 10000001`. */
  name: string;
  /** Sends the push, once. */
  push: () => Promise<Answer<PushAnswer>>;
  /** Milliseconds that the channel may take to connect. */
  timeout: number;
  /** Milliseconds from sending the push. */
  replyTimeout: number;
  matcher: Matcher;
  decoding: Decoding;
  /** Of uploads that are not UTF-8. */
  charset: Charset;
  recover: RecoverOptions;
  signal: AbortSignal | undefined;
  /** Never throws. */
  onProgress: (progress: RequestProgress) => void;
}

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

const count = (uploads: number): string => (uploads === 1 ? '1 upload' : `${uploads} uploads`);

/** An upload that answers a request. */
interface Match {
  readonly reading: UploadReading;
  readonly payload: unknown;
}

/** How a push has ended. */
type PushOutcome = { answer: Answer<PushAnswer> } | { error: unknown };

/**
 * A request whose push is being sent, or has been. It ends once the outcome of the push is known and either an upload has
 * answered it or no upload can.
 */
class PendingRequest {
  /** Whether an upload can still answer it. */
  isOpen = true;
  /** Whether recovered uploads count: nothing that came before the request can be one of them. */
  isCovered: boolean;
  readonly #request: Request;
  readonly #device: DeviceRequests;
  readonly #deadline: Deadline;
  readonly #sentAt = performance.now();
  /** Uploads that were judged, how many of them could not be decoded, and recovered ones that may be older than the request. */
  #judged = 0;
  #undecodable = 0;
  #older = 0;
  /** Resolves with the reply, or with the error of a request that none can answer any more. */
  readonly #ended: Promise<Match | { error: unknown }>;
  #resolve!: (end: Match | { error: unknown }) => void;

  constructor(request: Request, device: DeviceRequests, deadlines: Deadlines) {
    this.#request = request;
    this.#device = device;
    this.isCovered = device.isCovered;
    this.#ended = new Promise((resolve) => (this.#resolve = resolve));
    this.#deadline = deadlines.start(request.replyTimeout, request.signal);
    device.add(this);
    this.#deadline.listen((end) => {
      // In a process that stood still, the reply may have come in time: it is read in this turn.
      if (end.reason === 'timeout') setImmediate(() => this.#end(end));
      else this.#end(end);
    });
  }

  /** Judges an upload, and ends with it if it is the reply. @returns whether it is */
  take(reading: UploadReading): boolean {
    if (!this.isOpen) return false;
    if (reading.upload.replayed && !this.isCovered) {
      this.#older++;
      return false;
    }
    this.#judged++;
    const { decoding, matcher } = this.#request;
    const decoded = reading.decoded(decoding);
    if (!decoded) this.#undecodable++;
    if (!decoded || !matcher.matches(decoded.value, reading)) return false;
    this.#close({ reading, payload: decoded.value });
    return true;
  }

  /** Its time is over, or the caller, or the client's close, ends it. */
  #end({ reason, detail = 'the caller aborted it' }: CallAborted): void {
    const { name, replyTimeout } = this.#request;
    const error =
      reason === 'timeout'
        ? new DeviceCloudError(
            'NO_REPLY',
            `No upload answered in ${replyTimeout / 1000} s. ${name} was accepted. ${this.#came()}`,
          )
        : new DeviceCloudError(
            'CONNECTION_LOST',
            `The reply is no longer awaited: ${detail}. ${name} was sent and accepted.`,
          );
    this.#close({ error });
  }

  /** The push has ended. If it has failed for certain, no upload is its reply. @throws DeviceCloudError if there is no reply */
  async reply(push: PushOutcome): Promise<Reply> {
    const failure = 'error' in push ? push : undefined;
    const error = failure?.error;
    // If it is unknown whether the push arrived, a reply shows that it did.
    const isUnknown = isSilence(error) && isDeviceCloudError(error) && error.uncertain;
    if (failure && !isUnknown) {
      this.#close(failure);
      throw error;
    }
    const end = await this.#ended;
    if ('error' in end) throw (failure ?? end).error;
    const { upload, arrived } = end.reading;
    const elapsed = Math.max(0, Math.round(arrived - this.#sentAt));
    const reply: Reply = { payload: end.payload, upload, elapsed };
    if ('answer' in push)
      return { ...reply, answer: push.answer.body, statusCode: push.answer.statusCode };
    const { statusCode } = push.error as DeviceCloudError;
    return { ...reply, uncertain: true, ...(statusCode !== undefined && { statusCode }) };
  }

  #close(end: Match | { error: unknown }): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#deadline.clear();
    this.#device.remove(this);
    this.#resolve(end);
  }

  /** What came meanwhile, and why nothing of it was the reply, as sentences. */
  #came(): string {
    const { matcher, decoding } = this.#request;
    if (this.#judged + this.#older === 0)
      return 'No upload came: check that the device answers with an upload, and how long it takes.';
    const parts = [`Of ${count(this.#judged)} none ${matcher.wanted || 'is a reply'}`];
    const how = typeof decoding === 'function' ? 'by the type of the device' : `as ${decoding}`;
    if (this.#undecodable > 0) parts.push(`${this.#undecodable} could not be decoded ${how}`);
    if (this.#older > 0)
      parts.push(`${count(this.#older)} that may be older than the request did not count`);
    return `${parts.join('; ')}. ${ERRORS.NO_REPLY.advice}`;
  }
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
      const [pending, push] = await this.#send(device, request);
      const reply = pending.reply(push);
      if (pending.isOpen) onProgress({ state: 'awaiting-reply' });
      return await reply;
    } finally {
      device.running--;
      this.#channels.leave(chipid, device);
    }
  }

  /** Pushes while the channel is connected: after a gap that began earlier, a reply could not be recognised. */
  async #send(
    device: DeviceRequests,
    request: Request,
  ): Promise<[pending: PendingRequest, push: PushOutcome]> {
    const { deadlines, queues, onPushError } = this.#deps;
    const { chipid, timeout, signal, onProgress: progress } = request;
    for (;;) {
      await deadlines.run((deadline) => device.ready(deadline), timeout, signal);
      let pending: PendingRequest | undefined;
      const push = async (): Promise<PushOutcome | undefined> => {
        // It may have been lost while other commands were sent.
        if (!device.isReady) return undefined;
        pending = new PendingRequest(request, device, deadlines);
        try {
          return { answer: await request.push() };
        } catch (error) {
          if (!signal?.aborted) onPushError(chipid, error);
          return { error };
        }
      };
      const outcome = await queues.call(chipid, push, { signal, progress });
      if (pending && outcome) return [pending, outcome];
    }
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
