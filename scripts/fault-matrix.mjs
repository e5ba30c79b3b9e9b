import { fail, setup } from './setup.mjs';
import { runStep } from './steps.mjs';
import { SUITES, mochaStep } from './suites.mjs';

/* `npm run fault-matrix`: writes the fault matrix of docs/inside/reliability.md, as the tests expect it. */

try {
  setup();
  const step = mochaStep('fault matrix', SUITES.nodes, {
    env: { WRITE_FAULT_MATRIX: '1' },
    isChosen: (file) => file === 'matrix/table.test.ts',
  });
  const { ok } = await runStep(step, { quiet: false });
  if (!ok) process.exitCode = 1;
} catch (error) {
  fail(error);
}
