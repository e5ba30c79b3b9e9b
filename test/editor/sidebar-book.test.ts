import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, node } from '../../tooling/node-red/nodes';
import { removeFolder, temporaryFolder } from '../../tooling/temporary-folder';
import { inEachTheme, tabFaint } from './colours';
import { tabMisfits } from './layout';
import { world } from './world';

const FORM = '.red-ui-notification form';

describe('the device book in the sidebar', () => {
  const folder = temporaryFolder('sidebar-book');
  const path = join(folder, 'devices.csv');
  const here = world((simulator) => {
    writeFileSync(path, 'chipid,name,groups\n10000001,<b>Gate</b>,north\n10000077,Door,south\n');
    return [
      { id: 'tab', type: 'tab', label: 'Flow' },
      { ...app(simulator), book: path },
      {
        ...node('listen', { chipids: ['10000001'] }),
        ...{ id: 'listen', type: 'device-cloud-listen', z: 'tab', x: 200, y: 100, wires: [[]] },
      },
    ];
  });
  after(() => removeFolder(folder));

  it('changes the row of a device; where the file has changed meanwhile, what was typed is kept', async () => {
    const { page } = here.editor;
    await here.editor.run(`RED.sidebar.show('device-cloud-fleet')`);
    await page.click('#device-cloud-row-10000001');
    await page.click('button[data-action=book]');
    await page.waitForSelector(FORM);
    assert.equal(await page.inputValue('#device-cloud-fleet-row-name'), '<b>Gate</b>');
    assert.equal(await page.locator(`${FORM} b`).count(), 0);
    await page.fill('#device-cloud-fleet-groups', '<i>new</i>');
    await page.press('#device-cloud-fleet-groups', 'Enter');
    assert.equal(await page.locator(`${FORM} i:not(.fa)`).count(), 0);
    await page.fill('#device-cloud-fleet-row-note', 'by the road');
    appendFileSync(path, '10000078,Late,\n');
    await page.click('.red-ui-notification button.primary');
    await page.waitForSelector(`${FORM} [role=alert]:has-text("has changed meanwhile")`);
    await inEachTheme(here.editor, (theme) => here.editor.picture(`sidebar-book-row-${theme}`));
    assert.doesNotMatch(readFileSync(path, 'utf8'), /by the road/);
    await page.click(`${FORM} button:has-text("Load it again")`);
    await page.waitForSelector(`${FORM} [role=alert]`, { state: 'hidden' });
    assert.equal(await page.inputValue('#device-cloud-fleet-row-note'), 'by the road');
    await page.click('.red-ui-notification button.primary');
    await page.waitForSelector(FORM, { state: 'detached' });
    assert.equal(
      readFileSync(path, 'utf8'),
      'chipid,name,groups,note\n10000001,<b>Gate</b>,north;<i>new</i>,by the road\n10000077,Door,south\n10000078,Late,\n',
    );
    const [logged, ...others] = here.editor.problems.splice(0);
    assert.match(logged ?? '', /412/);
    assert.deepEqual(others, []);
    assert.deepEqual(await tabFaint(here.editor), []);
    assert.deepEqual(await tabMisfits(here.editor), []);
  });
});
