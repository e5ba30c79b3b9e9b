import assert from 'node:assert/strict';
import { closeDialog, openDialog } from '../tooling/editor/dialog';
import { apps, sampleNodes } from '../tooling/editor/samples';
import { world } from './world';

const SHOWN = '#node-input-chipid ~ .red-ui-typedInput-container';

describe('the fields of the dialogs', () => {
  const here = world(() => [...apps, ...sampleNodes]);
  afterEach(() => closeDialog(here.editor, 'cancel'));

  const useType = (type: string): Promise<unknown> =>
    here.editor.run(`void $('#node-input-chipid').typedInput('type', '${type}')`);
  const hint = (): Promise<string | null> =>
    here.editor.page.locator(`${SHOWN} .red-ui-typedInput-input`).getAttribute('placeholder');

  it('have names that say what they are for and what is chosen', async () => {
    await openDialog(here.editor, 'push');
    const { page } = here.editor;
    await page.getByRole('textbox', { name: 'Device', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Device chip number' }).waitFor();
    await useType('msg');
    await page.getByRole('button', { name: 'Device msg.' }).waitFor();
  });

  it('say what is expected as the device, and where the list is', async () => {
    await openDialog(here.editor, 'push');
    const note = here.editor.page.locator('#device-note');
    assert.equal(await hint(), 'chip number, or click to choose');
    for (const type of ['msg', 'flow', 'env', 'jsonata']) {
      await useType(type);
      assert.equal(await hint(), type === 'msg' ? 'property with the chip number' : '', type);
      const said = /list of the online devices/.test(await note.innerText());
      assert.equal(said, type === 'msg', type);
    }
    await useType('msg');
    await here.editor.picture('device-hint');
  });
});
