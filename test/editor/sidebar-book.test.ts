import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Simulator } from '../../src/simulator';
import { app, placed, TAB, type FlowNode } from '../tooling/node-red/nodes';
import { temporaryFolder } from '../tooling/temporary-folder';
import { looksWell, WIDTHS } from './look';
import { until } from '../tooling/until';
import { world } from './world';

const FORM = '.red-ui-notification form';
/** Of the notification that is seen: those of tests before may still be there. */
const PRIMARY = '.red-ui-notification:visible button.primary';

describe('the device book in the sidebar', () => {
  const folder = temporaryFolder('sidebar-book');
  const path = join(folder, 'devices.csv');
  const DEVICES = [10000001, 10000002, 10000003].map((chipid) => ({
    chipid,
    name: `Device ${chipid}`,
  }));
  const flows = (simulator: Simulator): FlowNode[] => {
    writeFileSync(path, 'chipid,name,groups\n10000001,<b>Gate</b>,north\n10000077,Door,south\n');
    return [
      TAB,
      app(simulator, { book: path }),
      {
        ...{ id: 'type', type: 'device-cloud-type', name: 'climate' },
        ...{ pins: 'valve: 5, lamp: 12 low', callbacks: 'uptime' },
      },
      placed('listen', { chipids: ['10000001'] }),
    ];
  };
  const here = world(flows, { simulator: { devices: DEVICES } });

  it('changes the row of a device; where the file has changed meanwhile, what was typed is kept', async () => {
    const { page } = here.editor;
    await here.editor.run(`RED.sidebar.show('device-cloud-fleet')`);
    await page.click('#device-cloud-row-10000001-app');
    await page.click('button[data-action=book]');
    await page.waitForSelector(FORM);
    assert.equal(await page.inputValue('#device-cloud-fleet-row-name'), '<b>Gate</b>');
    assert.equal(await page.locator(`${FORM} b`).count(), 0);
    const GROUPS = '#device-cloud-fleet-row-groups';
    assert.equal(await page.inputValue(GROUPS), 'north');
    const offers = (): Promise<string[]> =>
      here.editor.run(`$('#device-cloud-fleet-groups option').toArray().map((one) => one.value)`);
    await page.fill(GROUPS, 'north; ');
    assert.deepEqual(await offers(), ['north; south']);
    await page.fill(GROUPS, 'north;<i>new</i> ; ');
    assert.equal(await page.locator(`${FORM} i:not(.fa)`).count(), 0);
    await page.fill('#device-cloud-fleet-row-note', 'by the road');
    appendFileSync(path, '10000078,Late,\n');
    await page.click(PRIMARY);
    await page.waitForSelector(`${FORM} [role=alert]:has-text("has changed meanwhile")`);
    await here.editor.picture('sidebar-book-row');
    assert.doesNotMatch(readFileSync(path, 'utf8'), /by the road/);
    await page.click(`${FORM} button:has-text("Read it again")`);
    await page.waitForSelector(`${FORM} [role=alert]`, { state: 'hidden' });
    assert.equal(await page.inputValue('#device-cloud-fleet-row-note'), 'by the road');
    await page.click(PRIMARY);
    await page.waitForSelector(FORM, { state: 'detached' });
    assert.equal(
      readFileSync(path, 'utf8'),
      'chipid,name,groups,note\n10000001,<b>Gate</b>,north;<i>new</i>,by the road\n10000077,Door,south\n10000078,Late,\n',
    );
    const [logged, ...others] = here.editor.problems.splice(0);
    assert.match(logged ?? '', /412/);
    assert.deepEqual(others, []);

    // A note that a spreadsheet has written, with a line end that no field shows.
    writeFileSync(path, 'chipid,name,note\n10000001,Gate,"two\r\nlines "\n');
    await page.waitForSelector('#device-cloud-row-10000077-app', { state: 'detached' });
    await page.click('button[data-action=book]');
    await page.waitForSelector(FORM);
    assert.equal(await page.inputValue('#device-cloud-fleet-row-note'), 'two\nlines ');
    await page.fill('#device-cloud-fleet-row-name', 'Door');
    await page.click(PRIMARY);
    await page.waitForSelector(FORM, { state: 'detached' });
    assert.equal(readFileSync(path, 'utf8'), 'chipid,name,note\n10000001,Door,"two\r\nlines "\n');
    const label = (): Promise<unknown> =>
      here.editor.run(`RED.utils.getNodeLabel(RED.nodes.node('listen'))`);
    await until(async () => String(await label()).includes('Door'), 'the label follows');
    writeFileSync(path, 'chipid,name\n10000001,Barn\n');
    await until(async () => String(await label()).includes('Barn'), 'the label follows the file');
    await looksWell(here.editor, 'sidebar-book-label');
  });

  it('shows what is wrong with the book, imports after a preview, and gives it as a file', async () => {
    const { page } = here.editor;
    const VIEW = '.device-cloud-fleet-view:visible';
    const press = (words: string): Promise<void> =>
      page.click(`${VIEW} button:has-text("${words}")`);
    const agree = (): Promise<void> => page.click(PRIMARY);
    const closed = (): Promise<unknown> => page.waitForSelector(FORM, { state: 'detached' });
    writeFileSync(path, 'chipid,name\n10000001,Gate\nx,<b>Wrong</b>\n10000001,Twice\n');
    await page.click('button[data-view=book]:visible');
    await page.waitForSelector(`${VIEW} li:has-text("Line 4 is another row of device 10000001")`);
    assert.deepEqual(await page.locator(`${VIEW} li`).count(), 2);
    await looksWell(here.editor, 'sidebar-book', WIDTHS);
    const before = 'chipid,name\n10000001,Gate\n10000002,\n10000003,New\n';
    // A button that is replaced while it is pressed does nothing.
    await page
      .locator(`${VIEW} button:has-text("Download")`)
      .evaluate((each) => each.classList.add('kept'));
    writeFileSync(path, before);
    await page.waitForSelector(`${VIEW} :text("devices 3")`);
    assert.equal(await page.locator(`${VIEW} button.kept`).count(), 1);

    const importing = join(folder, 'import.csv');
    writeFileSync(importing, 'chipid,name,Site\n10000001,Gate,<i>Graz</i>\n9,=cmd\ny,\n');
    const choosing = page.waitForEvent('filechooser');
    await press('Import …');
    await (await choosing).setFiles(importing);
    await page.waitForSelector(`${FORM} [data-kind=gone][open]`);
    const kinds = await page.locator(`${FORM} summary`).allInnerTexts();
    assert.deepEqual(kinds, ['New: 1', 'Changed: 1', 'Gone: 2', 'Rows left out: 1']);
    await page.click(`${FORM} [data-kind=changed] summary`);
    await page.waitForSelector(`${FORM} li:has-text("Gate (10000001): Site")`);
    await here.editor.picture('sidebar-book-import');
    writeFileSync(path, 'chipid,name\n10000001,Other\n');
    await agree();
    await page.click(`${FORM} button:has-text("Read it again")`);
    await page.waitForSelector(`${FORM} li:has-text("Gate (10000001): name, Site")`, {
      state: 'attached',
    });
    assert.equal(readFileSync(path, 'utf8'), 'chipid,name\n10000001,Other\n');
    await agree();
    await closed();
    const text = "chipid,name,Site\n10000001,Gate,<i>Graz</i>\n9,'=cmd\ny,\n";
    assert.equal(readFileSync(path, 'utf8'), text);

    const downloading = page.waitForEvent('download');
    await press('Download');
    const download = await downloading;
    assert.equal(download.suggestedFilename(), 'devices.csv');
    assert.equal(readFileSync((await download.path()) ?? '', 'utf8'), text);

    // An image is refused, and what is there stays.
    writeFileSync(importing, Buffer.from('89504e470d0a1a0a0000000d', 'hex'));
    const again = page.waitForEvent('filechooser');
    await press('Import …');
    await (await again).setFiles(importing);
    await page.waitForSelector('.red-ui-notification-error:has-text("UTF-8"):visible');
    assert.equal(readFileSync(path, 'utf8'), text);
    const logged = here.editor.problems.splice(0);
    assert.match(logged.join(), /^[^,]*412[^,]*,[^,]*400[^,]*$/);
  });

  it('names a comma within a group, and offers the types that there are', async () => {
    const { page } = here.editor;
    writeFileSync(path, 'chipid,name\n10000001,Gate\n10000077,Aaa\n10000078,Aab\n');
    await page.waitForSelector(
      '.device-cloud-fleet-view:visible [role=status]:has-text("devices 3")',
    );
    const importing = join(folder, 'odd.csv');
    writeFileSync(importing, 'chipid;groups\n10000001;north,pumps\n');
    const choosing = page.waitForEvent('filechooser');
    await page.click('.device-cloud-fleet-view:visible button:has-text("Import …")');
    await (await choosing).setFiles(importing);
    await page.waitForSelector(`${FORM} [data-kind=odd][open] li:has-text("north,pumps")`);
    await here.editor.picture('sidebar-book-odd');
    await page.click('.red-ui-notification:visible button:has-text("Cancel")');
    await page.click('button[data-view=devices]:visible');
    await page.waitForSelector('#device-cloud-row-10000078-app');
    const order = await here.editor.run<string[]>(
      `$('[id^=device-cloud-row-]').toArray().sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top).map(({ id }) => id)`,
    );
    const last = ['device-cloud-row-10000077-app', 'device-cloud-row-10000078-app'];
    assert.deepEqual(order.slice(-2), last, 'never seen comes last');
    await page.click('#device-cloud-row-10000001-app');
    await page.click('button[data-action=book]');
    await page.waitForSelector(`${FORM} #device-cloud-fleet-row-type[list]`);
    assert.deepEqual(
      await page
        .locator(`${FORM} #device-cloud-fleet-types option`)
        .evaluateAll((all) => all.map((each) => (each as unknown as { value: string }).value)),
      ['climate'],
    );
    await page.click('.red-ui-notification:visible button:has-text("Cancel")');
    await page.click('button[data-view=book]:visible');
  });

  it('names a type, whose pins are switched and whose callbacks are read in the details', async () => {
    const { page } = here.editor;
    const device = here.simulator.device('10000001');
    writeFileSync(path, 'chipid,name,type\n10000001,Gate,climate\n');
    await page.click('button[data-view=devices]:visible');
    await page.waitForSelector('.device-cloud-fleet-controls:visible');
    const click = (row: string, action: string): Promise<void> =>
      page.click(`.device-cloud-fleet-controls > div:has-text("${row}") [data-action=${action}]`);
    await click('valve', 'on');
    await until(() => device.levels[5] === '1', 'the valve is open');
    await click('lamp', 'off');
    await until(() => device.levels[12] === '1', 'the lamp, which is active low, is off');
    await click('uptime', 'read');
    await page.waitForFunction(`/^\\d+$/.test($('.device-cloud-fleet-controls output').text())`);
    await here.editor.run(`void $('.device-cloud-fleet-details')[0].scrollTo(0, 0)`);
    await looksWell(here.editor, 'sidebar-controls');
    await page.click('button[data-view=book]:visible');
  });

  it('is seen by users who may not change it', async () => {
    const { page } = here.editor;
    await here.editor.run(`void (() => {
      window.usual = RED.user.hasPermission;
      RED.user.hasPermission = (name) => name !== 'device-cloud.write';
    })()`);
    writeFileSync(path, 'chipid,name\n10000001,Gate\nz,\n');
    await page.waitForSelector('.device-cloud-fleet-view:visible li:has-text("Line 3")');
    const buttons = page.locator('.device-cloud-fleet-view:visible button');
    const may = await Promise.all((await buttons.all()).map((button) => button.isEnabled()));
    const words = await buttons.allInnerTexts();
    assert.deepEqual(
      words.map((word, index) => [word.trim(), may[index]]),
      [
        ['Import …', false],
        ['Download', true],
      ],
    );
    await here.editor.run('void (RED.user.hasPermission = window.usual)');
    await page.click('button[data-view=devices]:visible');
  });
});
