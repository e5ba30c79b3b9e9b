import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SetupError, root } from './npm.mjs';
import { fail, setup } from './setup.mjs';

/*
 * `npm run screenshots` makes the pictures of the README and the docs, and a gallery of all that the editor shows.
 * A part: `npm run screenshots -- readme --only first-minute`, or `npm run screenshots -- gallery --only push --editor 5`,
 * where both options are patterns: of the pictures' names (`demo` means all of the demo's), and of the editors'.
 */

const PARTS = ['readme', 'gallery'];

function options() {
  try {
    const { values, positionals } = parseArgs({
      options: { only: { type: 'string' }, editor: { type: 'string' } },
      allowPositionals: true,
    });
    const wrong = positionals.find((part) => !PARTS.includes(part));
    if (wrong) throw new Error(`There is no part "${wrong}"`);
    return { ...values, parts: positionals.length > 0 ? positionals : PARTS };
  } catch (error) {
    throw new SetupError(
      `${error.message}. Usage: npm run screenshots -- [readme|gallery] [--only …] [--editor …]`,
    );
  }
}

function folder(...path) {
  const full = join(root, ...path);
  mkdirSync(full, { recursive: true });
  return full;
}

async function takeAll({ parts, only, editor }) {
  setup();
  // What is imported here needs what setup installs and builds.
  const { launchBrowser } = await import('../dist/test/tooling/editor/chromium.js');
  const { takeDemo } = await import('./screenshots/demo.mjs');
  const { takeRecipes } = await import('./screenshots/recipes.mjs');
  const { takeFirstMinute } = await import('./screenshots/first-minute.mjs');
  const { takeDialogs } = await import('./screenshots/readme.mjs');
  const { takeGallery } = await import('./screenshots/gallery.mjs');
  const browser = await launchBrowser();
  try {
    if (parts.includes('readme')) {
      const images = folder('docs', 'images');
      const pattern = new RegExp(only ?? '');
      await takeDialogs(browser, images, pattern);
      if (pattern.test('first-minute')) await takeFirstMinute(browser, images);
      if (pattern.test('recipes')) await takeRecipes(browser, images);
      if (pattern.test('demo')) await takeDemo(browser, images);
    }
    if (parts.includes('gallery')) await takeGallery(browser, { only, editor });
  } finally {
    await browser.close();
  }
}

try {
  await takeAll(options());
} catch (error) {
  fail(error);
}
