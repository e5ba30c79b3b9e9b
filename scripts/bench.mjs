import { parseArgs } from 'node:util';
import { checkout } from './checkout.mjs';
import { SetupError } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/* `npm run bench`: see docs/performance.md. */

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  rounds: { type: 'string' },
  profile: { type: 'boolean', default: false },
  against: { type: 'string' },
};

function readOptions() {
  const { values } = parseArgs({ options: OPTIONS });
  const { quick, profile, against: ref } = values;
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  const least = ref === undefined ? 1 : 3;
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= least)) {
    throw new SetupError(`--rounds must be a whole number from ${least} on, not ${values.rounds}.`);
  }
  const only = values.only.split(',').filter((name) => name !== '');
  return { quick, only, rounds, profile, ref };
}

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
