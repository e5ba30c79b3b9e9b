import assert from 'node:assert/strict';
import type { Editor } from './browser';
import { inEachTheme, tabFaint } from './colours';
import { tabMisfits } from './layout';

/** The tab of the sidebar at its usual width, and at a narrow one. */
export const WIDTHS = ['', '200px'];

/** Expects the tab of the sidebar to be legible in each theme and at each width, with nothing cut off. */
export async function looksWell(editor: Editor, name: string, widths = ['']): Promise<void> {
  const setWidth = (width: string): Promise<void> =>
    editor.run(`void $('.device-cloud-fleet').css('width', '${width}')`);
  await inEachTheme(editor, async (theme) => {
    for (const width of widths) {
      await setWidth(width);
      await editor.picture(`${name}-${theme}-${width}`);
      assert.deepEqual(await tabFaint(editor), [], `${theme} ${width}`);
      assert.deepEqual(await tabMisfits(editor), [], `${theme} ${width}`);
    }
  });
  await setWidth('');
}
