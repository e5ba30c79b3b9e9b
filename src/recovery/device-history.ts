import { DeviceCloudError } from '../errors';
import type { Place } from '../http/service-limiter';
import type { HistoryAnswer } from './answer';
import type { RecoveryShared } from './options';

/** The recovery of one listener, as the history of its device sees it. */
interface Member {
  /** Milliseconds until it needs a reading; infinite if it does not. */
  readonly delay: number;
  readonly channel: { flush(passed: () => void): void };
  /** The history is being requested. */
  request(): HistoryAnswer;
  /** Emits what an answer shows. It changes nothing once the signal is aborted. */
  settle(answer: HistoryAnswer, signal: AbortSignal): Promise<void>;
  /** The history could not be read. */
  failed(error: unknown): void;
  close(): void;
}

/** Reads the history of one device when one of its listeners needs it: one reading serves all of them. */
export class DeviceHistory {
  readonly #members = new Set<Member>();
  readonly #shared: RecoveryShared;
  readonly #chipid: string;
  #timer: NodeJS.Timeout | undefined;
  #due = Infinity;
  /** Its place among the readings of the service, or in the queue for one. */
  #place: Place | undefined;
  #running: AbortController | undefined;

  constructor(shared: RecoveryShared, chipid: string) {
    this.#shared = shared;
    this.#chipid = chipid;
  }

  join(member: Member): void {
    this.#members.add(member);
  }

  /** @returns whether it was the last */
  leave(member: Member): boolean {
    this.#members.delete(member);
    const isEmpty = this.#members.size === 0;
    if (isEmpty) this.cancel();
    return isEmpty;
  }

  /** Ends the recoveries of all listeners. */
  close(): void {
    for (const member of this.#members) member.close();
  }

  /** Ends the reading that is under way, or due. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#due = Infinity;
    this.#running?.abort();
    this.#running = undefined;
    this.#place?.release();
    this.#place = undefined;
  }

  /** A listener may need a reading, or need it earlier. */
  schedule(): void {
    if (this.#place) return;
    let delay = Infinity;
    for (const member of this.#members) delay = Math.min(delay, member.delay);
    const due = performance.now() + delay;
    if (due >= this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    if (delay === 0) this.#start();
    else this.#timer = setTimeout(() => this.#start(), delay);
  }

  #start(): void {
    this.#due = Infinity;
    if (this.#shared.guard?.mayEmit(this.#chipid) === false) {
      this.schedule();
      return;
    }
    const place = this.#shared.limiter.acquire(() => {
      const running = new AbortController();
      this.#running = running;
      void this.#read(running.signal, place).then(() => {
        place.release();
        if (this.#running !== running) return;
        this.#running = undefined;
        this.#place = undefined;
        this.schedule();
      });
    });
    this.#place = place;
  }

  /** It never rejects, and changes nothing once its signal is aborted. */
  async #read(signal: AbortSignal, place: Place): Promise<void> {
    const { read, limiter } = this.#shared;
    const answers = [...this.#members].map((member) => [member, member.request()] as const);
    // While an answer is looked at, others can be read.
    const ended = (retryAfter?: number): void => {
      if (retryAfter !== undefined) limiter.pause(retryAfter);
      place.release();
    };
    const isOver = (): boolean => signal.aborted;
    try {
      const { isWhole } = await read(
        this.#chipid,
        signal,
        (record, size, length) => {
          let isNeeded = false;
          for (const each of answers) if (each[1].take(record, size, length)) isNeeded = true;
          return isNeeded;
        },
        ended,
      );
      // Ids have not started over: something else has answered.
      const [fault] = answers.flatMap(([, { uselessSince }]) => uselessSince ?? []);
      if (fault !== undefined) throw useless(fault);
      for (const [member, answer] of answers)
        if (!isOver() && answer.sought.after === undefined) await member.settle(answer, signal);
      const [first] = this.#members;
      if (isOver() || !first) return;
      await flushed(first, signal);
      for (const [member, answer] of answers) {
        if (isOver()) return;
        answer.isEnded = !isWhole;
        await member.settle(answer, signal);
      }
    } catch (error) {
      if (!isOver()) for (const [member] of answers) member.failed(error);
    } finally {
      for (const [, answer] of answers) answer.release();
    }
  }
}

const useless = (fault: string): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_RESPONSE',
    `No record of the history can be used, since ${fault}. Check what the service keeps of this device.`,
  );

/** Waits until everything that was sent before the answer has arrived. */
const flushed = (member: Member, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
    member.channel.flush(resolve);
  });
