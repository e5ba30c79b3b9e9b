import { join } from 'node:path';
import { dependenciesAreFresh } from './fresh.mjs';
import { npm, root } from './npm.mjs';
import { fail } from './setup.mjs';

/*
 * Installs the Flow Library's scorecard tool, when missing or stale, with a lock of its own: what it depends
 * on is old, and has no business among our own dependencies. None of it runs a script on install.
 */

const folder = join(root, 'test', 'scorecard');

try {
  if (!dependenciesAreFresh(folder)) {
    console.log("Installing the Flow Library's scorecard (npm ci) …");
    npm(['ci', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder });
  }
} catch (error) {
  fail(error);
}
