/*
 * Which parts of the repository import from which. These rules show a mistake where it is made, but go by how an import
 * is spelled. test/src/walls.test.ts goes by the file that is meant, also between the rooms of a folder.
 */

/** The folders of src/, from the bottom up: each may import from those before it, none from those after it. */
export const FOLDERS = [
  'util',
  'store',
  'protocol',
  'http',
  'channel',
  'recovery',
  'fleet',
  'commands',
  'cluster',
];
const HEAD = [
  ...['application', 'call-options', 'cli', 'client', 'cloud-client', 'cluster-client'],
  ...['index', 'internal', 'service-test', 'settings'],
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

const folders = FOLDERS.map((folder, index) =>
  restrict(
    [`src/${folder}/**/*.ts`],
    [
      NO_NODE_RED,
      forbid(
        [...FOLDERS.slice(index + 1), ...HEAD, 'simulator'],
        `src/${folder}/ imports nothing from the folders above it: see the picture in docs/inside/architecture.md.`,
      ),
    ],
  ),
);

/** Nodes use the client library through its one door: they reach no deeper. */
const entriesAlone = (...more) => ({
  group: ['**/src', '**/src/**', ...['index', ...more].map((path) => `!**/src/${path}`)],
  message: 'Nodes import from src/index alone.',
});

const browser = (...except) => ({
  group: ['**/src', '**/src/**', 'node:*', ...except],
  message: 'Editor halves are bundled for the browser.',
  // Of the client, what the routes answer: the compiler knows Node.js for these types alone.
  allowTypeImports: true,
});
const NODE_GLOBALS = ['Buffer', 'process', 'require', 'global', 'setImmediate', '__dirname'];

export const walls = [
  restrict(['src/**/*.ts'], [NO_NODE_RED]),
  ...folders,
  restrict(['nodes/**/*.ts'], [entriesAlone()]),
  restrict(['nodes/app/simulator.ts'], [entriesAlone('simulator/index', 'simulator/index.js')]),
  restrict(['nodes/app/application.ts'], [entriesAlone('cluster-client.js')]),
  restrict(
    ['flow-test/**/*.ts'],
    [
      entriesAlone('simulator/index'),
      { group: ['**/nodes/**'], message: 'The runner of tests knows nodes by their names alone.' },
    ],
  ),
  restrict(
    ['nodes/**/*.editor.ts', 'nodes/**/*.config.ts', 'nodes/common/editor/*.ts'],
    [browser()],
  ),
  {
    files: ['nodes/**/*.editor.ts', 'nodes/**/*.config.ts', 'nodes/common/editor/*.ts'],
    rules: { 'no-restricted-globals': ['error', ...NODE_GLOBALS] },
  },
  // It decodes while one types, with code of the run time, which imports nothing.
  restrict(
    ['nodes/type/type.editor.ts'],
    [browser('!**/src/fleet', '!**/src/fleet/limits', '!**/src/fleet/types')],
  ),
  // What is shared knows nothing of the tests, and neither do benchmarks and scripts.
  restrict(
    ['bench/**/*.ts', 'scripts/**/*.mjs', 'demo/**/*.mjs'],
    [
      {
        group: ['**/test/**', '!**/test/tooling', '!**/test/tooling/**'],
        message: 'What tests share with others is in test/tooling/.',
      },
    ],
  ),
];
