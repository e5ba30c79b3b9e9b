import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { app, placed, TAB } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { looksWell } from './look';
import { world } from './world';

const VIEW = '.device-cloud-fleet-view:visible';

describe('recording in the sidebar', () => {
  const here = world((simulator) => [
    ...[TAB, app(simulator)],
    placed('listen', { chipids: ['10000001'] }),
  ]);

  it('begins for some devices, shows what it has, and is downloaded as a test', async () => {
    const { page } = here.editor;
    await until(() => here.simulator.channels('10000001') > 0, 'the channel is open');
    await here.editor.run(`RED.sidebar.show('device-cloud-fleet')`);
    await page.fill('#device-cloud-fleet-text', '10000001');
    const button = page.locator('button[data-view=recording]:visible');
    await button.click();
    await page.waitForFunction(`$('${VIEW}').text().includes('devices in the list (1)')`);
    await page.click(`${VIEW} button:has-text("Start recording")`);
    await page.waitForSelector('button.device-cloud-fleet-running:visible');
    here.simulator.upload('10000001', { temperature: 21.5 });
    await page.waitForFunction(`/Uploads: 1\\./.test($('${VIEW}').text())`);
    await looksWell(here.editor, 'sidebar-recording');
    const save = async (words: string): Promise<string> => {
      const downloading = page.waitForEvent('download');
      await page.click(`${VIEW} button:has-text("${words}")`);
      const download = await downloading;
      assert.equal(download.suggestedFilename(), 'recorded.yaml');
      return readFileSync((await download.path()) ?? '', 'utf8');
    };
    const text = await save('Stop and download');
    assert.match(text, /upload:\n\s+chipid: 10000001\n\s+payload:\n\s+temperature: 21\.5\n/);
    await page.waitForFunction(`/has ended. Uploads: 1\\./.test($('${VIEW}').text())`);
    assert.equal(await button.innerText(), 'Record');
    assert.equal(await save('Download the test'), text);
    // Not with the colours of a button that the mouse is over.
    await page.mouse.move(0, 0);
    await looksWell(here.editor, 'sidebar-recorded');
  });

  it('leaves room for a device book, which is created in the dialog of the application', async () => {
    const { page } = here.editor;
    await page.click('button[data-view=book]:visible');
    await page.click(`${VIEW} button:has-text("Create a book")`);
    await page.waitForFunction(`$(document.activeElement).is('#node-config-input-book')`);
    assert.equal(await page.inputValue('#node-config-input-book'), 'devices.csv');
    await here.editor.picture('book-create');
    await page.click('#node-config-dialog-ok');
    await page.waitForSelector(`${VIEW}:has-text("Press Deploy")`);
  });
});
