import { backoff } from '../backoff';
import { isDeviceCloudError } from '../errors';
import type { UploadRecord } from '../records';
import type { Upload } from '../upload-event';
import { createLedger, type Position } from './ledger';
import { liveKey, readRecords, UnusableHistory } from './recorded';
import { createZone } from './zone';

/** What recovery needs of its device, and whom it tells. */
export interface RecoveryDeps {
  appid: string;
  chipid: string;
  encoding: 'text' | 'base64';
  /** Reads the device's history, when its turn among many devices has come. */
  read: (signal: AbortSignal) => Promise<UploadRecord[]>;
  /** Calls back when everything that the peer sent before has arrived. */
  fence: (passed: () => void) => void;
  emit: (upload: Upload) => void;
  /** Something kept uploads from being recovered for now, in words for the log. */
  fault: (text: string) => void;
  /** Where an earlier run left off. */
  start?: Position | undefined;
  /** Is told how far the uploads have been emitted, after each one. */
  save?: ((position: Position) => void) | undefined;
  now: () => number;
  random: () => number;
}

/** Stands between the channel of one device and who listens, and gives back what the channel missed. */
export interface Recovery {
  onUpload(upload: Upload): void;
  onConnected(): void;
  onDisconnected(): void;
  close(): void;
}

/** Live uploads held back at most while the history is read; further ones are left to the history. */
const MAX_HELD = 1000;
/** Arrivals remembered at most; then the history is read to move the position on. */
const MAX_ARRIVED = 500;
/** With so many, the history has been out of reach for too long, and what was missed can't be told. */
const MAX_FORGOTTEN = 10_000;
/** Milliseconds to wait for the channel before the history is read for the first time. */
const FIRST_READ = 5000;
/** Milliseconds live uploads are held back at most: a history that is down must not stop them for good. */
const MAX_HOLD = 60_000;
/** Milliseconds a peer has to answer the fence; one that does not is waited for no longer. */
const FENCE_TIMEOUT = 5000;
const BACKOFF_BASE = 500;
const BACKOFF_CAP = 30_000;
/** Milliseconds after which an ambiguous match is looked at again, at first. */
const FOLLOW_UP = 2000;

const textOf = (error: unknown): string =>
  isDeviceCloudError(error) || error instanceof UnusableHistory ? error.message : String(error);

export function createRecovery(deps: RecoveryDeps): Recovery {
  const { emit, random } = deps;
  let ledger = createLedger(deps.start);
  const zone = createZone();
  const form = { appid: deps.appid, chipid: deps.chipid, encoding: deps.encoding, zone };
  let running: AbortController | undefined;
  let holding = false;
  let held = 0;
  let overflows = 0;
  let followUps = 0;
  let holdTimer: NodeJS.Timeout | undefined;
  let retryTimer: NodeJS.Timeout | undefined;

  const save = (): void => {
    const position = deps.save && ledger.position();
    if (position) deps.save?.(position);
  };

  const letGo = (): void => {
    holding = false;
    held = 0;
    clearTimeout(holdTimer);
  };

  const cancelRetry = (): void => {
    clearTimeout(retryTimer);
    retryTimer = undefined;
  };

  const stop = (): void => {
    running?.abort();
    running = undefined;
    cancelRetry();
    ledger.drop();
    letGo();
  };

  /** The history is out of reach for too long: live uploads go on, missed ones come late. */
  const goLive = (): void => {
    letGo();
    for (const upload of ledger.release()) emit(upload);
    save();
    deps.fault('the history could not be read in time: missed uploads will come late');
  };

  const fence = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(over, FENCE_TIMEOUT);
      function over(): void {
        clearTimeout(timer);
        signal.removeEventListener('abort', over);
        resolve();
      }
      signal.addEventListener('abort', over, { once: true });
      deps.fence(over);
    });

  const settle = (records: UploadRecord[]): void => {
    const { due, pairs, ambiguous } = ledger.settle(readRecords(records, form, deps.now()));
    const pair = pairs.at(-1);
    if (pair) zone.learn(pair.arrived, pair.recorded);
    letGo();
    for (const upload of due) emit(upload);
    save();
    if (ambiguous) again(backoffOf(followUps++, FOLLOW_UP));
    else followUps = 0;
  };

  /** One reading of the history. @returns whether it was good for something */
  const readOnce = async (signal: AbortSignal): Promise<boolean> => {
    const before = overflows;
    ledger.mark();
    const records = await deps.read(signal);
    await fence(signal);
    if (signal.aborted) return true;
    if (overflows !== before) return false;
    settle(records);
    return true;
  };

  const run = async (attempt: number): Promise<void> => {
    cancelRetry();
    const abort = new AbortController();
    running = abort;
    let done = false;
    try {
      done = await readOnce(abort.signal);
    } catch (error) {
      if (!abort.signal.aborted) deps.fault(`uploads could not be recovered: ${textOf(error)}`);
    }
    if (abort.signal.aborted) return;
    running = undefined;
    if (!done) again(backoffOf(attempt, BACKOFF_BASE), attempt + 1);
  };

  const backoffOf = (attempt: number, base: number): number =>
    base / 2 + backoff(attempt, base, BACKOFF_CAP, random);

  function again(delay: number, attempt = 0): void {
    cancelRetry();
    retryTimer = setTimeout(start, delay, attempt);
  }

  function start(attempt: number): void {
    run(attempt).catch((error: unknown) => deps.fault(textOf(error)));
  }

  /** Keeps what is remembered within bounds. */
  const bound = (): void => {
    if (ledger.size > MAX_FORGOTTEN) {
      ledger = createLedger();
      deps.fault('the history was out of reach for too long: older missed uploads are given up');
    }
    if (ledger.size > MAX_ARRIVED && !running && !retryTimer) start(0);
  };

  // What is owed begins with a first reading of the history, even if the channel takes its time.
  if (!ledger.hasPosition) again(FIRST_READ);

  return {
    onConnected() {
      // The first reading only tells where the history stands: it need not begin anew.
      if (running && !ledger.hasPosition) return;
      stop();
      ledger.connect();
      followUps = 0;
      // Without a position nothing is owed yet, so nothing has to wait for it.
      holding = ledger.hasPosition;
      if (holding) holdTimer = setTimeout(goLive, MAX_HOLD);
      start(0);
    },
    onDisconnected() {
      if (ledger.hasPosition) stop();
    },
    onUpload(upload) {
      const key = liveKey(upload.body, deps.encoding);
      if (holding) {
        ledger.add(key, upload.timestamp, upload);
        if (++held <= MAX_HELD) return;
        overflows++;
        held = 0;
        ledger.drop();
        return;
      }
      emit(upload);
      ledger.add(key, upload.timestamp);
      save();
      bound();
    },
    close: stop,
  };
}
