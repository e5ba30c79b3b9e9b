import { DEFAULT_VERSION, installNodeRed5, installedNode, isVersion } from './node-red.mjs';
import { SetupError } from './npm.mjs';
import { lockPacked } from './packed.mjs';
import { fail, setup } from './setup.mjs';
import { clearCompiled, headline, report, runStep } from './steps.mjs';
import {
  HAS_REDIS,
  SUITES,
  WITH_REDIS,
  elsewhere,
  mochaStep,
  nodeRedStep,
  readCounts,
  skippedStep,
  unitStep,
} from './suites.mjs';

/*
 * `npm test`: everything. `node scripts/test.mjs e2e [--on 5] [-- mocha options]`: a part.
 * The last line is always the count; the exit code is 0 only when every step went well.
 */

const USAGE = `Usage: node scripts/test.mjs [${Object.keys(SUITES).join('|')}] [--on 4|5] [-- …]
--on chooses the Node-RED of e2e and editor.`;

// The build compiles the run-time half, and so checks its types.
const build = { name: 'build and types', commands: [['scripts/prepare.mjs', 'build']] };
const packed = { name: 'packed package', commands: [['scripts/prepare.mjs', 'packed']] };
const browser = { name: 'browser', commands: [['scripts/prepare.mjs', 'browser']] };
const editorTypes = {
  name: 'types of the editor half',
  commands: [['node_modules/typescript/bin/tsc', '-p', 'tsconfig.editor.json']],
};
const lint = {
  name: 'lint',
  commands: [['node_modules/oxlint/bin/oxlint', '-c', 'oxlint.config.mjs', '.']],
};
const format = {
  name: 'format',
  commands: [['node_modules/oxfmt/bin/oxfmt', '--check', '.']],
};
const nodeRed5 = { name: 'Node-RED 5', commands: [['scripts/prepare.mjs', 'node-red-5']] };
const scorecard = { name: 'scorecard tool', commands: [['scripts/prepare.mjs', 'scorecard']] };

const total = { passed: 0, failed: 0, skipped: 0 };

/** A failed step that is no test counts as one failure, so that the last line never looks well. */
async function check(step, { quiet = false } = {}) {
  if (!quiet) headline(step.name);
  const result = await runStep(step, { quiet });
  const counts = step.counts ? readCounts(step) : { passed: 0, failed: 0 };
  if (!result.ok) counts.failed ||= 1;
  if (counts.failed > 0) result.ok = false;
  total.passed += counts.passed;
  total.failed += counts.failed;
  report(result, { quiet, always: step.counts !== undefined });
  return result.ok;
}

/** Says how many tests of these suites did not run, since what they need is not installed. */
async function countSkipped(names) {
  const suites = HAS_REDIS ? [] : WITH_REDIS.filter((name) => names.includes(name));
  for (const name of suites) {
    const step = skippedStep(name);
    const { ok, output } = await runStep(step, { quiet: true });
    if (!ok) throw new SetupError(output);
    total.skipped += readCounts(step).passed;
  }
  if (suites.length === 0) return;
  console.log(
    `\nNo redis-server is installed: ${total.skipped} tests of the cluster on a real server did not run.`,
  );
}

/**
 * Runs a number of steps at a time. The tests start processes of their own and wait for them, and for the service's
 * clock, most of the time: as many lanes as cores would leave the cores idle for half of it.
 * @param steps functions that give a step once what it needs is there, or nothing
 */
async function inLanes(count, steps) {
  const left = [...steps];
  const lane = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const step = await next();
      if (step) await check(step, { quiet: true });
    }
  };
  await Promise.all(Array.from({ length: count }, lane));
}

async function everything() {
  await lockPacked();
  clearCompiled();
  setup({ build: false });
  const quietly = (step) => check(step, { quiet: true });
  const isBuilt = quietly(build);
  const isPacked = isBuilt.then((ok) => ok && quietly(packed));
  const hasBrowser = isBuilt.then((ok) => ok && quietly(browser));
  const hasScorecard = quietly(scorecard);
  const hasNodeRed5 = quietly(nodeRed5);
  const style = inLanes(
    1,
    [lint, format, editorTypes].map((step) => () => step),
  );
  await inLanes(5, suites({ isBuilt, isPacked, hasBrowser, hasScorecard, hasNodeRed5 }));
  if (await isBuilt) await countSkipped(Object.keys(SUITES));
  await style;
}

/**
 * Every suite, spread over the versions of Node.js: the oldest that is supported is meant to be the machine's own,
 * 22 and 24 are installed. Each starts when what it needs is there, the longest first, so that the lanes end at about
 * the same time.
 */
function suites({ isBuilt, isPacked, hasBrowser, hasScorecard, hasNodeRed5 }) {
  /** The path of an installed Node.js; undefined if this platform has none, so that the machine's own is used. */
  const newer = async (major) => {
    if (!(await hasNodeRed5)) return undefined;
    try {
      return installedNode(major);
    } catch (error) {
      if (error instanceof SetupError) return undefined;
      throw error;
    }
  };
  const own = process.versions.node.split('.')[0];
  const on = (name, node, major) => `${name} on Node.js ${node ? major : own}`;
  const onNodeRed = (name, version) => async () => {
    const [packed, has5] = await Promise.all([isPacked, hasNodeRed5, hasBrowser]);
    if (!packed || (version === '5' && !has5)) return undefined;
    const without = has5 ? elsewhere(name, version) : [];
    const node = version === '4' && name === 'e2e' ? await newer('22') : undefined;
    return nodeRedStep(name, version, { node, without });
  };
  const matrix = 'matrix/fault-matrix.test.ts';
  const nodes = (name, options) => async () => {
    const node = await newer('22');
    return (await isBuilt) && mochaStep(on(name, node, '22'), SUITES.nodes, { node, ...options });
  };
  return [
    async () => (await isBuilt) && unitStep('other unit tests', { long: false }),
    onNodeRed('editor', '5'),
    onNodeRed('e2e', '4'),
    onNodeRed('e2e', '5'),
    nodes('other node tests', { without: [matrix] }),
    async () => {
      const node = await newer('24');
      const name = on('random and cluster unit tests', node, '24');
      return (await isBuilt) && unitStep(name, { long: true, node });
    },
    nodes('fault matrix', { isChosen: (file) => file === matrix }),
    onNodeRed('editor', '4'),
    async () => {
      const [packed] = await Promise.all([isPacked, hasScorecard]);
      return packed && mochaStep('the package and its commands', SUITES.package);
    },
  ];
}

async function part(name, version, extra) {
  if (SUITES[name].packed) await lockPacked();
  setup();
  if (version === '5') installNodeRed5();
  if (SUITES[name].packed && !(await check(packed))) return;
  const step = SUITES[name].onNodeRed
    ? nodeRedStep(name, version, { extra })
    : mochaStep(name, SUITES[name], { extra });
  await check(step);
  await countSkipped([name]);
}

/** What was typed; `undefined` for what nobody could mean. */
function read([name, ...rest]) {
  const at = rest.indexOf('--');
  const [options, extra] = at < 0 ? [rest, []] : [rest.slice(0, at), rest.slice(at + 1)];
  const [on, version, ...more] = options;
  if (!SUITES[name] || more.length > 0) return undefined;
  if (on === undefined) return { name, version: DEFAULT_VERSION, extra };
  const right = on === '--on' && isVersion(version) && SUITES[name].onNodeRed;
  return right ? { name, version, extra } : undefined;
}

const typed = process.argv.slice(2);
try {
  const asked = read(typed);
  if (typed.length === 0) await everything();
  else if (asked) await part(asked.name, asked.version, asked.extra);
  else throw new SetupError(USAGE);
} catch (error) {
  fail(error);
  total.failed += 1;
}
if (total.passed === 0) total.failed ||= 1;
if (total.failed > 0) process.exitCode = 1;
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`);
