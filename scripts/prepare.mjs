import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installNodeRed5 } from './node-red.mjs';
import { npm, root } from './npm.mjs';
import { buildIfStale, fail, installIn, setup } from './setup.mjs';

/*
 * `node scripts/prepare.mjs dependencies|build|packed|browser|node-red-5|scorecard`: what a test needs, in a process of its
 * own, so that other steps can run beside it.
 */

/** The tests of all suites link the package in this one. */
const INSTALLED = join(root, '.cache', 'test', 'installed');

/** Packs what is built and installs the tarball into an empty user folder of Node-RED, as a user would. */
function installPacked() {
  rmSync(INSTALLED, { recursive: true, force: true });
  mkdirSync(INSTALLED, { recursive: true });
  // Without its scripts: the build must not run under the tests that are using it.
  const out = npm(['pack', '--ignore-scripts', '--json', '--pack-destination', INSTALLED]);
  const tarball = join(INSTALLED, JSON.parse(out)[0].filename);
  writeFileSync(join(INSTALLED, 'package.json'), '{ "name": "user", "private": true }\n');
  const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--omit=dev'];
  npm(['install', ...quick, tarball], { cwd: INSTALLED });
  rmSync(tarball);
}

const THINGS = {
  dependencies: () => setup({ build: false }),
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
