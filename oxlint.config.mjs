/*
 * The rules of the code. oxlint knows no presets: the first lists are `recommended` of ESLint, the others `strict` of
 * typescript-eslint, of which `TYPED` is what needs types. Walls between rooms go by the spelling of an import here;
 * test/src/walls.test.ts has them by the file that is meant. Circles are found by test/src/imports.test.ts.
 */

const names = (text, plugin = '') =>
  text
    .trim()
    .split(/\s+/)
    .map((name) => plugin + name);

const EVERYWHERE = names(`
  for-direction no-async-promise-executor no-case-declarations no-compare-neg-zero no-cond-assign
  no-constant-binary-expression no-constant-condition no-control-regex no-debugger no-delete-var no-dupe-else-if
  no-duplicate-case no-empty no-empty-character-class no-empty-pattern no-empty-static-block no-ex-assign
  no-extra-boolean-cast no-fallthrough no-global-assign no-invalid-regexp no-irregular-whitespace
  no-loss-of-precision no-misleading-character-class no-nonoctal-decimal-escape no-prototype-builtins
  no-regex-spaces no-self-assign no-shadow-restricted-names no-sparse-arrays no-unassigned-vars
  no-unexpected-multiline no-unsafe-finally no-unsafe-optional-chaining no-unused-labels
  no-unused-private-class-members no-unused-vars no-useless-assignment no-useless-backreference no-useless-catch
  no-useless-escape preserve-caught-error require-yield use-isnan valid-typeof
`);

/** What the compiler finds in TypeScript. */
const JAVASCRIPT = names(`
  constructor-super getter-return no-class-assign no-const-assign no-dupe-class-members no-dupe-keys
  no-func-assign no-import-assign no-new-native-nonconstructor no-obj-calls no-redeclare no-setter-return
  no-this-before-super no-undef no-unreachable no-unsafe-negation no-with
`);

const TYPESCRIPT = [
  ...names(`
  no-array-constructor no-unused-expressions no-useless-constructor no-var prefer-const prefer-rest-params
  prefer-spread
`),
  ...names(
    `
  await-thenable ban-ts-comment no-duplicate-enum-values no-dynamic-delete no-empty-object-type no-explicit-any
  no-extra-non-null-assertion no-extraneous-class no-floating-promises no-invalid-void-type no-misused-new
  no-misused-promises no-namespace no-non-null-asserted-nullish-coalescing no-non-null-asserted-optional-chain
  no-require-imports no-this-alias no-unnecessary-type-constraint no-unsafe-declaration-merging
  no-unsafe-function-type no-wrapper-object-types prefer-as-const prefer-literal-enum-member
  prefer-namespace-keyword triple-slash-reference unified-signatures
`,
    'typescript/',
  ),
];

const TYPED = names(
  `
  no-array-delete no-base-to-string no-confusing-void-expression no-deprecated no-duplicate-type-constituents
  no-for-in-array no-generated-empty-object-type no-implied-eval no-meaningless-void-operator no-misused-spread
  no-mixed-enums no-non-null-assertion no-redundant-type-constituents no-unnecessary-boolean-literal-compare
  no-unnecessary-condition no-unnecessary-template-expression no-unnecessary-type-arguments
  no-unnecessary-type-assertion no-unnecessary-type-conversion no-unnecessary-type-parameters no-unsafe-argument
  no-unsafe-assignment no-unsafe-call no-unsafe-enum-comparison
  no-unsafe-member-access no-unsafe-return no-unsafe-unary-minus no-useless-default-assignment only-throw-error
  prefer-promise-reject-errors prefer-reduce-type-parameter prefer-return-this-type related-getter-setter-pairs
  require-await restrict-plus-operands restrict-template-expressions return-await unbound-method
  use-unknown-in-catch-callback-variable
`,
  'typescript/',
);

/** The folders of src/, from the bottom up: each may import from those before it, none from those after it. */
export const FOLDERS = [
  'util',
  'input',
  'pace',
  'http',
  'cluster',
  'api',
  'channel',
  'recovery',
  'sharing',
  'fleet',
  'request',
];
const HEAD = [
  'address',
  'application',
  'call-options',
  'client',
  'calls',
  'explain-call',
  'index',
  'request-options',
  'settings',
];

const forbid = (names, message) => ({
  group: names.flatMap((name) => [`**/${name}`, `**/${name}/**`]),
  message,
});

/** The client library knows nothing of Node-RED. */
const NO_NODE_RED = {
  group: ['node-red', 'node-red/*', '@node-red/*', '**/nodes/**'],
  message: 'src/ is a client library with no Node-RED in it.',
};

const restrict = (files, patterns) => ({
  files,
  rules: { 'no-restricted-imports': ['error', { patterns }] },
});

const notAboveIn = (folder) =>
  forbid(
    [...FOLDERS.slice(FOLDERS.indexOf(folder) + 1), ...HEAD, 'simulator'],
    `src/${folder}/ imports nothing from the folders above it: see the map in CONTRIBUTING.`,
  );

/** Rooms depend one way: these rules hold the walls. */
const walls = [
  restrict(['src/**/*.ts'], [NO_NODE_RED]),
  ...FOLDERS.map((folder) =>
    restrict([`src/${folder}/**/*.ts`], [NO_NODE_RED, notAboveIn(folder)]),
  ),
];

/** The rooms of src/simulator/, from the bottom up, and what is above them all. */
export const SIMULATOR = [
  'util',
  'sensors',
  'transport',
  'options',
  'faults',
  'devices',
  'service',
  'api',
];
const SIMULATOR_HEAD = ['server', 'simulator', 'index', 'cli'];

/** Relative paths, since the client and the simulator have rooms of the same names. */
const forbidIn = (folder, names, message) => ({
  group: names.flatMap((name) => [`${folder}/${name}`, `${folder}/${name}/**`]),
  message,
});

/** The rooms of src/recovery/, from the bottom up, and what is above them all. */
export const RECOVERY = ['reading', 'records', 'position', 'matching'];
const RECOVERY_HEAD = [
  'checkpoint',
  'delivery',
  'deps',
  'hold',
  'interpret',
  'listen',
  'options',
  'recovery',
  'timing',
];

const recovery = RECOVERY.map((room, index) =>
  restrict(
    [`src/recovery/${room}/*.ts`],
    [
      NO_NODE_RED,
      notAboveIn('recovery'),
      forbidIn(
        '..',
        [...RECOVERY.slice(index + 1), ...RECOVERY_HEAD],
        `src/recovery/${room}/ imports nothing from the rooms above it: see the map in CONTRIBUTING.`,
      ),
    ],
  ),
);

/** The simulator represents the service: of the client it uses only the signatures and the public types. */
const outside = (src) =>
  forbidIn(
    src,
    [...FOLDERS.filter((name) => name !== 'api'), ...HEAD],
    'src/simulator/ imports only src/api/ and the public types of the client.',
  );

const simulator = [
  restrict(['src/simulator/*.ts'], [NO_NODE_RED, outside('..')]),
  ...SIMULATOR.map((room, index) =>
    restrict(
      [`src/simulator/${room}/*.ts`],
      [
        NO_NODE_RED,
        outside('../..'),
        forbidIn(
          '..',
          [...SIMULATOR.slice(index + 1), ...SIMULATOR_HEAD],
          `src/simulator/${room}/ imports nothing from the rooms above it: see the map in CONTRIBUTING.`,
        ),
      ],
    ),
  ),
];

/** Nodes use the client library through its entry and through the checks of values: they reach no deeper. */
const ENTRIES = ['index', 'input'];
const entriesAlone = (...more) => ({
  group: ['**/src', '**/src/**', ...[...ENTRIES, ...more].map((path) => `!**/src/${path}`)],
  message: 'Nodes import from src/index and src/input alone.',
});

/** The rooms of nodes/app/, from the bottom up, and what is above them all. */
export const APP = ['deployed', 'connection', 'fleet', 'explain', 'connection-test'];
const APP_HEAD = ['admin', 'app', 'app.runtime', 'app.editor'];

const notAbove = (room) =>
  forbidIn(
    '..',
    [...APP.slice(APP.indexOf(room) + 1), ...APP_HEAD],
    `nodes/app/${room}/ imports nothing from the rooms above it: see the map in CONTRIBUTING.`,
  );

/** What the nodes share knows none of them. @param up from the file to nodes/ */
const noNode = (up) => ({
  regex: `^${up.replaceAll('.', '\\.')}/[^.]`,
  message: 'nodes/common/ imports from no node: what a node and common/ both need is in common/.',
});

const BROWSER = {
  group: ['**/src', '**/src/**', 'node:*'],
  message: 'Editor halves are bundled for the browser.',
};

const nodes = [
  restrict(['nodes/**/*.ts'], [entriesAlone()]),
  restrict(['nodes/common/*.ts'], [entriesAlone(), noNode('..')]),
  restrict(['nodes/common/*/*.ts'], [entriesAlone(), noNode('../..')]),
  ...APP.map((room) => restrict([`nodes/app/${room}/*.ts`], [entriesAlone(), notAbove(room)])),
  restrict(
    ['nodes/app/connection/shared-simulator.ts'],
    [entriesAlone('simulator/index', 'simulator/index.js'), notAbove('connection')],
  ),
  restrict(['nodes/**/*.editor.ts', 'nodes/**/*.config.ts'], [BROWSER]),
  ...APP.map((room) => restrict([`nodes/app/${room}/*.editor.ts`], [BROWSER, notAbove(room)])),
  restrict(
    ['nodes/common/action.config.ts', 'nodes/common/app-type.ts', 'nodes/common/values.ts'],
    [BROWSER, noNode('..')],
  ),
  restrict(['nodes/common/editor/*.ts'], [BROWSER, noNode('../..')]),
];

/** What is shared knows nothing of the tests, and neither do benchmarks and scripts. */
const shared = restrict(
  ['tooling/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.mjs', 'demo/**/*.mjs'],
  [{ group: ['**/test/**'], message: 'What tests share with others is in tooling/.' }],
);

const errors = (rules) => Object.fromEntries(rules.map((rule) => [rule, 'error']));

export default {
  options: { typeAware: true },
  plugins: ['eslint', 'typescript'],
  categories: { correctness: 'off' },
  env: { builtin: true },
  ignorePatterns: ['dist/', 'coverage/', 'screenshots/', '.cache/', 'test/fixtures/'],
  rules: errors(EVERYWHERE),
  overrides: [
    {
      files: ['**/*.mjs', '**/*.cjs'],
      env: { node: true },
      rules: errors(JAVASCRIPT),
    },
    {
      files: ['**/*.ts'],
      rules: {
        ...errors(TYPESCRIPT),
        // What is loaded with the first client, node or request of the editor, not with Node-RED.
        'typescript/no-require-imports': [
          'error',
          {
            allow: [
              '^\\./(application|cluster/join|sharing|admin|cluster-route|[a-z-]+\\.runtime)$',
            ],
          },
        ],
      },
    },
    {
      files: ['src/**/*.ts', 'nodes/**/*.ts'],
      rules: {
        ...errors(TYPED),
        'typescript/restrict-template-expressions': [
          'error',
          { allowNumber: true, allowBoolean: true },
        ],
        'typescript/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
        'typescript/return-await': ['error', 'error-handling-correctness-only'],
        'typescript/restrict-plus-operands': [
          'error',
          {
            allowAny: false,
            allowBoolean: false,
            allowNullish: false,
            allowNumberAndString: false,
            allowRegExp: false,
          },
        ],
      },
    },
    ...walls,
    ...recovery,
    ...simulator,
    ...nodes,
    shared,
  ],
};
