import { createRequire } from 'node:module';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as dialog from '../../dist/test/tooling/editor/dialog.js';
import { EDITOR_SETTINGS, openPage } from '../../dist/test/tooling/editor/page.js';
import { startNodeRed } from '../../dist/test/tooling/node-red/process.js';
import { makeUserDir } from '../../dist/test/tooling/node-red/user-dir.js';
import { npm, root } from '../npm.mjs';

/* What all pictures have in common: a Node-RED with flows, its editor, its dialogs, and files that are small. */

export const LANGUAGES = ['en-US', 'zh-CN'];

/**
 * Starts a Node-RED with these flows, this package, and nothing but this package.
 * @param settings in place of those of the tests of the editor
 */
export async function startWithFlows(name, flows, settings = EDITOR_SETTINGS) {
  const userDir = join(root, '.cache', 'screenshots', name);
  rmSync(userDir, { recursive: true, force: true });
  makeUserDir(userDir);
  const red = await startNodeRed({ userDir, settings });
  const response = await fetch(`${red.url}/flows`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(flows),
  });
  if (response.ok) return red;
  await red.end();
  throw new Error(`The flows were not taken: ${await response.text()}`);
}

/** Opens the editor, with room for the longest dialog. */
export const openEditor = (browser, url, { language }) =>
  openPage(browser, url, { language, theme: 'light', height: 1640 });

/** Waits until what moves has come to rest. */
export const atRest = (page) => page.waitForTimeout(400);

const driven = (page) => ({ page, run: (script) => page.evaluate(script) });

/** Opens the dialog of a node or config node, and waits until it has slid to its place. */
export const openDialog = (page, id) => dialog.openDialog(driven(page), id);

/** Closes all dialogs without saving. */
export async function closeDialogs(page) {
  while ((await page.locator('.red-ui-tray').count()) > 0)
    await dialog.closeDialog(driven(page), 'cancel');
}

/** The part of the page that the open dialog fills, without the emptiness below its form. */
export const dialogArea = (page) =>
  page.evaluate(`(() => {
    const tray = $('.red-ui-tray').last();
    const y = tray.offset().top;
    // Node-RED 5 has a handle at the tray's left.
    const x = tray.find('.red-ui-tray-header').offset().left;
    const shown = $('.red-ui-autoComplete-container:visible, .red-ui-typedInput-options:visible');
    const rows = tray.find('form:visible').first().find('*:visible')
      .not('details:not([open]) > :not(summary), details:not([open]) > :not(summary) *').add(shown);
    const ends = rows.toArray().map((row) => $(row).offset().top + $(row).outerHeight());
    const bottom = Math.min(Math.max(...ends) + 24, y + tray.outerHeight());
    return { x, y, width: tray.offset().left + tray.outerWidth() - x, height: bottom - y };
  })()`);

/** Only these pictures need it, so it is installed when they are made, and is no dependency. */
export function sharp() {
  const folder = join(root, '.cache', 'sharp');
  if (!existsSync(join(folder, 'node_modules', 'sharp'))) {
    mkdirSync(folder, { recursive: true });
    npm(['install', '--no-save', '--no-package-lock', '--no-audit', '--prefix', folder, 'sharp']);
  }
  return createRequire(join(folder, 'package.json'))('sharp');
}

/** Writes a picture with a few colours, as a dialog has: the repository carries each version of it. */
export async function writeSmall(picture, path, colours = 32) {
  await sharp()(picture).png({ palette: true, colours, effort: 10 }).toFile(path);
}
