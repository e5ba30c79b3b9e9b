import { DEFAULT_VERSION, installNodeRed5, installedNode, isVersion } from './node-red.mjs';
import { SetupError } from './npm.mjs';
import { lockPacked } from './packed.mjs';
import { fail, setup } from './setup.mjs';
import { clearCompiled, headline, report, runStep } from './steps.mjs';
import {
  SUITES,
  elsewhere,
  mochaStep,
  nodeRedStep,
  partsOf,
  readCounts,
  shareStep,
} from './suites.mjs';

/*
 * `npm test`: everything. `npm test -- e2e [--on 5] [-- mocha options]`: a part.
 * `npm test -- test/src/address.test.ts …`: files, each with what its part needs.
 * The last line is always the count; the exit code is 0 only when every step went well.
 */

const USAGE = `Usage: npm test [-- ${Object.keys(SUITES).join('|')}|FILE.test.ts … [--on 4|5] [-- …]]
--on chooses the Node-RED of e2e and editor; what follows the second -- is for mocha.`;

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

/**
 * How many steps run at a time: of those that wait for timers and processes nearly all the time; of those that work
 * more; and of those that install the packed package, which is there later, and have Node-RED or a browser work. More
 * keep two cores no busier, and make tests wait that have limits of time.
 */
const LANES = { waiting: 1, working: 1, packed: 2 };

const total = { passed: 0, failed: 0 };
/** What failed, said once more at the end: the log of a run is long, and often only its end is kept. */
const failures = [];

/** A failed step that is no test counts as one failure, so that the last line never looks well. */
async function check(step, { quiet = false } = {}) {
  if (!quiet) headline(step.name);
  const result = await runStep(step, { quiet });
  const counts = step.counts ? readCounts(step) : { passed: 0, failed: 0, names: [] };
  if (!result.ok) counts.failed ||= 1;
  if (counts.failed > 0) result.ok = false;
  const lines = counts.names.length > 0 || result.ok ? counts.names : [result.output.slice(-1000)];
  failures.push(...lines.map((line) => `${step.name}: ${line}`));
  total.passed += counts.passed;
  total.failed += counts.failed;
  report(result, { quiet, always: step.counts !== undefined });
  return result.ok;
}

/**
 * Runs a number of steps at a time, each once what it needs is there; of those that could start, the first of the list.
 * @param steps functions that give a step once what it needs is there, or nothing
 */
async function inLanes(count, steps) {
  let free = count;
  const waiting = [];
  const startNext = () => {
    if (free === 0 || waiting.length === 0) return;
    free -= 1;
    waiting.sort((a, b) => a.place - b.place);
    waiting.shift().start();
  };
  const run = async (prepare, place) => {
    const step = await prepare();
    if (!step) return;
    await new Promise((start) => {
      waiting.push({ place, start });
      startNext();
    });
    await check(step, { quiet: true });
    free += 1;
    startNext();
  };
  await Promise.all(steps.map(run));
}

async function everything() {
  lockPacked();
  clearCompiled();
  setup({ build: false });
  const quietly = (step) => check(step, { quiet: true });
  const isBuilt = quietly(build);
  const isPacked = isBuilt.then((ok) => ok && quietly(packed));
  const hasBrowser = isBuilt.then((ok) => ok && quietly(browser));
  const hasScorecard = quietly(scorecard);
  const hasNodeRed5 = quietly(nodeRed5);
  // What the longest tests wait for goes first.
  const style = isPacked.then(() =>
    inLanes(
      1,
      [lint, format, editorTypes].map((step) => () => step),
    ),
  );
  const lanes = suites({
    isBuilt,
    isPacked,
    hasBrowser,
    hasScorecard,
    hasNodeRed5,
  });
  await Promise.all(Object.entries(lanes).map(([kind, steps]) => inLanes(LANES[kind], steps)));
  await style;
}

/**
 * Every suite, spread over the versions of Node.js: the oldest that is supported is meant to be the machine's own,
 * 22 and 24 are installed. The longest are first, so that the lanes end at about the same time.
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
  const share = (suite, name, major) => async () => {
    const node = major && (await newer(major));
    return (await isBuilt) && shareStep(suite, name, { on: node ? major : own, node });
  };
  const onNodeRed = (name, version, shareName) => async () => {
    const [packed, has5] = await Promise.all([isPacked, hasNodeRed5, hasBrowser]);
    if (!packed || (version === '5' && !has5)) return undefined;
    const without = has5 ? elsewhere(name, version) : [];
    const node = version === '4' && name === 'e2e' ? await newer('22') : undefined;
    return nodeRedStep(name, version, { node, without, share: shareName });
  };
  const waiting = [
    share('flows', 'examples'),
    share('nodes', 'matrix', '22'),
    share('nodes', 'app', '22'),
    share('nodes', 'listen', '22'),
    share('unit', 'cluster', '24'),
  ];
  const working = [
    share('unit', 'recovery', '24'),
    share('unit', 'rest'),
    share('flows', 'rest'),
    share('unit', 'fleet', '22'),
    share('nodes', 'rest', '22'),
  ];
  const packed = [
    onNodeRed('e2e', '5', 'examples'),
    onNodeRed('editor', '5', 'rest'),
    onNodeRed('editor', '4'),
    onNodeRed('editor', '5', 'dialogs'),
    async () => {
      // It takes long, but works little: it is not to take the lane of one that waits for Node-RED 5.
      const [ok] = await Promise.all([isPacked, hasScorecard, hasNodeRed5]);
      return ok && mochaStep('the package and its commands', SUITES.package);
    },
    onNodeRed('e2e', '5', 'rest'),
    onNodeRed('e2e', '4', 'rest'),
    onNodeRed('e2e', '4', 'examples'),
  ];
  return { waiting, working, packed };
}

/** Runs parts of the tests one after the other, with what they need. */
async function some(parts) {
  const isPacked = parts.some(({ name }) => SUITES[name].packed);
  if (isPacked) lockPacked();
  setup();
  if (parts[0].version === '5') installNodeRed5();
  if (isPacked && !(await check(packed))) return;
  for (const part of parts) await runPart(part);
}

/** @param files paths below the part's folder; all if undefined */
async function runPart({ name, version, extra, files }) {
  const isChosen = files && ((file) => files.includes(file));
  const step = SUITES[name].onNodeRed
    ? nodeRedStep(name, version, { extra, isChosen, isMapped: true })
    : mochaStep(name, SUITES[name], { extra, isChosen, isMapped: true });
  await check(step);
}

/** What was typed, as a list of parts; undefined if it cannot be understood. */
function read(words) {
  const at = words.indexOf('--');
  const [before, extra] = at < 0 ? [words, []] : [words.slice(0, at), words.slice(at + 1)];
  const on = before.indexOf('--on');
  const version = on < 0 ? DEFAULT_VERSION : before[on + 1];
  const names = on < 0 ? before : before.toSpliced(on, 2);
  if (names.length === 0 || !isVersion(version)) return undefined;
  const parts = names.every((name) => name.endsWith('.test.ts'))
    ? partsOf(names)
    : names.length === 1 && SUITES[names[0]] && [{ name: names[0] }];
  if (!parts || (on >= 0 && !parts.every(({ name }) => SUITES[name].onNodeRed))) return undefined;
  return parts.map((each) => ({ ...each, version, extra }));
}

const typed = process.argv.slice(2);
try {
  if (typed.length === 0) await everything();
  else {
    const parts = read(typed);
    if (!parts) throw new SetupError(USAGE);
    await some(parts);
  }
} catch (error) {
  fail(error);
  total.failed += 1;
}
if (total.passed === 0) total.failed ||= 1;
if (total.failed > 0) process.exitCode = 1;
if (failures.length > 0) console.log(`\nFailed:\n- ${failures.slice(0, 20).join('\n- ')}`);
console.log(`\n${total.passed} passed, ${total.failed} failed`);
