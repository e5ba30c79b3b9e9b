import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { target } from './node-red.mjs';
import { root, SetupError } from './npm.mjs';

/**
 * The parts of the tests: which folders of test/, how long one test may take, whether they install the packed
 * package, and whether they can run `onNodeRed` of either version.
 */
export const SUITES = {
  unit: { folders: ['src'], timeout: 60_000 },
  nodes: { folders: ['nodes'], timeout: 60_000 },
  flows: { folders: ['flow-test'], timeout: 200_000 },
  package: { folders: ['package'], timeout: 300_000, packed: true },
  e2e: { folders: ['e2e'], timeout: 200_000, packed: true, onNodeRed: true },
  editor: { folders: ['editor'], timeout: 200_000, packed: true, onNodeRed: true },
};

/**
 * Tests of what is the same on every Node-RED; `npm test` runs each on one version alone. The others, which
 * run on both, have every node run once, every dialog opened, saved and looked at, and a flow made by hand. No code
 * of the package depends on the version: a function of the editor that only one of them has is found by `functions`.
 */
const ON_4_ALONE = {
  e2e: [
    'admin-rights',
    'admin-routes',
    'credential-secret',
    'demo',
    'examples',
    'record',
    'secrets-everywhere',
  ],
  editor: ['adapts', 'application', 'new-nodes', 'picker-empty', 'secrets'],
};
const ON_5_ALONE = {
  e2e: ['cluster', 'crash', 'examples-imported', 'examples-in-use', 'kept-state', 'waiting-kept'],
  editor: [
    'admin-auth',
    'checks',
    'dialogs-chinese',
    'dialogs-variants',
    'examples',
    'first-use',
    'labels',
    'listener',
    'picker',
    'sidebar',
    'sidebar-book',
    'sidebar-recording',
    'sidebar-waiting',
    'sidebar.zh-CN',
    'type',
    'validation',
  ],
};

/** The files of a suite to leave out on a version of Node-RED, since they run on the other one. */
export const elsewhere = (name, version) =>
  (version === '4' ? ON_5_ALONE : ON_4_ALONE)[name].map((file) => `${file}.test.ts`);

/**
 * The shares of a suite that `npm test` runs beside each other, by the paths of their files; all further files are its
 * `rest`. The tests wait for timers, processes and the service most of the time, so that a suite in one piece would be the
 * last to end while the cores are idle.
 */
const SHARES = {
  unit: {
    recovery: /^(recovery|properties|history)\//,
    fleet: /^(commands|fleet|simulator|state)\//,
    cluster: /^cluster\//,
  },
  nodes: {
    matrix: /^matrix\//,
    app: /^(app\/|history|many)/,
    listen: /^(events|listen|re|unusable)/,
  },
  flows: { examples: /^examples/ },
  e2e: { examples: /^(demo|examples)/ },
  editor: { dialogs: /^(dialogs|sidebar)/ },
};

/** Whether a file belongs to a share of its suite. @returns a filter of files, by their path below the suite's folder */
function inShare(suite, share) {
  const shares = SHARES[suite];
  return share === 'rest'
    ? (file) => !Object.values(shares).some((files) => files.test(file))
    : (file) => shares[share].test(file);
}

/**
 * A share of a suite that runs in mocha's own process alone.
 * @param options `on` says on which Node.js it runs, whose path is `node`
 */
export function shareStep(suite, share, { on, node }) {
  const isOfShare = inShare(suite, share);
  return mochaStep(`${suite} (${share}) on Node.js ${on}`, SUITES[suite], {
    node,
    isChosen: isOfShare,
  });
}

const CACHE = join(root, '.cache', 'test');

/**
 * A step that runs mocha over the compiled tests of some folders.
 * @param options `node` to run mocha on; files to do it `without`; which are `isChosen`: both by path, with slashes;
 * whether stacks name the lines of sources (`isMapped`), which takes a tenth of the time
 */
export function mochaStep(name, { folders, timeout }, options = {}) {
  const { extra = [], env = {}, node, without = [], isMapped = false } = options;
  const { isChosen = () => true } = options;
  mkdirSync(CACHE, { recursive: true });
  // A file of the name package.json would make a package of the folder. Mocha takes a comma for the end of an option.
  const counts = join(CACHE, `counts of ${name}.json`);
  rmSync(counts, { force: true });
  const report = [
    '--reporter',
    'scripts/mocha-reporter.cjs',
    '--reporter-option',
    `counts=${counts}`,
  ];
  const strict = ['--forbid-only', '--forbid-pending', '--fail-zero'];
  const mocha = ['node_modules/mocha/bin/_mocha', '--no-config', '--timeout', String(timeout)];
  return {
    name,
    counts,
    node,
    commands: [
      [
        ...(isMapped ? ['--enable-source-maps'] : []),
        ...mocha,
        ...report,
        ...strict,
        ...extra,
        ...tests(folders, (file) => isChosen(file) && !without.includes(file)),
      ],
    ],
    env,
  };
}

/**
 * The step of a suite that runs `onNodeRed`, of either version; its name says on which. On Node-RED 5 the examples as
 * imported run on the public server's dialect: on the document's one their own tests run, test/flows, with Node-RED 4.
 */
export function nodeRedStep(name, version, options = {}) {
  const { extra, isChosen, node, without, share, isMapped } = options;
  const { name: nodeRed, env } = target(version, node);
  const dialect = version === '5' ? 'public-2016' : 'document';
  const all = { IMPORTED_DIALECT: dialect, ...env };
  return mochaStep(`${name}${share ? ` (${share})` : ''} on ${nodeRed}`, SUITES[name], {
    extra,
    env: all,
    isChosen: share ? inShare(name, share) : isChosen,
    without,
    isMapped,
  });
}

/**
 * The compiled tests of the sources that are there: dist may still hold a test whose source has
 * gone. A folder without tests gives a file name that does not exist, so that mocha complains.
 */
function tests(folders, isChosen) {
  return folders.flatMap((folder) => {
    const path = join(root, 'test', folder);
    const names = existsSync(path) ? readdirSync(path, { recursive: true }) : [];
    const found = names
      .map((name) => name.replaceAll(sep, '/'))
      .filter((name) => name.endsWith('.test.ts') && isChosen(name))
      .sort();
    if (found.length === 0) return [`dist/test/${folder}/no-tests.test.js`];
    return found.map((name) => join('dist', 'test', folder, name.replace(/\.ts$/, '.js')));
  });
}

/**
 * Which parts some test files belong to.
 * @param paths of sources, from the folder of the repository or absolute
 * @returns the parts by name, each with its files below the part's folder
 * @throws SetupError if a file is missing or cannot be run here
 */
export function partsOf(paths) {
  const parts = new Map();
  for (const path of paths) {
    const full = resolve(root, path);
    const [top, folder, ...rest] = relative(root, full).split(sep);
    const name = Object.keys(SUITES).find((each) => SUITES[each].folders.includes(folder));
    if (top !== 'test' || !name || !existsSync(full))
      throw new SetupError(`${path}: no such test.`);
    parts.set(name, [...(parts.get(name) ?? []), rest.join('/')]);
  }
  return [...parts].map(([name, files]) => ({ name, files }));
}

/** Counts of a finished step; a mocha that broke off before its end counts as a failure. */
export function readCounts({ counts }) {
  if (!existsSync(counts)) return { passed: 0, failed: 1, names: [] };
  const { passes, failures, pending, failed } = JSON.parse(readFileSync(counts, 'utf8'));
  return { passed: passes, failed: failures + pending, names: failed };
}
