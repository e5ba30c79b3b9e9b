import { Budgets } from '../../../src/recovery/reading/budget';
import type { PacedAttempt } from '../../../src/pace/attempt';
import { HistoryFacts } from '../../../src/recovery/records/facts';
import type { RecoveryShared } from '../../../src/recovery/deps';
import { LIMITS } from '../../../src/recovery/timing';

const ignore = (): void => undefined;
const TURN: PacedAttempt = { succeeded: ignore, failed: ignore, cancel: ignore };

/** What recoveries share, where each has its turn at once and nothing is left to chance. */
export const sharedBy = (read: RecoveryShared['read']): RecoveryShared => ({
  appid: '1',
  read,
  limiter: {
    acquire: (reader) => reader.granted(TURN),
    cancel: () => undefined,
    isFailing: false,
  },
  budgets: new Budgets(),
  facts: new HistoryFacts(),
  limits: LIMITS,
  now: () => Date.UTC(2026, 0, 2),
  random: () => 0.5,
});
