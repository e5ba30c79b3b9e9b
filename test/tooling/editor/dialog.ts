import type { FlowNode } from '../node-red/nodes';
import type { Page } from 'playwright-core';

/** The page of an editor, as a test or a script drives it. */
export interface Editor {
  page: Page;
  /** Runs a script in the page, which has types of its own. */
  run: <T>(script: string) => Promise<T>;
}

const OPEN = '.red-ui-tray:last-of-type .red-ui-tray-content:visible';

/** Opens the dialog of a node, or of a config node, and no other. */
export async function openDialog(editor: Editor, id: string): Promise<void> {
  const { page, run } = editor;
  await closeDialogs(editor);
  await run(`(() => {
    const node = RED.nodes.node('${id}');
    if (node._def.category === 'config') RED.editor.editConfig('', node.type, node.id);
    else RED.editor.edit(node);
  })()`);
  await page.waitForSelector(OPEN);
  await dialogReady({ page });
}

/**
 * Waits until the dialog is in its place, and its first field has the focus. The editor gives it 150 ms after
 * a first timer; what follows the same timers comes after that, however busy the machine is.
 */
export async function dialogReady({ page }: Pick<Editor, 'page'>): Promise<void> {
  await page.waitForFunction(`(() => {
    const tray = $('.red-ui-tray').last();
    return tray.length > 0 && Math.abs(tray.offset().left + tray.outerWidth() - $('.red-ui-tray').parent().offset().left - $('.red-ui-tray').parent().outerWidth()) < 2;
  })()`);
  await page.evaluate(`new Promise((resolve) => setTimeout(() => setTimeout(resolve, 160), 0))`);
}

/** Presses the dialog's button for done, or for cancel, and waits until it has gone. */
export async function closeDialog(
  { page, run }: Editor,
  how: 'ok' | 'cancel' = 'ok',
): Promise<void> {
  await run(`void $('.red-ui-tray').last().addClass('test-closing')`);
  await page.click(`#node-config-dialog-${how}:visible, #node-dialog-${how}:visible`);
  // A dialog that was under it slides back.
  await page.waitForFunction(`$('.test-closing').length === 0`);
}

/** Closes what a failed test has left open, so that the next one does not fail because of it. */
export async function closeDialogs(editor: Editor): Promise<void> {
  const open = (): Promise<number> => editor.run(`$('.red-ui-tray').length`);
  for (let left = await open(); left > 0; left = await open()) await closeDialog(editor, 'cancel');
}

/** Fills a field; its last character is typed, as by a person, since each one takes the page a while. */
export async function fill({ page }: Editor, selector: string, text: string): Promise<void> {
  const input = page.locator(selector);
  await input.fill(text.slice(0, -1));
  await input.pressSequentially(text.slice(-1));
}

/** The field of a property that has a type. */
export const typedInput = (property: string): string =>
  `#node-input-${property} ~ .red-ui-typedInput-container .red-ui-typedInput-input`;

/** Adds a node as from the palette. @returns its id */
export const add = ({ run }: Editor, type: string): Promise<string> =>
  run(`(() => {
    const { node } = RED.view.createNode('device-cloud-${type}', 300, 300);
    RED.nodes.add(node);
    RED.editor.validateNode(node);
    return node.id;
  })()`);

/** Imports nodes as a saved flow has them. */
export const importNodes = ({ run }: Editor, nodes: readonly object[]): Promise<void> =>
  run(
    `void RED.view.importNodes(${JSON.stringify(nodes)}, { generateIds: false, touchImport: true, notify: false })`,
  );

/** A row of the list of devices. */
export const ROW = '.red-ui-autoComplete-container:visible a';

/** The rows that the device picker shows, once it does. */
export async function rows({ page }: Editor): Promise<string[]> {
  const row = page.locator(ROW);
  await row.first().waitFor();
  return row.allInnerTexts();
}

/** A node as the editor would deploy it, without its credentials. */
export function exported({ run }: Editor, id: string): Promise<FlowNode> {
  return run(`(() => {
    const { credentials, ...node } = RED.nodes.convertNode(RED.nodes.node('${id}'));
    return JSON.parse(JSON.stringify(node));
  })()`);
}

/** The key that is shown for a text that no catalogue contains. */
export function untranslated({ run }: Editor): Promise<string[]> {
  return run(`$('.red-ui-tray [data-i18n]').toArray().flatMap((element) => {
    return $(element).attr('data-i18n').split(';').filter((key) => {
      const [, attribute, name] = /^(?:\\[(.+)\\])?(?:.*:)?(.+)$/.exec(key);
      const text = attribute ? $(element).attr(attribute) : $(element).text();
      return text === '' || text.endsWith(name);
    });
  })`);
}
