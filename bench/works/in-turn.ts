import type { Plan } from '../plan';
import { addRound, newRow, type Role, type Row } from '../report/results';

/** One that takes part in a work. */
export interface Contender {
  contender: string;
  label: string;
  role: Role;
}

/** Those of a work's contenders that a plan does not leave out. */
export const takingPart = <C extends Contender>(
  { without }: Plan,
  work: string,
  contenders: readonly C[],
): C[] => contenders.filter(({ contender }) => !without.includes(`${work}-${contender}`));

/** Lets contenders do a work in turn, A B C A B C …, so that what disturbs the machine disturbs all. */
export async function inTurn<C extends Contender>(
  rounds: number,
  contenders: readonly C[],
  measure: (contender: C) => Promise<Record<string, number>>,
): Promise<Row[]> {
  const rows = contenders.map(({ contender, label, role }) => newRow(contender, label, role));
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      process.stderr.write(`  round ${round + 1} of ${rounds}: ${contender.label}\n`);
      addRound(rows[index], await measure(contender));
    }
  }
  return rows;
}
