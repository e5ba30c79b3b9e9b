import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/*
 * `npm run screenshots` makes the pictures of the README and the docs; `-- --only first-minute` those whose names match a
 * pattern (`demo` means all of the demo's).
 */

try {
  const { values } = parseArgs({
    options: { only: { type: 'string', default: '' } },
  });
  setup();
  // What is imported here needs what setup installs and builds.
  const { launchBrowser } = await import('../dist/test/tooling/editor/chromium.js');
  const browser = await launchBrowser();
  const images = join(root, 'docs', 'images');
  mkdirSync(images, { recursive: true });
  const pattern = new RegExp(values.only);
  try {
    const { takeDialogs } = await import('./screenshots/dialogs.mjs');
    const { takeFirstMinute } = await import('./screenshots/film.mjs');
    const { takeRecipes } = await import('./screenshots/recipes.mjs');
    const { takeDemo } = await import('./screenshots/demo.mjs');
    await takeDialogs(browser, images, pattern);
    if (pattern.test('first-minute')) await takeFirstMinute(browser, images);
    if (pattern.test('recipes')) await takeRecipes(browser, images);
    if (pattern.test('demo')) await takeDemo(browser, images);
  } finally {
    await browser.close();
  }
} catch (error) {
  fail(error);
}
