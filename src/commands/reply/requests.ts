import { KeptSubscriptions } from '../../channel/kept-subscriptions';
import { DeviceCloudError } from '../../errors';
import type { Deadline, Deadlines } from '../../http/deadline';
import { MAX_WAITING, type Queues } from '../queue';
import type { CommandLock } from '../lock';
import type { Listening } from '../../recovery/listen';
import type { RecoverOptions } from '../../recovery/options';
import type { Answer, Charset, PushAnswer } from '../../types';
import { TurnLimit } from '../../util/turn-limit';
import { DeviceRequests, type JoinChannel } from './device-requests';
import { PendingRequest, type Wanted } from './pending-request';
import type { Reply, RequestProgress } from './types';

/** A request that has been checked. */
export interface Request extends Wanted {
  chipid: string;
  /** Sends the push, once. */
  push: () => Promise<Answer<PushAnswer>>;
  /** Seconds that the channel may take to connect. */
  timeout: number;
  recover: RecoverOptions;
  /** Of uploads that are not UTF-8. */
  charset: Charset;
  signal: AbortSignal | undefined;
  /** Never throws. */
  onProgress: (progress: RequestProgress) => void;
}

interface RequestsDeps {
  listening: Pick<Listening, 'recover'>;
  deadlines: Deadlines;
  /** Those of all commands. */
  queues: Queues;
  /** Keeps pushes and the commands of other processes apart, with a cluster. */
  exclusive?: CommandLock | undefined;
  /** Own code, which never throws: is called with the error of each push that failed. */
  onPushError: (chipid: string, error: unknown) => void;
  /** For requests that take any upload, of which a device has one at a time. */
  turns: Queues;
}

/** The requests of one application: a push to a device, and the upload that answers it. */
export class Requests {
  readonly #deps: RequestsDeps;
  readonly #channels = new KeptSubscriptions<DeviceRequests>();
  readonly #turns = new TurnLimit();
  /** How many requests each device has, without those that wait for their turn. */
  readonly #running = new Map<string, number>();

  constructor(deps: RequestsDeps) {
    this.#deps = deps;
  }

  /**
   * Waits for the device's channel, pushes, and waits for the upload that answers.
   * @throws DeviceCloudError that of the push; `NOT_CONNECTED`, `QUEUE_FULL` and `UNREACHABLE` if nothing
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
    const { chipid, recover, charset } = request;
    const { listening } = this.#deps;
    const running = this.#running.get(chipid) ?? 0;
    if (running > MAX_WAITING) throw full(chipid);
    const join: JoinChannel = (listener, more) =>
      listening.recover(chipid, listener, { ...recover, ...more });
    const device = this.#channels.use(
      chipid,
      () => new DeviceRequests(chipid, join, charset, this.#turns),
    );
    this.#running.set(chipid, running + 1);
    try {
      const pending = await this.#send(device, request);
      if (pending.isAwaiting) request.onProgress({ state: 'awaiting-reply' });
      return await pending.reply;
    } finally {
      this.#channels.leave(chipid, device);
      const left = (this.#running.get(chipid) ?? 1) - 1;
      if (left > 0) this.#running.set(chipid, left);
      else this.#running.delete(chipid);
    }
  }

  /** Pushes while the channel is connected: after a gap that began earlier, a reply could not be recognised. */
  async #send(device: DeviceRequests, request: Request): Promise<PendingRequest> {
    const { deadlines, queues, exclusive } = this.#deps;
    const { chipid, timeout, signal, onProgress } = request;
    onProgress({ state: 'calling' });
    for (;;) {
      const deadline = deadlines.start(timeout, signal);
      try {
        await device.ready(deadline);
      } finally {
        deadline.clear();
      }
      const push = async (): Promise<PendingRequest | undefined> =>
        // It may have been lost while other commands were sent.
        device.isReady ? this.#push(device, request) : undefined;
      const caller = { signal, progress: onProgress };
      const turn = exclusive ? () => exclusive(chipid, timeout * 1000, caller, push) : push;
      const pending = await queues.call(chipid, turn, caller);
      if (pending) return pending;
    }
  }

  /** Begins to match, and pushes. */
  async #push(device: DeviceRequests, request: Request): Promise<PendingRequest> {
    const { push, replyTimeout, signal } = request;
    const deadline: Deadline = this.#deps.deadlines.start(replyTimeout, signal);
    const pending = new PendingRequest(request, device.isCovered, deadline, () =>
      device.remove(pending),
    );
    device.add(pending);
    deadline.listen((end) => {
      if (end.reason === 'timeout') device.expire(pending);
      else pending.abort(end);
    });
    try {
      pending.accepted(await push());
    } catch (error) {
      if (!signal?.aborted) this.#deps.onPushError(request.chipid, error);
      pending.pushFailed(error);
    }
    return pending;
  }
}

const full = (chipid: string): DeviceCloudError =>
  new DeviceCloudError(
    'QUEUE_FULL',
    `The request to device ${chipid} was not sent: ${MAX_WAITING} requests wait for this device already. ` +
      'It answers more slowly than requests arrive: send fewer, or give a shorter reply time-out.',
  );
