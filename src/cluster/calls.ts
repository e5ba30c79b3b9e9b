import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeviceCloudError, invalidInput } from '../errors';
import { decode, encode, isObject } from '../util/json';
import { Queues, type Caller } from '../commands/queue';
import { plainError, valueOfResult, type Result } from '../commands/saved-call';
import type { EngineError } from './engine-error';

/** Milliseconds between two attempts to hand a call over, and to give its answer back. */
const AGAIN = 100;

/** Milliseconds after which a process that is asked along with all others is left out. */
const SILENT = 2000;

/** Milliseconds that messages may take beyond the time that a call has. */
const TRANSFER = 500;

/** The most characters of a call and of an answer. */
export const MAX_CALL = 2 ** 20;
const MAX_ANSWER = 16 * 2 ** 20;

/** Why a call was not handed over. */
const ABORTED = 'its caller has gone away';

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
  /** @throws NotSent if this process may not act for a device */
  readonly check: (chipid: string) => void;
  readonly members: () => readonly string[];
  /** Why nothing can be handed over to another process now; undefined if it can. */
  readonly obstacle: () => string | undefined;
  /** The engine's clock, in ms. */
  readonly time: () => number;
  readonly handle: Handler;
  /** A call has ended whose caller is no member any more. @param kept what that had kept of it, for whoever gets the result then */
  readonly onOrphan: (chipid: string, kept: unknown, result: Result) => void;
}

interface CallOf {
  readonly name: string;
  /** Empty: it is about no device. */
  readonly chipid: string;
  readonly args: unknown;
  readonly kept?: unknown;
}

/** What may be said of a call to a device. */
export interface CallExtras {
  /** Whom it belongs to until it has its turn. */
  readonly caller?: Caller;
  /** Makes it if the device is this process's, in the place of the handler. */
  readonly here?: () => Promise<unknown>;
  /** As JSON: what is kept of its message, which may outlive this process. */
  readonly kept?: unknown;
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
  /** The calls of this process to each device, in their order. */
  readonly #turns = new Queues(0, { explain: () => ABORTED });
  #isClosed = false;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Own code, as of {@link Queues.arrivals}. */
  get arrivals(): Queues['arrivals'] {
    return this.#turns.arrivals;
  }

  /**
   * Makes a call in the process that owns the device, once the earlier ones of this process to the device have ended.
   * @param ms that it may take once it is handed over
   * @param patience milliseconds for which it is tried again while it certainly was not sent
   * @throws DeviceCloudError `UNREACHABLE`: not sent; `TIMEOUT`: no answer, so that it may have been carried out; `QUEUE_FULL`; or the
   * call's own
   */
  call(
    name: string,
    chipid: string,
    args: unknown,
    ms: number,
    patience: number,
    extras: CallExtras = {},
  ): Promise<unknown> {
    const make = (): Promise<unknown> => this.callAtOnce(name, chipid, args, ms, patience, extras);
    return this.#turns.call(chipid, make, extras.caller);
  }

  /** Makes a call as {@link call} does, and does not wait for earlier ones. */
  async callAtOnce(
    name: string,
    chipid: string,
    args: unknown,
    ms: number,
    patience: number,
    { here, kept }: CallExtras = {},
  ): Promise<unknown> {
    const end = performance.now() + patience;
    for (;;) {
      try {
        return await this.#make({ name, chipid, args, kept }, ms, here);
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
    this.#turns.close();
    for (const pending of this.#pending.values()) pending.settle(undefined);
  }

  /** Asks one process something that is about no device. Rejects if it is silent for 2 s, or has gone. */
  ask(member: string, name: string, args: unknown): Promise<unknown> {
    const { member: own, handle } = this.#options;
    if (member === own) return handle(name, '', args);
    return this.#send(member, { name, chipid: '', args }, SILENT - TRANSFER);
  }

  async #make(call: CallOf, ms: number, here: CallExtras['here']): Promise<unknown> {
    const { ownerOf, member, obstacle, check, handle } = this.#options;
    const { name, chipid, args } = call;
    const owner = ownerOf(chipid);
    if (owner === member) {
      check(chipid);
      return here?.() ?? handle(name, chipid, args);
    }
    const why = obstacle();
    if (why !== undefined) throw new NotSent(why);
    if (owner === undefined)
      throw new NotSent('No process of the cluster has the device at the moment.');
    return this.#send(owner, call, ms);
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

  async #serve({ id, from, until, name, chipid, args, kept }: Call): Promise<void> {
    const { members, onOrphan, check, handle, publish, time } = this.#options;
    let result: Answer;
    try {
      if (time() >= until) throw new NotSent('The call was too long on its way.');
      if (chipid !== '') check(chipid);
      // JSON has no undefined.
      result = { value: (await handle(name, chipid, args)) ?? null };
    } catch (error) {
      result = error instanceof NotSent ? { notSent: true } : { error: plainError(error) };
    }
    const answer = answerOf(id, result);
    // It may be given twice: only the first counts.
    while (!this.#isClosed && !(await publish(from, answer).catch(() => 0))) {
      if (!members().includes(from)) {
        if (!('notSent' in result)) onOrphan(chipid, kept, result);
        return;
      }
      await sleep(AGAIN);
    }
  }
}

/** Options as JSON can hold them: callbacks and signals stay here; of a decoder, it is said which one the other process is to use. */
export function withoutCallbacks(options: object): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  // An option may be inherited.
  for (const name in options) {
    const option = (options as Record<string, unknown>)[name];
    if (typeof option !== 'function') {
      if (name !== 'signal') plain[name] = option;
    } else if ('typeId' in option) plain[name] = { typeId: option.typeId };
  }
  return plain;
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
