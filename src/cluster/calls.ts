import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeviceCloudError, invalidInput } from '../errors';
import { decode, encode } from '../util/message';
import { isObject } from '../util/object';
import { MAX_WAITING, queueFull } from '../commands/queue';
import { plainError, valueOfResult, type Result } from '../commands/saved-call';
import type { EngineError } from './engine';

/** Milliseconds between two attempts to hand a call over, and to give its answer back. */
const AGAIN = 100;

/** In leases: without an answered beat for so long, nothing is handed over. */
const OFFLINE = 0.4;

/** Milliseconds after which a process that is asked along with all others is left out. */
const SILENT = 2000;

/** Milliseconds that messages may take beyond the time that a call has. */
const TRANSFER = 500;

/** The most characters of a call and of an answer. */
export const MAX_CALL = 2 ** 20;
const MAX_ANSWER = 16 * 2 ** 20;

/** Why a call was not carried out. */
export const GONE = 'The process that had the device may not act for it any more.';

/** It was certainly not carried out, and may be tried elsewhere: the share is another process's, or the time is over. */
export class NotSent extends Error {}

export const notSent = ({ message }: NotSent): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', `${message} Nothing was sent.`);

/** Makes a call, in the process that owns the device. @throws NotSent if it may not act for the device any more when its turn comes */
export type Handler = (name: string, chipid: string, args: unknown) => Promise<unknown>;

export interface CallsOptions {
  readonly member: string;
  /** @returns how many have received it. Rejects with an EngineError */
  readonly publish: (member: string, text: string) => Promise<number>;
  /** The owner of a device; undefined if no process owns it. */
  readonly ownerOf: (chipid: string) => string | undefined;
  readonly mayAct: (chipid: string) => boolean;
  readonly members: () => readonly string[];
  /** Whether this process gets answers. */
  readonly canHear: () => boolean;
  /** Why the engine cannot be reached. */
  readonly problem: () => string | undefined;
  /** Leases since the latest answered beat. */
  readonly age: () => number;
  /** The engine's clock, in ms. */
  readonly time: () => number;
  readonly handle: Handler;
  /** A call whose caller is no member any more has ended: its result belongs to nobody. */
  readonly onOrphan: (chipid: string, args: unknown, result: Result) => void;
}

interface CallOf {
  readonly name: string;
  /** Empty: it is about no device. */
  readonly chipid: string;
  readonly args: unknown;
}

interface Call extends CallOf {
  readonly id: string;
  readonly from: string;
  /** In the engine's time: no machine's clock refuses calls for good. */
  readonly until: number;
}

type Answer = Result | { notSent: true };

interface Pending {
  /** The member that is to answer. */
  readonly by: string;
  settle(answer: Answer | undefined): void;
}

/** Calls between the processes of an application, as JSON over pub/sub. Nothing is sent twice unless it certainly was not carried out. */
export class Calls {
  readonly #options: CallsOptions;
  readonly #pending = new Map<string, Pending>();
  #isClosed = false;
  /** The end of the latest handing over to each device, and how many are not handed over. */
  readonly #turns = new Map<string, { last: Promise<void>; count: number }>();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /**
   * Makes a call in the process that owns the device. The calls of this process to one device are made in their order.
   * @param ms that it may take once it is handed over
   * @param patience milliseconds for which it is tried again while it certainly was not sent
   * @throws DeviceCloudError `UNREACHABLE`: not sent; `TIMEOUT`: no answer, so that it may have been carried out; `QUEUE_FULL`; or the
   * call's own
   */
  async call(
    name: string,
    chipid: string,
    args: unknown,
    ms: number,
    patience: number,
  ): Promise<unknown> {
    const turns = this.#turns.get(chipid) ?? { last: Promise.resolve(), count: 0 };
    if (turns.count > MAX_WAITING)
      throw queueFull(`device ${chipid}`, `${MAX_WAITING} commands wait already`);
    this.#turns.set(chipid, turns);
    turns.count++;
    const before = turns.last;
    let end!: () => void;
    turns.last = new Promise((resolve) => (end = resolve));
    try {
      await before;
      return await this.callAtOnce(name, chipid, args, ms, patience);
    } finally {
      if (--turns.count === 0) this.#turns.delete(chipid);
      end();
    }
  }

  /** Makes a call as {@link call} does, and does not wait for earlier ones. */
  async callAtOnce(
    name: string,
    chipid: string,
    args: unknown,
    ms: number,
    patience: number,
  ): Promise<unknown> {
    const end = performance.now() + patience;
    for (;;) {
      try {
        return await this.#make({ name, chipid, args }, ms);
      } catch (error) {
        if (!(error instanceof NotSent)) throw error;
        if (performance.now() >= end) throw notSent(error);
        await sleep(AGAIN);
      }
    }
  }

  /**
   * Asks all members, this one included.
   * @returns what those have answered that were not silent for 2 s, and how many others there are
   */
  async askAll(name: string, args: unknown): Promise<{ answers: unknown[]; missing: number }> {
    const { members, member } = this.#options;
    const others = members().filter((each) => each !== member);
    const asked = [member, ...others].map((to) => this.ask(to, name, args));
    const results = await Promise.allSettled(asked);
    const answers = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    return { answers, missing: results.length - answers.length };
  }

  /** Takes a message to this member: a call, or the answer to one. */
  receive(text: string): void {
    let message: unknown;
    try {
      message = decode(text);
    } catch {
      return;
    }
    if (!isObject(message)) return;
    const { answer } = message;
    if (typeof answer === 'string') this.#pending.get(answer)?.settle(message as unknown as Answer);
    else if (typeof message['id'] === 'string') void this.#serve(message as unknown as Call);
  }

  /** Members may have gone: they answer nothing any more. */
  changed(): void {
    const members = new Set(this.#options.members());
    for (const pending of this.#pending.values())
      if (!members.has(pending.by)) pending.settle(undefined);
  }

  /** Ends all that waits for an answer, and gives none any more. */
  close(): void {
    this.#isClosed = true;
    for (const pending of this.#pending.values()) pending.settle(undefined);
  }

  async #make(call: CallOf, ms: number): Promise<unknown> {
    const { ownerOf, member, age, canHear, problem } = this.#options;
    const owner = ownerOf(call.chipid);
    if (owner === member) return this.#here(call);
    if (age() > OFFLINE || !canHear())
      throw new NotSent(problem() ?? 'The engine of the cluster cannot be reached.');
    if (owner === undefined)
      throw new NotSent('No process of the cluster has the device at the moment.');
    return this.#send(owner, call, ms);
  }

  /** Asks one process something that is about no device. Rejects if it is silent for 2 s, or has gone. */
  ask(member: string, name: string, args: unknown): Promise<unknown> {
    const call = { name, chipid: '', args };
    if (member === this.#options.member) return this.#here(call);
    return this.#send(member, call, SILENT - TRANSFER);
  }

  async #here({ name, chipid, args }: CallOf, until = Infinity): Promise<unknown> {
    const { mayAct, time, handle } = this.#options;
    if (time() >= until) throw new NotSent('The call was too long on its way.');
    if (chipid !== '' && !mayAct(chipid)) throw new NotSent(GONE);
    return handle(name, chipid, args);
  }

  async #send(owner: string, call: CallOf, ms: number): Promise<unknown> {
    const { member, publish, time } = this.#options;
    const id = randomUUID();
    const text = textOf({ id, from: member, ...call, until: time() + ms } satisfies Call);
    if (text.length > MAX_CALL)
      throw invalidInput('The call is larger than the 1 MiB that processes can send each other.');
    const answer = new Promise<Answer | undefined>((settle) =>
      this.#pending.set(id, { by: owner, settle }),
    );
    const timer = setTimeout(() => this.#pending.get(id)?.settle(undefined), ms + TRANSFER);
    try {
      await this.#publish(() => publish(owner, text));
      return valueOf(await answer);
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  /** What is not known to have failed may be answered. */
  async #publish(publish: () => Promise<number>): Promise<void> {
    try {
      if ((await publish()) > 0) return;
    } catch (error) {
      const { isUnsent, isRefusal } = error as EngineError;
      if (!isUnsent && !isRefusal) return;
    }
    throw new NotSent('The process that has the device cannot be reached.');
  }

  async #serve({ id, from, until, ...call }: Call): Promise<void> {
    const { members, onOrphan } = this.#options;
    let result: Answer;
    try {
      // JSON has no undefined.
      result = { value: (await this.#here(call, until)) ?? null };
    } catch (error) {
      result = error instanceof NotSent ? { notSent: true } : { error: plainError(error) };
    }
    if (
      !(await this.#answer(from, answerOf(id, result))) &&
      !members().includes(from) &&
      !('notSent' in result)
    )
      onOrphan(call.chipid, call.args, result);
  }

  /** @returns whether somebody has received it. It may be given twice: only the first counts */
  async #answer(to: string, text: string): Promise<boolean> {
    const { publish, members } = this.#options;
    while (!this.#isClosed) {
      const received = await publish(to, text).catch(() => undefined);
      if (received !== undefined && received > 0) return true;
      if (!members().includes(to)) return false;
      await sleep(AGAIN);
    }
    return false;
  }
}

function valueOf(answer: Answer | undefined): unknown {
  if (!answer)
    throw new DeviceCloudError(
      'TIMEOUT',
      'no answer from the process that has the device: it may have ended. Whether the device acted is unknown.',
    );
  if ('notSent' in answer) throw new NotSent(GONE);
  return valueOfResult(answer);
}

/** @throws DeviceCloudError `INVALID_INPUT` if it cannot be JSON */
function textOf(message: unknown): string {
  try {
    return encode(message);
  } catch (error) {
    throw invalidInput(`It cannot be sent to another process: ${(error as Error).message}`);
  }
}

/** The message that answers a call. What cannot be sent becomes an error. */
function answerOf(id: string, result: Answer): string {
  let reason = 'the answer is larger than the 16 MiB that processes can send each other.';
  try {
    const text = encode({ answer: id, ...result });
    if (text.length <= MAX_ANSWER) return text;
  } catch (error) {
    reason = `the answer cannot be sent to another process: ${(error as Error).message}`;
  }
  return encode({
    answer: id,
    error: plainError(new DeviceCloudError('INVALID_RESPONSE', reason)),
  });
}
