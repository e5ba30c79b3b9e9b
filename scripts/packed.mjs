import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lock } from './lock.mjs';
import { npm, root } from './npm.mjs';

/** The tests of all suites take their user folders from this one: most files of those are hard links into it. */
const FOLDER = join(root, '.cache', 'test', 'installed');

/** Packs what is built and installs the tarball into an empty user folder of Node-RED, as a user would. */
export function installPacked() {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  // Without its scripts: the build must not run under the tests that are using it.
  const out = npm(['pack', '--ignore-scripts', '--json', '--pack-destination', FOLDER]);
  const tarball = join(FOLDER, JSON.parse(out)[0].filename);
  writeFileSync(join(FOLDER, 'package.json'), '{ "name": "user", "private": true }\n');
  const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--omit=dev'];
  npm(['install', ...quick, tarball], { cwd: FOLDER });
  rmSync(tarball);
}

/** Another run would replace the installed package under the tests of this one. @throws SetupError if there is one */
export const lockPacked = () =>
  lock(
    `${FOLDER}.lock`,
    ({ pid = 'another' }) =>
      `Process ${pid} is already running tests of the packed package in this clone. Wait until it has ended.`,
  );
