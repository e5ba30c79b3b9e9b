import { Budgets } from '../../../src/recovery/budget';
import { HistoryFacts } from '../../../src/recovery/facts';
import type { RecoveryShared } from '../../../src/recovery/deps';
import { LIMITS } from '../../../src/recovery/timing';

/** What recoveries share, where each has its turn at once and nothing is left to chance. */
export const sharedBy = (read: RecoveryShared['read']): RecoveryShared => ({
  appid: '1',
  read,
  limiter: {
    acquire: (reader) => reader.granted(),
    cancel: () => undefined,
    release: () => undefined,
  },
  budgets: new Budgets(),
  facts: new HistoryFacts(),
  limits: LIMITS,
  now: () => Date.UTC(2026, 0, 2),
  random: () => 0.5,
});
