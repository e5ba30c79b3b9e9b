import assert from 'node:assert/strict';
import { ONE, TWO } from '../e2e/harness/devices';
import {
  add as addNode,
  closeDialog,
  exported,
  fill,
  importNodes,
  openDialog,
  ROW,
  rows,
  typedInput,
} from '../tooling/editor/dialog';
import { app } from '../tooling/node-red/nodes';
import { world } from './world';

const DEVICE = typedInput('chipid');
const MESSAGE = typedInput('message');

describe('somebody who uses the nodes for the first time', () => {
  const here = world((simulator) => [app(simulator)]);

  /** Adds a node from the palette, as the quick-add dialog does: an existing application is there. */
  const add = (type: string): Promise<string> => addNode(here.editor, type);

  /** Chooses a type of a typedInput by its name. */
  const chooseType = async (property: string, name: string): Promise<void> => {
    const container = `#node-input-${property} ~ .red-ui-typedInput-container`;
    await here.editor.page.click(`${container} .red-ui-typedInput-type-select`);
    await here.editor.page
      .locator('.red-ui-typedInput-options:visible a', { hasText: name })
      .click();
  };

  const text = (selector: string): Promise<string> =>
    here.editor.run(`$('${selector}').text().trim()`);

  it('need not choose the application when there is only one', async () => {
    for (const type of ['push', 'devices', 'server', 'listen']) {
      assert.equal((await exported(here.editor, await add(type)))['app'], 'app', type);
    }
  });

  it('has to choose among several', async () => {
    const second = { id: 'second', type: 'device-cloud-app', service: 'simulator' };
    await importNodes(here.editor, [second]);
    const id = await add('listen');
    const errors = await here.editor.run<string[]>(`RED.nodes.node('${id}').validationErrors`);
    assert.match(errors.join(), /Application.*Devices: add at least one/s);
    const { app } = await exported(here.editor, id);
    await here.editor.run(`RED.nodes.remove('second')`);
    assert.equal(app, '');
  });

  it('finds an empty device field, whose list opens at a click', async () => {
    await openDialog(here.editor, await add('push'));
    assert.equal(await here.editor.page.inputValue(DEVICE), '');
    const hint = () => here.editor.page.locator(DEVICE).getAttribute('placeholder');
    assert.equal(await hint(), 'chip number, or click to choose');
    await here.editor.page.click(DEVICE);
    assert.ok((await rows(here.editor)).some((row) => row.includes(TWO)));
    await here.editor.page.locator(ROW, { hasText: TWO }).click();
    const name = String(here.simulator.device(TWO).name);
    assert.ok((await text('#device-note')).startsWith(name));
    await chooseType('chipid', 'msg.');
    assert.equal(await here.editor.page.inputValue(DEVICE), 'chipid');
    assert.equal(await hint(), 'property with the chip number');
    assert.match(await text('#device-note'), /^For a list of the online devices, /);
    await chooseType('chipid', 'flow.');
    assert.deepEqual(
      [await hint(), /online devices/.test(await text('#device-note'))],
      ['', false],
    );
    await closeDialog(here.editor, 'cancel');
  });

  it('gets the property of the message back when its type is chosen again', async () => {
    await openDialog(here.editor, await add('push'));
    await chooseType('message', 'string');
    assert.equal(await here.editor.page.inputValue(MESSAGE), '');
    await chooseType('message', 'msg.');
    assert.equal(await here.editor.page.inputValue(MESSAGE), 'payload');
    await chooseType('message', 'string');
    await fill(here.editor, MESSAGE, 'hello');
    await chooseType('message', 'flow.');
    assert.equal(await here.editor.page.inputValue(MESSAGE), 'hello');
    await closeDialog(here.editor, 'cancel');
  });

  it('finds a row to fill in, and types into the one just added', async () => {
    const id = await add('listen');
    await openDialog(here.editor, id);
    assert.equal(await here.editor.page.locator('.device-cloud-chipid').count(), 1);
    await here.editor.page.click('.device-cloud-chipid');
    await here.editor.page.locator(ROW, { hasText: ONE }).click();
    const name = String(here.simulator.device(ONE).name);
    assert.equal(await text('.device-cloud-row small'), name);
    await here.editor.page.click('#list-row .red-ui-editableList-addButton');
    await here.editor.page.waitForFunction(`$('.device-cloud-chipid').last().is(':focus')`);
    await here.editor.page.keyboard.type(TWO);
    await here.editor.page.keyboard.press('Escape');
    await closeDialog(here.editor);
    assert.deepEqual((await exported(here.editor, id))['chipids'], [ONE, TWO]);
  });

  it('reads what is wrong with the settings before anything is sent', async () => {
    const asked: string[] = [];
    here.editor.page.on('request', (request) => asked.push(request.url()));
    await openDialog(here.editor, 'app');
    const press = async (): Promise<string[]> => {
      await here.editor.page.click('#device-cloud-test');
      await here.editor.page.waitForSelector('.device-cloud-result li i:not(.fa-spinner)');
      return here.editor.page.locator('.device-cloud-result li').allInnerTexts();
    };
    await here.editor.page.fill('#node-config-input-baseUrl', 'https://cloud.example.com/openapi');
    await here.editor.page.fill('#node-config-input-appkey', '');
    assert.deepEqual(await press(), [
      'Address: must have no path, query, fragment, user name or password: give scheme, host and port alone',
      'App key: is missing',
    ]);
    await here.editor.page.fill('#node-config-input-baseUrl', '${NOWHERE}');
    assert.deepEqual(await press(), ['App key: is missing']);
    assert.deepEqual(
      asked.filter((url) => url.includes('device-cloud/apps')),
      [],
    );
    await closeDialog(here.editor, 'cancel');
  });

  it('sees no result of settings that have been changed since', async () => {
    await openDialog(here.editor, 'app');
    await here.editor.page.click('#device-cloud-test');
    await here.editor.page.waitForSelector('.device-cloud-result .fa-check');
    await here.editor.page.locator('#node-config-input-appid').pressSequentially('1');
    assert.equal(await here.editor.page.locator('.device-cloud-result li').count(), 0);
    await closeDialog(here.editor, 'cancel');
  });
});
