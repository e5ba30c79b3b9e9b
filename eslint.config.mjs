import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** The client library knows nothing of Node-RED: this rule holds the wall. */
const wall = {
  files: ['src/**/*.ts'],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            group: ['node-red', 'node-red/*', '@node-red/*', '**/nodes/**'],
            message: 'src/ is a client library with no Node-RED in it.',
          },
        ],
      },
    ],
  },
};

/** What is shared knows nothing of the tests, and neither do benchmarks and scripts. */
const shared = {
  files: ['tooling/**/*.ts', 'bench/**/*.ts', 'scripts/**/*.mjs', 'demo/**/*.mjs'],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          { group: ['**/test/**'], message: 'What tests share with others is in tooling/.' },
        ],
      },
    ],
  },
};

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
  wall,
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
