import { settled } from '../../../tooling/until';
import { createHistory, type HistoryOptions } from './history';
import { createRuns, type RunOptions } from './runs';
import type { Step } from './steps';
import { pass, tick } from '../../support/clock';

interface Asked {
  resolve: (records: unknown[]) => void;
  reject: (error: Error) => void;
  signal: AbortSignal;
  answer?: unknown[];
}

export interface WorldOptions extends HistoryOptions, RunOptions {
  /** Uploads that were there before the listener. */
  earlier?: number;
}

/** A listener's recovery between a service and a network that a test drives step by step. */
export function createWorld(options: WorldOptions = {}) {
  const accepted: string[] = [];
  const history = createHistory(accepted, options);
  let inFlight: (() => void)[] = [];
  let flushes: (() => void)[] = [];
  let readings: Asked[] = [];
  let connected = false;
  /** An event that cannot be read makes its upload come late. */
  let garbled = false;

  for (let index = 0; index < (options.earlier ?? 0); index++) accepted.push(`earlier${index}`);
  const runs = createRuns(options, history, {
    read: (_chipid, signal) =>
      new Promise((resolve, reject) => {
        readings.push({ resolve, reject, signal });
      }),
    flush(passed) {
      if (!connected) passed();
      else {
        flushes.push(passed);
        inFlight.push(passed);
      }
    },
  });

  const upload = (body: string): void => {
    accepted.push(body);
    if (!connected) return;
    const timestamp = accepted.length;
    const arriving = { chipid: '1', appid: '1', timestamp, body: history.bytesOf(body) };
    inFlight.push(() => runs.recovery.onUpload(arriving));
  };
  const garble = (body: string): void => {
    accepted.push(body);
    if (!connected) return;
    garbled = true;
    inFlight.push(() => runs.recovery.onGap());
  };
  const deliver = (frames: number): void => {
    for (const arrive of inFlight.splice(0, frames)) if (!runs.closed) arrive();
  };
  const drop = (): void => {
    if (!connected) return;
    connected = false;
    inFlight = [];
    for (const passed of flushes.splice(0)) passed();
    runs.recovery.onState('disconnected');
  };
  const connect = (): void => {
    drop();
    connected = true;
    runs.recovery.onState('connected');
  };
  const asked = (): Asked | undefined => {
    readings = readings.filter(({ signal }) => !signal.aborted);
    return readings[0];
  };
  const serve = (): void => {
    const reading = asked();
    if (reading) reading.answer ??= history.read();
  };
  const answer = (): void => {
    const reading = asked();
    if (!reading) return;
    readings.shift();
    reading.resolve(reading.answer ?? history.read());
  };
  const fail = (): void => {
    if (asked()) readings.shift()?.reject(new Error('failed'));
  };
  const restart = (lost?: number): void => {
    runs.restart(lost);
    connected = false;
    inFlight = [];
    flushes = [];
    readings = [];
  };

  const acts: { [Kind in Step['kind']]: (step: Extract<Step, { kind: Kind }>) => void } = {
    upload: ({ body }) => upload(body),
    garbled: ({ body }) => garble(body),
    deliver: ({ frames }) => deliver(frames),
    connect,
    drop,
    serve,
    answer,
    fail,
    lag: ({ uploads }) => history.lag(uploads),
    hide: ({ back }) => history.hide(accepted.length - 1 - back),
    wait: ({ ms }) => tick(ms),
    restart: ({ lost }) => restart(lost),
    kill: ({ after, lost }) => runs.kill(after, lost),
  };
  const run = async (step: Step): Promise<void> => {
    (acts[step.kind] as (step: Step) => void)(step);
    await settled(1);
    runs.checkStrays();
    if (runs.closed) restart();
    runs.checkWritten();
  };

  return {
    accepted,
    overtaken: history.overtaken,
    emitted: runs.emitted,
    live: runs.live,
    whole: runs.whole,
    faults: runs.faults,
    run,
    get late() {
      return garbled || runs.late;
    },
    position: () => runs.position(),
    /** The network holds and the service answers, until nothing is under way any more. */
    async quiet(): Promise<void> {
      runs.kill(Infinity, 0);
      if (!connected) await run({ kind: 'connect' });
      for (let idle = 0; idle < 3;) {
        const busy = asked() !== undefined || inFlight.length > 0;
        await run({ kind: 'answer' });
        await run({ kind: 'deliver', frames: Infinity });
        if (!busy) await run({ kind: 'wait', ms: 20_000 });
        idle = busy ? 0 : idle + 1;
      }
    },
    /** Closes it in the midst of everything: nothing may come of what was under way. */
    async close(): Promise<void> {
      runs.close();
      for (const reading of readings) reading.resolve(history.read());
      await settled(1);
      await pass(200_000, 1);
      runs.checkStrays();
      runs.checkAccounts();
    },
  };
}

export type World = ReturnType<typeof createWorld>;
