import { SetupError } from './npm.mjs';
import { fail, setup } from './setup.mjs';
import { headline, report, runStep } from './steps.mjs';
import { SUITES, coverageStep, mochaStep, readCounts } from './suites.mjs';

/*
 * `npm test`: everything. `node scripts/test.mjs unit|nodes|e2e|editor [-- mocha options]`: a part.
 * The last line is always the count; the exit code is 0 only when every step went well.
 */

const TSC = 'node_modules/typescript/bin/tsc';
const types = {
  name: 'types',
  commands: [
    [TSC, '--noEmit'],
    [TSC, '-p', 'tsconfig.editor.json'],
  ],
};
const lint = { name: 'lint', commands: [['node_modules/eslint/bin/eslint.js', '.']] };
const format = {
  name: 'format',
  commands: [['node_modules/prettier/bin/prettier.cjs', '--check', '.']],
};
const build = { name: 'build', commands: [['scripts/build-if-stale.mjs']] };

const total = { passed: 0, failed: 0 };

/** A failed step that is no test counts as one failure, so that the last line never looks well. */
async function check(step, { quiet = false } = {}) {
  if (!quiet) headline(step.name);
  const result = await runStep(step, { quiet });
  const counts = step.counts ? readCounts(step) : { passed: 0, failed: 0 };
  if (!result.ok) counts.failed ||= 1;
  if (counts.failed > 0) result.ok = false;
  total.passed += counts.passed;
  total.failed += counts.failed;
  report(result, { quiet });
  return result.ok;
}

async function everything() {
  setup({ build: false });
  // Style beside types and build; both are through before the tests, which want the machine.
  const style = Promise.all([check(lint, { quiet: true }), check(format, { quiet: true })]);
  const compiled = (await check(types, { quiet: true })) && (await check(build, { quiet: true }));
  await style;
  if (!compiled) return;
  const unitAndNodes = { folders: ['src', 'nodes'], timeout: SUITES.nodes.timeout };
  await check(mochaStep('unit and node tests', unitAndNodes, { coverage: true }));
  await check(coverageStep);
  await check(mochaStep('e2e', SUITES.e2e));
  await check(mochaStep('editor', SUITES.editor));
}

async function part(name, extra) {
  setup();
  await check(mochaStep(name, SUITES[name], { extra }));
}

const [name, dashes, ...extra] = process.argv.slice(2);
try {
  if (name === undefined) await everything();
  else if (SUITES[name] && (dashes ?? '--') === '--') await part(name, extra);
  else
    throw new SetupError(`Usage: node scripts/test.mjs [${Object.keys(SUITES).join('|')} [-- …]]`);
} catch (error) {
  fail(error);
  total.failed += 1;
}
if (total.passed === 0) total.failed ||= 1;
if (total.failed > 0) process.exitCode = 1;
console.log(`\n${total.passed} passed, ${total.failed} failed`);
