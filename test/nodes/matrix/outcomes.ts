import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome, Row } from './row';

/** A line of the table in docs/reliability.md: a fault, and what came of it. */
export type Line = Pick<Row, 'area' | 'fault'> & Outcome;

/**
 * Leaves what came of the faults for scripts/fault-matrix.mjs.
 * @param part which suite tried them
 * @param rows how many it should have been
 */
export function writeOutcomes(
  part: 'nodes' | 'e2e',
  rows: number,
  outcomes: readonly Line[],
): void {
  const folder = join('.cache', 'test');
  mkdirSync(folder, { recursive: true });
  const result = JSON.stringify({ rows, outcomes }, null, 2);
  writeFileSync(join(folder, `fault-matrix-${part}.json`), `${result}\n`);
}
