import { existsSync } from 'node:fs';
import { run, npm, SetupError } from './npm.mjs';
import {
  buildIsFresh,
  dependenciesAreFresh,
  exactAreInstalled,
  forgetBuild,
  noteBuild,
  sourcesHash,
} from './fresh.mjs';

const OLDEST_NODE = [20, 18, 1];

/**
 * Makes a clone ready: installs the dependencies and builds, each only when missing or stale.
 * Plain Node without a dependency, since it runs before there is any.
 */
export function setup({ build = true } = {}) {
  checkNode();
  if (!dependenciesAreFresh()) {
    console.log('Installing the dependencies (npm ci) …');
    // A production setting in the environment must not leave out what builds and tests need.
    npm(['ci', '--include=dev', '--no-audit', '--no-fund']);
  }
  if (build) buildIfStale();
}

/**
 * What the tests and the site install beside the dependencies has no lock file: nothing that is published later is
 * installed, so that it stays the same. A newer version in one of their package.json needs a later day.
 */
const PUBLISHED_BEFORE = '2026-11-25';

/**
 * Installs the exact versions that a folder's package.json names, when missing or stale.
 * @param files what has to be there besides: optional packages may be missing
 */
export function installIn(folder, what, { options = [], files = [] } = {}) {
  if (exactAreInstalled(folder) && files.every((file) => existsSync(file))) return;
  console.log(`Installing ${what} …`);
  const pinned = ['--no-package-lock', `--before=${PUBLISHED_BEFORE}`];
  npm(['install', ...pinned, ...options, '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: folder,
  });
}

/** Builds dist when the sources are not the ones it was built from. */
export function buildIfStale() {
  const hash = sourcesHash();
  if (buildIsFresh(hash)) return;
  console.log('Building (node build.mjs) …');
  forgetBuild();
  run(process.execPath, ['build.mjs']);
  noteBuild(hash);
}

function checkNode() {
  const have = process.versions.node.split('.').map(Number);
  const difference = OLDEST_NODE.map((part, i) => have[i] - part).find((d) => d !== 0) ?? 0;
  if (difference < 0) {
    throw new SetupError(
      `Node.js ${OLDEST_NODE.join('.')} or newer is needed; this is ${process.versions.node}.`,
    );
  }
}

/** Shows a failure as a line when it says all, and with its stack when it is a surprise. */
export function fail(error) {
  console.error(error instanceof SetupError ? error.message : error);
  process.exitCode = 1;
}
