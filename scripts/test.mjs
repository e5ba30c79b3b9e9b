import { spawn } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { installNodeRed5, installedNode, isVersion, target } from './node-red.mjs';
import { lock } from './lock.mjs';
import { SetupError, root } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/*
 * `npm test`: everything. `npm test -- e2e [--on 5] [-- mocha options]`: a part.
 * `npm test -- test/src/address.test.ts …`: files, each with what its part needs.
 * The last line is always the count; the exit code is 0 only when every step went well.
 */

/** The parts of the tests: their folder of test/, what they need but the build, and whether they run on either Node-RED. */
const SUITES = {
  unit: { folder: 'src', needs: [] },
  nodes: { folder: 'nodes', needs: [] },
  flows: { folder: 'flow-test', needs: [] },
  package: { folder: 'package', needs: ['packed', 'scorecard', 'node-red-5'] },
  e2e: { folder: 'e2e', needs: ['packed', 'browser'], onNodeRed: true },
  editor: { folder: 'editor', needs: ['packed', 'browser'], onNodeRed: true },
};

const USAGE = `Usage: npm test [-- ${Object.keys(SUITES).join('|')}|FILE.test.ts … [--on 4|5] [-- …]]
--on chooses the Node-RED of e2e and editor; what follows the second -- is for mocha.`;

/** Milliseconds after which a test hangs; no verdict depends on it. */
const TEST_LIMIT = 300_000;
/** Minutes after which a step hangs, even where several runs share a machine. */
const STEP_LIMIT = 25;

/**
 * Tests of what is the same on every Node-RED; `npm test` runs each on one version alone. The others, which
 * run on both, have every node run once, every dialog opened, saved and looked at, and a flow made by hand. No code
 * of the package depends on the version: a function of the editor that only one of them has is found by `functions`.
 */
const ALONE = {
  4: {
    e2e: /^(admin-routes|demo|examples|record|secrets-everywhere)\.test/,
    editor:
      /^(adapts|application|empty-sidebar|new-nodes|picker-empty|secrets|sidebar-problems)\.test/,
  },
  5: {
    e2e: /^(acknowledged|cluster|crash|examples-in-use|kept-state)\.test/,
    editor:
      /^(admin-auth|checks|dialogs-chinese|dialogs-variants|examples|first-minute|first-use|picker|sidebar|sidebar-acknowledge|sidebar-book|sidebar-recording|sidebar-waiting|sidebar\.zh-CN|type|validation)\.test/,
  },
};

/**
 * The shares of a suite that `npm test` runs beside each other, by the paths of their files; all further files are its
 * `rest`. The tests wait for timers, processes and the service most of the time, so that a suite in one piece would be the
 * last to end while the cores are idle.
 */
const SHARES = {
  unit: {
    recovery: /^(recovery|properties)\//,
    fleet: /^(commands|fleet|simulator)\//,
    cluster: /^cluster\//,
  },
  nodes: {
    app: /^(app\/|history|many|secrets|type)/,
    listen: /^(events|listen|re|unusable)/,
  },
  flows: { examples: /^examples/ },
  e2e: { examples: /^(demo|examples)/ },
  editor: { dialogs: /^(dialogs|sidebar)/ },
};

/**
 * Every share, spread over the versions of Node.js and Node-RED: the oldest Node.js that is supported is meant to be the
 * machine's own. The longest are first, so that all end at about the same time.
 */
const PLAN = [
  ['unit', 'rest', {}],
  ['editor', 'rest', { red: '5' }],
  ['unit', 'cluster', { node: '24' }],
  ['editor', 'dialogs', { red: '5' }],
  ['editor', undefined, { red: '4' }],
  ['unit', 'fleet', { node: '22' }],
  ['nodes', 'listen', { node: '22' }],
  ['nodes', 'rest', { node: '22' }],
  ['e2e', 'examples', { red: '4', node: '22' }],
  ['package', undefined, {}],
  ['e2e', 'examples', { red: '5' }],
  ['flows', 'rest', {}],
  ['unit', 'recovery', { node: '24' }],
  ['flows', 'examples', {}],
  ['nodes', 'app', { node: '22' }],
  ['e2e', 'rest', { red: '5' }],
  ['e2e', 'rest', { red: '4', node: '22' }],
];

/** How many shares run at a time: they wait more than they work, so that this many keep two cores busy. */
const AT_ONCE = 8;

/** Where Node.js 22 and newer keep what they have compiled: a Node-RED that starts again takes a seventh less CPU. */
const COMPILED = join(root, '.cache', 'compiled');

const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, () => {
    for (const child of running) child.kill(signal);
    process.exit(1);
  });
}

/** The test files of the steps so far. */
const chosen = new Set();

const total = { passed: 0, failed: 0 };
/** What failed, said once more at the end: the log of a run is long, and often only its end is kept. */
const failures = [];

/**
 * Runs a step, which is a process of Node.js, and counts the tests that it reports. A failed step that reports none counts
 * as one failure, so that the last line never looks well.
 * @param isQuiet keeps what is printed until the end, for steps that run beside others
 * @returns whether all is well
 */
async function runStep({ name, args, node = process.execPath, env, isTest }, isQuiet = true) {
  if (!isQuiet) console.log(`\n▸ ${name}`);
  const started = Date.now();
  const child = spawn(node, args, {
    cwd: root,
    env: { NODE_COMPILE_CACHE: COMPILED, ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  const kill = () => child.kill('SIGKILL');
  const timers = [setTimeout(kill, STEP_LIMIT * 60_000)];
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (!isQuiet) process.stdout.write(text);
      // A test that failed may have left open what keeps the process from ending.
      if (/^ {2}\d+ failing$/m.test(text)) timers.push(setTimeout(kill, 10_000));
    });
  }
  const end = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  timers.forEach(clearTimeout);
  running.delete(child);
  const count = (what) =>
    Number([...output.matchAll(new RegExp(`^ {2}(\\d+) ${what}`, 'gm'))].at(-1)?.[1] ?? 0);
  const [passed, failed] = [count('passing'), count('failing')];
  const ok = end === 0 && failed === 0 && (!isTest || passed > 0);
  total.passed += passed;
  total.failed += ok ? 0 : Math.max(1, failed);
  if (!ok) {
    const [, list = ''] = output.split(/^ {2}\d+ failing$/m);
    const each = list.split(/^ {2}(?=\d+\) )/m).slice(1);
    const texts = each.length > 0 ? each : [`${output.slice(-1000)}\nended with ${end}`];
    failures.push(...texts.map((text) => `${name}: ${text.trim().slice(0, 1000)}`));
  }
  if (isQuiet) console.log(`\n▸ ${name}`);
  if (isQuiet && (isTest || !ok)) console.log(output.trimEnd());
  console.log(
    `${ok ? '  ok' : '  FAILED'}: ${name}, ${((Date.now() - started) / 1000).toFixed(1)} s`,
  );
  return ok;
}

const prepare = (what) => runStep({ name: what, args: ['scripts/prepare.mjs', what] });
const style = [
  { name: 'lint', args: ['node_modules/oxlint/bin/oxlint', '-c', 'oxlint.config.mjs', '.'] },
  { name: 'format', args: ['node_modules/oxfmt/bin/oxfmt', '--check', '.'] },
  {
    name: 'types of the editor half',
    args: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.editor.json'],
  },
];

const testsIn = (folder) =>
  readdirSync(join(root, 'test', folder), { recursive: true })
    .map((name) => name.replaceAll(sep, '/'))
    .filter((name) => name.endsWith('.test.ts'))
    .sort();

/**
 * The step of some files of a suite. It runs the compiled tests of the sources that are there: dist may still hold a test
 * whose source has gone.
 * @param isChosen by the path below the suite's folder, with slashes
 * @param options `red`: which Node-RED; `node`: path of the Node.js for it, or else for mocha; `extra` options of mocha;
 * whether stacks name the lines of sources (`isMapped`), which takes a tenth of the time
 */
function mochaStep(suite, share, isChosen, { red, node, major, extra = [], isMapped = false }) {
  const { folder } = SUITES[suite];
  const files = testsIn(folder).filter(isChosen);
  for (const name of files) chosen.add(`${folder}/${name}`);
  if (files.length === 0) throw new SetupError(`test/${folder} has no such tests.`);
  const on = red ? target(red, node) : node && { name: `Node.js ${major}` };
  return {
    name: `${suite}${share ? ` (${share})` : ''}${on ? ` on ${on.name}` : ''}`,
    isTest: true,
    node: red ? undefined : node,
    env: red && on.env,
    args: [
      ...(isMapped ? ['--enable-source-maps'] : []),
      ...['node_modules/mocha/bin/_mocha', '--no-config', '--timeout', String(TEST_LIMIT)],
      ...['--forbid-only', '--forbid-pending', '--fail-zero', ...extra],
      ...files.map((name) => join('dist', 'test', folder, name.replace(/\.ts$/, '.js'))),
    ],
  };
}

/** The step of a share as the plan has it. The machine's own Node.js stands in for one that is not installed. */
function shareStep(suite, share, { red, node: major }) {
  const shares = SHARES[suite] ?? {};
  const isOf = (name) =>
    share === 'rest'
      ? !Object.values(shares).some((files) => files.test(name))
      : !share || shares[share].test(name);
  const isElsewhere = (name) => red && ALONE[red === '4' ? '5' : '4'][suite].test(name);
  const isChosen = (name) => isOf(name) && !isElsewhere(name);
  return mochaStep(suite, share, isChosen, { red, node: major && installedNode(major), major });
}

/** Another run would replace the installed package under the tests of this one. @throws SetupError if there is one */
const lockPacked = () =>
  lock(
    join(root, '.cache', 'test', 'installed.lock'),
    ({ pid = 'another' }) =>
      `Process ${pid} is already running tests of the packed package in this clone. Wait until it has ended.`,
  );

/** Runs all steps, each once what it needs is there; of those that could start, the first of the plan. */
async function everything() {
  lockPacked();
  // The paths of user folders are random, so it would grow with each run.
  rmSync(COMPILED, { recursive: true, force: true });
  const build = prepare('dependencies').then((ok) => ok && prepare('build'));
  const afterBuild = (what) => build.then((ok) => ok && prepare(what));
  const ready = {
    build,
    packed: afterBuild('packed'),
    browser: afterBuild('browser'),
    'node-red-5': prepare('node-red-5'),
    scorecard: prepare('scorecard'),
  };
  const waiting = [];
  let free = AT_ONCE;
  const startNext = () => {
    waiting.sort((a, b) => a.place - b.place);
    for (; free > 0 && waiting.length > 0; free -= 1) waiting.shift().start();
  };
  const one = async ([suite, share, options], place) => {
    const more = options.red || options.node ? ['node-red-5'] : [];
    const needs = ['build', ...SUITES[suite].needs, ...more].map((name) => ready[name]);
    if ((await Promise.all(needs)).includes(false)) return;
    await new Promise((start) => {
      waiting.push({ place, start });
      startNext();
    });
    await runStep(shareStep(suite, share, options));
    free += 1;
    startNext();
  };
  const looks = ready.packed.then(async () => {
    for (const step of style) await runStep(step);
  });
  await Promise.all([...PLAN.map(one), ...Object.values(ready), looks]);
  if (total.failed > 0) return;
  for (const { folder } of Object.values(SUITES))
    for (const name of testsIn(folder))
      if (!chosen.has(`${folder}/${name}`))
        throw new SetupError(`test/${folder}/${name} is in no share of the plan.`);
}

/** Runs parts of the tests one after the other, with what they need. */
async function some(parts) {
  const isPacked = parts.some(({ suite }) => SUITES[suite].needs.includes('packed'));
  if (isPacked) lockPacked();
  setup();
  if (parts[0].version === '5') installNodeRed5();
  if (isPacked && !(await prepare('packed'))) return;
  for (const { suite, files, extra, version } of parts) {
    const red = SUITES[suite].onNodeRed ? version : undefined;
    const isChosen = (name) => !files || files.includes(name);
    await runStep(mochaStep(suite, undefined, isChosen, { red, extra, isMapped: true }), false);
  }
}

/** The part of a test file. @throws SetupError if the file is missing or no test */
function partOf(path) {
  const full = resolve(root, path);
  const [top, folder, ...rest] = relative(root, full).split(sep);
  const suite = Object.keys(SUITES).find((each) => SUITES[each].folder === folder);
  if (top !== 'test' || !suite || !existsSync(full)) throw new SetupError(`${path}: no such test.`);
  return { suite, files: [rest.join('/')] };
}

/** What was typed, as a list of parts. @throws SetupError if it cannot be understood */
function read(words) {
  const at = words.indexOf('--');
  const [before, extra] = at < 0 ? [words, []] : [words.slice(0, at), words.slice(at + 1)];
  const on = before.indexOf('--on');
  const version = on < 0 ? '4' : before[on + 1];
  const names = on < 0 ? before : before.toSpliced(on, 2);
  const parts = new Map();
  for (const name of names) {
    const { suite, files } = name.endsWith('.test.ts') ? partOf(name) : { suite: name };
    const isRight = SUITES[suite] && (on < 0 || SUITES[suite].onNodeRed);
    if (!isRight || !isVersion(version)) throw new SetupError(USAGE);
    const more = files && [...(parts.get(suite)?.files ?? []), ...files];
    parts.set(suite, { suite, files: more, version, extra });
  }
  return [...parts.values()];
}

try {
  const typed = process.argv.slice(2);
  await (typed.length === 0 ? everything() : some(read(typed)));
} catch (error) {
  fail(error);
  total.failed += 1;
}
if (total.passed === 0) total.failed ||= 1;
if (total.failed > 0) process.exitCode = 1;
if (failures.length > 0) console.log(`\nFailed:\n- ${failures.slice(0, 20).join('\n- ')}`);
console.log(`\n${total.passed} passed, ${total.failed} failed`);
