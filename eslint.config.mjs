import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** The folders of src/, from the bottom up: each may import from those before it, none from those after it. */
const FOLDERS = [
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

/** Rooms depend one way: these rules hold the walls. */
const walls = [
  restrict(['src/**/*.ts'], [NO_NODE_RED]),
  ...FOLDERS.map((folder, index) =>
    restrict(
      [`src/${folder}/**/*.ts`],
      [
        NO_NODE_RED,
        forbid(
          [...FOLDERS.slice(index + 1), ...HEAD, 'simulator'],
          `src/${folder}/ imports nothing from the folders above it: see the map in CONTRIBUTING.`,
        ),
      ],
    ),
  ),
];

/** Paths into src/ other than the given ones. */
const srcExcept = (...entries) => `/src(/(?!(${entries.join('|')})$)|$)`;
const ENTRIES = ['index', 'input(/[^/]+)?'];

/** Nodes use the client library through its entry and through the checks of values: they reach no deeper. */
function nodesImport(files, ...more) {
  const regex = srcExcept(...ENTRIES, ...more);
  const message = 'Nodes import from src/index and src/input alone.';
  const dynamic = `ImportExpression[source.value=/${regex.replaceAll('/', '\\/')}/]`;
  return {
    files,
    rules: {
      'no-restricted-imports': ['error', { patterns: [{ regex, message }] }],
      'no-restricted-syntax': ['error', { selector: dynamic, message }],
    },
  };
}

const nodes = [
  nodesImport(['nodes/**/*.ts']),
  nodesImport(['nodes/app/shared-simulator.ts'], 'simulator/index(\\.js)?'),
  restrict(
    [
      'nodes/**/*.editor.ts',
      'nodes/common/editor/**/*.ts',
      'nodes/**/*.config.ts',
      'nodes/common/values.ts',
    ],
    [{ regex: '/src(/|$)|^node:', message: 'Editor halves are bundled for the browser.' }],
  ),
];

/** What is shared knows nothing of the tests, and neither do benchmarks and scripts. */
const shared = restrict(
  ['tooling/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.mjs', 'demo/**/*.mjs'],
  [{ group: ['**/test/**'], message: 'What tests share with others is in tooling/.' }],
);

export default tseslint.config(
  { ignores: ['dist/', 'coverage/', 'node_modules/', 'screenshots/', '.cache/', 'test/fixtures/'] },
  js.configs.recommended,
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        fetch: 'readonly',
        AbortSignal: 'readonly',
        Buffer: 'readonly',
      },
    },
  },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './tsconfig.editor.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/ban-ts-comment': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // What is loaded with the first client, not with Node-RED.
      '@typescript-eslint/no-require-imports': [
        'error',
        { allow: ['^\\./(application|cluster/join|sharing)$'] },
      ],
    },
  },
  ...walls,
  ...nodes,
  shared,
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'tooling/**/*.ts'],
    // Of the rules that need types only those of promises, which find what no test run does: the rest costs as much
    // time as the whole of the product's.
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      parserOptions: { project: ['./tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      // A test reads clearer with an assertion on what the line above has just put there.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
