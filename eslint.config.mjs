import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** The folders of src/, from the bottom up: each may import from those before it, none from those after it. */
const FOLDERS = ['util', 'input', 'http', 'api', 'channel', 'recovery'];
const HEAD = ['application', 'client', 'index', 'settings'];

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
    },
  },
  ...walls,
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
