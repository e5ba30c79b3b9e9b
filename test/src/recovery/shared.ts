import { HistoryFacts } from '../../../src/recovery/facts';
import type { StreamHistory } from '../../../src/recovery/reader';
import { Budgets, LIMITS } from '../../../src/recovery/limits';
import type { RecoveryShared } from '../../../src/recovery/options';

const ignore = (): void => undefined;

/** Answers a history as a whole. */
export type AnswerHistory = (chipid: string, signal: AbortSignal) => Promise<readonly unknown[]>;

/** A history that is read record by record. */
export const streamed =
  (answer: AnswerHistory): StreamHistory =>
  async (chipid, signal, onRecord) => {
    const records = await answer(chipid, signal);
    const end = records.findIndex((record) => onRecord(record) === false);
    return { records: records.length, bytes: 0, isWhole: end < 0 };
  };

/** What recoveries share, where each has its turn at once and nothing is left to chance. */
export const sharedBy = (answer: AnswerHistory): RecoveryShared => ({
  appid: '1',
  read: streamed(answer),
  limiter: {
    acquire(granted) {
      let isReleased = false;
      queueMicrotask(() => {
        if (!isReleased) granted();
      });
      return { release: () => (isReleased = true) };
    },
    pause: ignore,
  },
  budgets: new Budgets(),
  facts: new HistoryFacts(),
  limits: LIMITS,
  observer: {
    onRecovering: ignore,
    onHold: ignore,
    onEmitted: ignore,
    onRecovered: ignore,
  },
  now: () => Date.UTC(2026, 0, 2),
  random: () => 0.5,
});
