import { setTimeout as sleep } from 'node:timers/promises';
import { DeviceCloudError, isDeviceCloudError, withoutCode } from '../errors';
import { callOnce, type HttpContext } from '../http/exchange';
import { CLOSED, Deadlines, onAbort } from '../http/deadline';
import type { Answer, ResultAnswer } from '../types';
import type { OpenApi } from '../protocol/open-api';

/** Milliseconds that setting a pin back may take once the caller, or the client, has ended the pulse. */
const LAST = 3000;

/** Sets a pin, and sets it to the opposite level after a time. */
export interface Pulse {
  chipid: string;
  pin: number;
  level: 0 | 1;
  /** Milliseconds between the two. */
  duration: number;
  /** Whether an error may advise to wait for the device. */
  canWait: boolean;
}

const name = (level: 0 | 1): string => (level === 1 ? 'high (1)' : 'low (0)');
const opposite = (level: 0 | 1): 0 | 1 => (level === 1 ? 0 : 1);

/** An error that says, in addition, how the pulse left the pin. */
function withEnd(error: DeviceCloudError, end: string, uncertain: boolean): DeviceCloudError {
  // UNREACHABLE would say that nothing of the pulse was sent.
  const code = uncertain && error.code === 'UNREACHABLE' ? 'CONNECTION_LOST' : error.code;
  return new DeviceCloudError(code, `${withoutCode(error)} ${end}`, error.statusCode, uncertain);
}

const cutShort = ({ chipid, pin }: Pulse, ended: AbortSignal): DeviceCloudError =>
  new DeviceCloudError(
    'CONNECTION_LOST',
    `Cut short: ${String(ended.reason)}. The pulse on pin ${pin} of device ${chipid} ended early.`,
  );

/**
 * The pulses of an application. Once a pulse may have begun, the opposite level is sent exactly once,
 * whatever else happens, since a pin that stays on may drive anything.
 */
export class Pulses {
  readonly #http: HttpContext;
  readonly #api: OpenApi;
  readonly #explain: (signal: AbortSignal) => string;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  /** Of the calls that set a pin back: neither the signal of a caller nor the end of the client may end them. */
  readonly #deadlines = new Deadlines();

  /** @param explain why a signal aborted, without secrets */
  constructor(http: HttpContext, api: OpenApi, explain: (signal: AbortSignal) => string) {
    this.#http = http;
    this.#api = api;
    this.#explain = explain;
  }

  /**
   * Carries out a pulse.
   * @param timeout milliseconds that each of its two calls may take
   * @param signal ends the pulse early: the opposite level is sent at once, within 3 s
   * @returns the answer to the second call
   * @throws DeviceCloudError that says at which level the pin was left, or may have been left
   */
  run(pulse: Pulse, timeout: number, signal?: AbortSignal): Promise<Answer<ResultAnswer>> {
    const ended = new AbortController();
    const ignores = [this.#closing.signal, ...(signal ? [signal] : [])].map((by) =>
      onAbort(by, () => ended.abort(this.#explain(by))),
    );
    const running = this.#run(pulse, timeout, signal, ended.signal).finally(() => {
      for (const ignore of ignores) ignore();
      this.#running.delete(running);
    });
    this.#running.add(running);
    return running;
  }

  /** Ends the pulses under way. Resolves once their pins are set back, after 3 s at most. */
  async close(): Promise<void> {
    this.#closing.abort(CLOSED);
    await Promise.allSettled(this.#running);
  }

  /** @param ended aborts, with a text that says why, when the pulse is to end before its time */
  async #run(
    pulse: Pulse,
    timeout: number,
    signal: AbortSignal | undefined,
    ended: AbortSignal,
  ): Promise<Answer<ResultAnswer>> {
    const { failed, warning } = await this.#begin(pulse, timeout, signal);
    const pin = `Pin ${pulse.pin} of device ${pulse.chipid}`;
    if (!failed) await sleep(pulse.duration, undefined, { signal: ended }).catch(() => undefined);
    const cut = failed ?? (ended.aborted ? cutShort(pulse, ended) : undefined);
    let answer: Answer<ResultAnswer>;
    try {
      answer = await this.#setBack(pulse, timeout, ended);
    } catch (error) {
      if (!isDeviceCloudError(error)) throw error;
      const left = failed || error.uncertain ? 'may have been left' : 'was left';
      const end = `${pin} ${left} at ${name(pulse.level)}.`;
      throw cut
        ? withEnd(cut, `Setting it back failed: ${withoutCode(error)} ${end}`, true)
        : withEnd(error, end, true);
    }
    // A warning may be about either of the two.
    if (!cut) return warning === undefined ? answer : { warning, ...answer };
    throw withEnd(
      cut,
      `${pin} was set back, and was left at ${name(opposite(pulse.level))}.`,
      true,
    );
  }

  /** Sets the level. @returns the warning of the answer, or the error if it may have been set all the same */
  async #begin(
    { chipid, pin, level, canWait }: Pulse,
    timeout: number,
    signal: AbortSignal | undefined,
  ): Promise<{ failed?: DeviceCloudError; warning?: string | undefined }> {
    try {
      const set = this.#api.setGpioEdge(chipid, pin, level);
      set.call.canWait = canWait;
      const { warning } = await callOnce(this.#http, set, timeout, signal);
      return { warning };
    } catch (error) {
      if (!isDeviceCloudError(error)) throw error;
      if (error.uncertain) return { failed: error };
      throw withEnd(error, `The pulse did not begin: pin ${pin} was left as it was.`, false);
    }
  }

  /** Sends the opposite level: within 3 s once the end is awaited. */
  async #setBack(
    { chipid, pin, level }: Pulse,
    timeout: number,
    ended: AbortSignal,
  ): Promise<Answer<ResultAnswer>> {
    const late = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const hurry = (): void => {
      timer = setTimeout(() => late.abort(`it took longer than ${LAST / 1000} s`), LAST);
    };
    if (ended.aborted) hurry();
    else ended.addEventListener('abort', hurry);
    try {
      const http = { ...this.#http, deadlines: this.#deadlines };
      const set = this.#api.setGpioEdge(chipid, pin, opposite(level));
      return await callOnce(http, set, timeout, late.signal);
    } finally {
      ended.removeEventListener('abort', hurry);
      clearTimeout(timer);
    }
  }
}
