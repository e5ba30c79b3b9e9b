import { parseArgs } from 'node:util';
import { checkout } from './checkout.mjs';
import { SetupError } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/* `npm run bench`: see docs/inside/performance.md. */

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  rounds: { type: 'string' },
  record: { type: 'boolean', default: false },
  page: { type: 'boolean', default: false },
  against: { type: 'string' },
};

/** Fewer pairs of rounds give no verdict, even if all of them agree. */
const LEAST_PAIRS = 5;

function readOptions() {
  const { values } = parseArgs({ options: OPTIONS });
  const { quick, record, page, against: ref } = values;
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  const least = ref === undefined ? 1 : LEAST_PAIRS;
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= least)) {
    throw new SetupError(`--rounds must be a whole number from ${least} on, not ${values.rounds}.`);
  }
  if (record && (quick || ref !== undefined)) {
    throw new SetupError('--record needs a whole run: without --quick and --against.');
  }
  const only = values.only.split(',').filter((name) => name !== '');
  return { quick, only, rounds, record, page, ref };
}

// Exit handlers must run: they end the subjects.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

try {
  process.setSourceMapsEnabled(true);
  const { ref, ...options } = readOptions();
  setup();
  const against = ref === undefined ? undefined : { ref, folder: checkout(ref) };
  const { bench } = await import('../dist/bench/bench.js');
  if (!(await bench({ ...options, against }))) process.exitCode = 1;
} catch (error) {
  fail(error);
}
