import assert from 'node:assert/strict';
import { secretSearch } from '../tooling/secret-search';
import { closeDialog, openDialog } from '../tooling/editor/dialog';
import { sampleNodes } from '../tooling/editor/samples';
import { app } from '../tooling/node-red/nodes';
import { world } from './world';

const KEYS = {
  appkey: 'Canary-App/Key+4F1D %&=?',
  serverKey: 'Canary-Server/Key+7B2C%',
  serverPassword: 'Canary-Server/Password 9E0A&=',
};
/** Typed into the dialog, and not deployed. */
const TYPED = {
  appkey: 'Canary-Typed/App Key+5D6B',
  serverKey: 'Canary-Typed/Server+Key-2F9A',
  serverPassword: 'Canary-Typed Password %C17',
};
const PASSWORDS = [KEYS.appkey, KEYS.serverPassword];

describe('what is exported from the editor', () => {
  const here = world((simulator) => [app(simulator), ...sampleNodes], { simulator: KEYS });
  const search = secretSearch([...Object.values(KEYS), ...Object.values(TYPED)]);

  /** What the dialog for exporting shows, which is what is copied or downloaded. */
  const exportDialog = async (): Promise<string> => {
    const { page } = here.editor;
    await here.editor.run(`RED.actions.invoke('core:show-export-dialog')`);
    await page.click('#red-ui-clipboard-dialog-export-rng-full');
    const area = '#red-ui-clipboard-dialog-export-text';
    await page.waitForFunction(`/device-cloud-app/.test($('${area}').val())`);
    const text = await page.inputValue(area);
    await here.editor.picture('export');
    await page.click('#red-ui-clipboard-dialog-cancel');
    await page.waitForSelector(area, { state: 'hidden' });
    return text;
  };

  const check = async (): Promise<void> => {
    const text = await exportDialog();
    const nodes = JSON.parse(text) as { id: string; type: string; credentials?: unknown }[];
    const app = nodes.find(({ id }) => id === 'app');
    assert.equal(app?.type, 'device-cloud-app', 'the configuration is exported');
    assert.equal('credentials' in app, false);
    assert.ok(nodes.length > sampleNodes.length);
    assert.equal(search(text), undefined);
  };

  it('contains no key after the dialog has been open, which shows no password either', async () => {
    await openDialog(here.editor, 'app');
    const values = await here.editor.run<string[]>(
      `$('.red-ui-tray input').toArray().map((input) => $(input).val() + ' ' + input.outerHTML)`,
    );
    assert.equal(secretSearch(PASSWORDS)(values.join('\n')), undefined);
    assert.ok(values.some((value) => value.startsWith('__PWRD__')));
    await closeDialog(here.editor);
    await check();
  });

  it('contains no keys that were typed but not deployed yet', async () => {
    await openDialog(here.editor, 'app');
    for (const [property, value] of Object.entries(TYPED)) {
      await here.editor.page.fill(`#node-config-input-${property}`, value);
    }
    await closeDialog(here.editor);
    const kept = await here.editor.run<string>(`RED.nodes.node('app').credentials.appkey`);
    assert.equal(kept, TYPED.appkey, 'the key waits for its deploy');
    await check();
  });
});
