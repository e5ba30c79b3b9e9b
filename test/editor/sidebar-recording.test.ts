import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { app, node } from '../../tooling/node-red/nodes';
import { until } from '../../tooling/until';
import { inEachTheme, tabFaint } from './colours';
import { tabMisfits } from './layout';
import { world } from './world';

const VIEW = '.device-cloud-fleet-view:visible';

describe('recording in the sidebar', () => {
  const listen = { ...node('listen', { chipids: ['10000001'] }), id: 'listen', wires: [[]] };
  const here = world((simulator) => [
    { id: 'tab', type: 'tab', label: 'Flow' },
    app(simulator),
    { ...listen, type: 'device-cloud-listen', z: 'tab', x: 200, y: 100 },
  ]);

  it('begins for some devices, shows that it runs and what it has, ends, and can be downloaded', async () => {
    const { page } = here.editor;
    await until(() => here.simulator.channels('10000001') > 0, 'the channel is open');
    await here.editor.run(`RED.sidebar.show('device-cloud-fleet')`);
    await page.click('#device-cloud-row-10000001');
    const button = page.locator('button[data-view=recording]:visible');
    await button.click();
    await page.fill('#device-cloud-fleet-minutes', '0');
    const start = page.locator(`${VIEW} button[type=submit]`);
    await start.click();
    assert.ok(await page.isVisible('#device-cloud-fleet-minutes.input-error'));
    await page.fill('#device-cloud-fleet-minutes', '10');
    await page.selectOption('#device-cloud-fleet-record', 'selected');
    await start.click();
    await page.waitForSelector('button.device-cloud-fleet-running:visible');
    here.simulator.upload('10000001', { temperature: 21.5 });
    await page.waitForFunction(`/Uploads: 1,/.test($('${VIEW}').text())`);
    await inEachTheme(here.editor, async (theme) => {
      await here.editor.picture(`sidebar-recording-${theme}`);
      assert.deepEqual(await tabFaint(here.editor), [], theme);
      assert.deepEqual(await tabMisfits(here.editor), [], theme);
    });
    await page.click(`${VIEW} button:has-text("Stop")`);
    await page.waitForFunction(`/was stopped. Uploads: 1/.test($('${VIEW}').text())`);
    assert.equal(await button.innerText(), 'Record');
    const downloading = page.waitForEvent('download');
    await page.locator(`${VIEW} button:has-text("Download")`).first().click();
    const download = await downloading;
    assert.match(download.suggestedFilename(), /\.jsonl$/);
    const text = readFileSync((await download.path()) ?? '', 'utf8');
    const body = Buffer.from('{"temperature":21.5}').toString('base64');
    assert.match(text, new RegExp(`"kind":"upload","chipid":"10000001",.*"body":"${body}"`));
  });
});
