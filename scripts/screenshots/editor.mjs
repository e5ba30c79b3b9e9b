import * as dialog from '../../dist/test/tooling/editor/dialog.js';
import { openPage } from '../../dist/test/tooling/editor/page.js';

/** Room for the longest dialog. */
const HEIGHT = 1640;

const TRAY = '.red-ui-tray';

/** Opens the editor of a Node-RED, in a language and a theme. */
export const openEditor = (browser, url, { language, theme = 'light' }) =>
  openPage(browser, url, { language, theme, height: HEIGHT });

/** Waits until what moves has come to rest. */
export const atRest = (page) => page.waitForTimeout(400);

/** A page as the tests of the editor drive it. */
const driven = (page) => ({ page, run: (script) => page.evaluate(script) });

/** Opens the dialog of a node or config node, and waits until it has slid to its place. */
export const openDialog = (page, id) => dialog.openDialog(driven(page), id);

/** Puts a node onto the workspace as a person does who has just dragged it from the palette. */
export function addNode(page, type) {
  return page.evaluate(`(() => {
    const { node } = RED.view.createNode('${type}', 300, 300);
    RED.nodes.add(node);
    RED.editor.validateNode(node);
    return node.id;
  })()`);
}

/** Closes all dialogs without saving. */
export async function closeDialogs(page) {
  while ((await page.locator(TRAY).count()) > 0) await dialog.closeDialog(driven(page), 'cancel');
}

/** The part of the page that the open dialog fills, without the emptiness below its form. */
export function dialogArea(page) {
  return page.evaluate(`(() => {
    const tray = $('${TRAY}').last();
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
}
