import { parseArgs } from 'node:util';
import { SetupError } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/* `npm run bench`: see docs/performance.md. */

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  rounds: { type: 'string' },
  profile: { type: 'boolean', default: false },
};

function readOptions() {
  const { values } = parseArgs({ options: OPTIONS });
  const { quick, profile } = values;
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1)) {
    throw new SetupError(`--rounds must be a whole number from 1 on, not ${values.rounds}.`);
  }
  const only = values.only.split(',').filter((name) => name !== '');
  return { quick, only, rounds, profile };
}

try {
  process.setSourceMapsEnabled(true);
  const options = readOptions();
  setup();
  const { bench } = await import('../dist/bench/bench.js');
  await bench(options);
} catch (error) {
  fail(error);
}
