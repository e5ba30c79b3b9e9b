import assert from 'node:assert/strict';
import { ONE, TWO } from '../e2e/harness/devices';
import { closeDialog, dialogReady, fill, openDialog, rows } from '../tooling/editor/dialog';
import { world } from './world';

const ROW = '.red-ui-autoComplete-container:visible a';
const CHIPID = '.device-cloud-chipid';

describe('a first flow, from the palette to the status below the node', () => {
  const here = world(() => []);

  /** Drags a node from the palette to the flow. @returns its id */
  const drag = async (type: string): Promise<string> => {
    const { page, run } = here.editor;
    await page.fill('#red-ui-palette-search input', type);
    const node = page.locator(`.red-ui-palette-node[data-palette-type='${type}']`);
    await node.scrollIntoViewIfNeeded();
    const from = (await node.boundingBox())!;
    await page.mouse.move(from.x + 20, from.y + 10);
    await page.mouse.down();
    await page.mouse.move(500, 400, { steps: 10 });
    await page.mouse.up();
    return run(`RED.nodes.filterNodes({ type: '${type}' })[0].id`);
  };

  const status = (id: string): string => `[id="${id}"] .red-ui-flow-node-status-label`;

  let id = '';

  it('takes a node from the palette, which says what it still needs', async () => {
    id = await drag('device-cloud-listen');
    assert.equal(await here.editor.run(`RED.nodes.node('${id}').valid`), false);
    const errors = await here.editor.run<string[]>(`RED.nodes.node('${id}').validationErrors`);
    assert.match(errors.join(), /Application/);
    assert.match(errors.join(), /Devices: add at least one/);
  });

  it('refuses a wrong address as it is typed, and tries the right one', async () => {
    const { page } = here.editor;
    const { baseUrl, appid, appkey } = here.simulator;
    await openDialog(here.editor, id);
    await page.click('#node-input-btn-app-add');
    await page.waitForSelector('#node-config-input-baseUrl');
    // While it slides in, Node-RED gives the first field the focus.
    await dialogReady(here.editor);
    await fill(here.editor, '#node-config-input-baseUrl', `${baseUrl}/path`);
    await page.waitForSelector('#node-config-input-baseUrl.input-error');
    await fill(here.editor, '#node-config-input-baseUrl', baseUrl);
    await page.waitForSelector('#node-config-input-baseUrl:not(.input-error)');
    await page.fill('#node-config-input-appid', appid);
    await page.fill('#node-config-input-appkey', appkey);
    await page.click('#device-cloud-test');
    await page.waitForSelector('.device-cloud-result .fa-check');
    await closeDialog(here.editor);
  });

  it('picks devices from the list before the first deploy', async () => {
    const { page } = here.editor;
    const add = '#list-row .red-ui-editableList-addButton';
    await page.click(add);
    await page.locator(CHIPID).last().press('ArrowDown');
    assert.match((await rows(here.editor)).join(), new RegExp(`${ONE}.*${TWO}`, 's'));
    await page.locator(ROW, { hasText: ONE }).click();
    await page.click(add);
    await page.locator(CHIPID).last().pressSequentially(TWO.slice(0, -1));
    await page.locator(ROW, { hasText: TWO }).click();
    await here.editor.picture('first-flow');
    await closeDialog(here.editor);
    const saved = await here.editor.run(`RED.nodes.node('${id}').chipids`);
    assert.deepEqual(saved, [ONE, TWO]);
    assert.equal(await here.editor.run(`RED.nodes.node('${id}').valid`), true);
  });

  it('is deployed, and shows that it is connected', async () => {
    const { page } = here.editor;
    await page.click('#red-ui-header-button-deploy');
    await page.waitForFunction('!RED.nodes.dirty()');
    await page.locator(status(id), { hasText: '2/2' }).waitFor();
    await openDialog(here.editor, id);
    await page.locator('#list-row .red-ui-editableList-item-remove').last().click();
    await closeDialog(here.editor);
    await page.click('#red-ui-header-button-deploy');
    await page.locator(status(id), { hasText: /^connected$/ }).waitFor();
    await here.editor.picture('connected');
  });

  it('shows when the service has gone', async () => {
    await here.simulator.close();
    const gone = here.editor.page.locator(status(id), { hasText: /^(disconnected|connecting)$/ });
    await gone.waitFor();
  });
});
