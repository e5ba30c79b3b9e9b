/*
 * The rules of the code. oxlint knows no presets: the first lists are `recommended` of ESLint, the others `strict` of
 * typescript-eslint, of which `TYPED` is what needs types.
 */

import { walls } from './oxlint.walls.mjs';

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
            allow: ['^re2js$', '^(\\.\\./)+package\\.json$', '^\\./(admin|[a-z-]+\\.runtime)$'],
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
  ],
};
