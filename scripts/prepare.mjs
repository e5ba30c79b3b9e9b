import { join } from 'node:path';
import { installNodeRed5 } from './node-red.mjs';
import { root } from './npm.mjs';
import { installPacked } from './packed.mjs';
import { buildIfStale, fail, installIn } from './setup.mjs';

/*
 * `node scripts/prepare.mjs build|packed|browser|node-red-5|scorecard`: what a test needs, in a process of its own, so
 * that other steps can run beside it.
 */

const THINGS = {
  build: buildIfStale,
  packed: installPacked,
  // Once, before the suites that would each do it. From dist, which is built before.
  browser: async () => (await import('../dist/test/tooling/editor/chromium.js')).browserPath(),
  'node-red-5': installNodeRed5,
  // In a folder of its own: what it depends on is old, and has no business among our own dependencies.
  scorecard: () =>
    installIn(join(root, 'test', 'scorecard'), "the Flow Library's scorecard", {
      options: ['--ignore-scripts'],
    }),
};

try {
  await THINGS[process.argv[2]]();
} catch (error) {
  fail(error);
}
