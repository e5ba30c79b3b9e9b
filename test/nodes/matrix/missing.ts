import assert from 'node:assert/strict';
import type { Simulator } from '../../../src/simulator';
import { CHIPID, NOTHING, said } from './row';

const DOWN = '`the channel is down (1001).`';

export const MISSED = ['missed 1', 'missed 2', 'missed 3', 'missed 4', 'missed 5'];

/** Uploads what the channel, which ends, cannot carry. */
export function miss(cloud: Simulator, missed: readonly string[]): void {
  cloud.disconnect(CHIPID);
  for (const text of missed) cloud.upload(CHIPID, text);
}

/** What was said but of the channel that was closed for the row. */
export function saidOfHistory(): string {
  const lines = said()
    .split(', `')
    .map((line, index) => (index === 0 ? line : `\`${line}`));
  assert.ok(lines.includes(DOWN), lines.join());
  return lines.filter((line) => line !== DOWN).join(', ') || NOTHING;
}
