import { parseArgs } from 'node:util';
import { PLANS, type Plan } from './plan';

/** What a run does. */
export interface Options {
  plan: Plan;
  /** Beginnings of the works' names; none: all. */
  only: string[];
  /** Whether what was measured goes into the documents or, with --quick, into the ratios to compare with. */
  record: boolean;
}

/**
 * Reads the command line: `--quick --only push,signing --rounds 3 --record`.
 * @throws Error that says what is wrong
 */
export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      smoke: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      rounds: { type: 'string' },
      record: { type: 'boolean', default: false },
    },
  });
  const plan = { ...PLANS[values.smoke ? 'smoke' : values.quick ? 'quick' : 'full'] };
  if (values.rounds !== undefined) {
    const rounds = Number(values.rounds);
    if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) {
      throw new Error(`--rounds must be a whole number from 1 to 100, but is ${values.rounds}.`);
    }
    Object.assign(plan, { rounds, channelRounds: rounds, deviceRounds: rounds });
  }
  const only = values.only.split(',').filter((name) => name !== '');
  if (values.record && values.smoke) throw new Error('--record does not go with --smoke.');
  return { plan, only, record: values.record };
}
