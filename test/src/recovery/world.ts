import { mock } from 'node:test';
import type { UploadRecord } from '../../../src/records';
import { createRecovery, type Recovery } from '../../../src/recovery/recovery';
import type { Position } from '../../../src/recovery/ledger';
import type { Limits } from '../../../src/recovery/timing';

/** What can happen to a device, its service, the network between, and the listener. */
export type Step =
  | { kind: 'upload'; body: string }
  /** An upload whose event arrives as something that cannot be read. */
  | { kind: 'garbled'; body: string }
  /** So many frames that are on their way arrive. */
  | { kind: 'deliver'; frames: number }
  | { kind: 'connect' }
  | { kind: 'drop' }
  /** The service takes its answer to a reading, which is then on its way. */
  | { kind: 'serve' }
  | { kind: 'answer' }
  | { kind: 'fail' }
  | { kind: 'wait'; ms: number }
  /** The process is killed and started again. */
  | { kind: 'restart' };

interface Asked {
  resolve: (records: UploadRecord[]) => void;
  reject: (error: Error) => void;
  signal: AbortSignal;
  answer?: UploadRecord[];
}

interface WorldOptions {
  /** How many uploads the history keeps. */
  window?: number;
  /** Uploads that were there before the listener. */
  earlier?: number;
  limits?: Partial<Limits>;
}

/** Everything that has been promised so far has come about; timers stand still. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A listener's recovery between a service and a network that a test drives step by step. */
export function createWorld({ window = Infinity, earlier = 0, limits = {} }: WorldOptions = {}) {
  const accepted: string[] = [];
  const emitted: string[] = [];
  /** The ids of those that were emitted live. */
  const live = new Set<number>();
  let inFlight: (() => void)[] = [];
  let fences: (() => void)[] = [];
  let readings: Asked[] = [];
  let connected = false;
  let saved: Position | undefined;
  let recovery: Recovery;
  /** Uploads come after later ones, as they may once an event or, for a minute, the history is unusable. */
  let late = false;

  const history = (): UploadRecord[] =>
    accepted
      .map((body, index) => ({ id: index + 1, body, dev: '1', app: '', create_time: '' }))
      .slice(-window);

  const listen = (): Recovery =>
    createRecovery({
      appid: '1',
      chipid: '1',
      encoding: 'text',
      read: (signal, asked) =>
        new Promise((resolve, reject) => {
          asked();
          readings.push({ resolve, reject, signal });
        }),
      fence(passed) {
        if (!connected) passed();
        else {
          fences.push(passed);
          inFlight.push(passed);
        }
      },
      emit({ body, replayed, timestamp }) {
        emitted.push(body.toString());
        if (!replayed) live.add(timestamp);
      },
      fault: (text) => (late ||= text.includes('come late')),
      start: saved,
      save: (position) => (saved = JSON.parse(JSON.stringify(position)) as Position),
      limits: { held: 1000, arrived: 500, forgotten: 10_000, ...limits },
      now: () => 0,
      random: () => 0.5,
    });

  const drop = (): void => {
    connected = false;
    inFlight = [];
    for (const passed of fences.splice(0)) passed();
    recovery.onDisconnected();
  };
  const deliver = (frames: number): void => {
    for (const arrive of inFlight.splice(0, frames)) arrive();
  };
  const asked = (): Asked | undefined => {
    readings = readings.filter(({ signal }) => !signal.aborted);
    return readings[0];
  };
  const answer = (): void => {
    const reading = asked();
    if (!reading) return;
    readings.shift();
    reading.resolve(reading.answer ?? history());
  };
  const upload = (body: string, garbled = false): void => {
    accepted.push(body);
    if (!connected) return;
    if (garbled) {
      late = true;
      inFlight.push(() => recovery.onFault());
      return;
    }
    const timestamp = accepted.length;
    const arriving = { chipid: '1', appid: '1', timestamp, body: Buffer.from(body) };
    inFlight.push(() => recovery.onUpload(arriving));
  };

  const connect = (): void => {
    if (connected) drop();
    connected = true;
    recovery.onConnected();
  };
  const serve = (): void => {
    const reading = asked();
    if (reading) reading.answer ??= history();
  };
  const fail = (): void => {
    if (asked()) readings.shift()?.reject(new Error('failed'));
  };
  const restart = (): void => {
    recovery.close();
    connected = false;
    inFlight = [];
    fences = [];
    readings = [];
    recovery = listen();
  };
  const acts: { [Kind in Step['kind']]: (step: Extract<Step, { kind: Kind }>) => void } = {
    upload: ({ body }) => upload(body),
    garbled: ({ body }) => upload(body, true),
    deliver: ({ frames }) => deliver(frames),
    connect,
    drop: () => {
      if (connected) drop();
    },
    serve,
    answer,
    fail,
    wait: ({ ms }) => mock.timers.tick(ms),
    restart,
  };
  const act = (step: Step): void => (acts[step.kind] as (step: Step) => void)(step);
  const run = async (step: Step): Promise<void> => {
    act(step);
    await settled();
  };

  for (let index = 0; index < earlier; index++) upload(`earlier${index}`);
  recovery = listen();

  return {
    accepted,
    emitted,
    live,
    run,
    get late() {
      return late;
    },
    position: () => saved,
    /** The network holds and the service answers, until nothing is under way any more. */
    async quiet(): Promise<void> {
      if (!connected) await run({ kind: 'connect' });
      for (let idle = 0; idle < 3;) {
        const busy = asked() !== undefined || inFlight.length > 0;
        await run({ kind: 'answer' });
        await run({ kind: 'deliver', frames: Infinity });
        if (!busy) await run({ kind: 'wait', ms: 20_000 });
        idle = busy ? 0 : idle + 1;
      }
    },
    close: () => recovery.close(),
  };
}
