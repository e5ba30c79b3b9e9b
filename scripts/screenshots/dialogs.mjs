import { addNode, closeDialogs, openDialog, atRest } from './editor.mjs';
import { bareNodes, sampleNodes, variants } from '../../dist/test/tooling/editor/samples.js';

const FIELD = '#node-input-chipid ~ .red-ui-typedInput-container .red-ui-typedInput-input';
const MESSAGE = '#node-input-message ~ .red-ui-typedInput-container .red-ui-typedInput-input';

/** A picture of a dialog: what is done after it has been opened. */
const dialog = (name, node, act = async () => undefined) => ({
  name,
  area: 'dialog',
  async show(page) {
    await openDialog(page, node);
    await page.evaluate(`$('.device-cloud-more').prop('open', true)`);
    await act(page);
    await atRest(page);
  },
});

const fresh = (type) => ({
  name: `new-${type}`,
  area: 'dialog',
  async show(page) {
    await openDialog(page, await addNode(page, `device-cloud-${type}`));
  },
});

const test = async (page) => {
  await page.click('#device-cloud-test');
  await page.waitForSelector('#device-cloud-test:enabled');
};

const useApp = (page, id) =>
  page.evaluate(`void $('#node-input-app').val('${id}').trigger('change')`);

const pick = (app, typed) => async (page) => {
  await useApp(page, app);
  await page.fill(FIELD, typed);
  await page.press(FIELD, 'ArrowDown');
  await page.waitForSelector('.red-ui-autoComplete-container:visible a');
};

const types = (property) => async (page) => {
  await page.click(
    `#node-input-${property} ~ .red-ui-typedInput-container .red-ui-typedInput-type-select`,
  );
};

const testing = (name, id, values = {}) =>
  dialog(name, id, async (page) => {
    for (const [property, value] of Object.entries(values)) {
      await page.fill(`#node-config-input-${property}`, value);
    }
    await page.evaluate(`$('.device-cloud-more').prop('open', false)`);
    await test(page);
  });

const scenes = [
  ...[...sampleNodes, ...variants, ...bareNodes].map(({ id }) => dialog(id, id)),
  ...sampleNodes.map(({ type }) => fresh(type.replace('device-cloud-', ''))),
  dialog('app-simulated', 'simulated'),
  dialog('app-cloud', 'my-cloud'),
  {
    name: 'new-app',
    area: 'dialog',
    async show(page) {
      await page.evaluate(`RED.editor.editConfig('', 'device-cloud-app', '_ADD_')`);
      await atRest(page);
    },
  },
  testing('test-accepted', 'app'),
  testing('test-simulator', 'simulated'),
  testing('test-refused', 'app', { appkey: 'wrong', serverPassword: 'wrong' }),
  testing('test-unreachable', 'unreachable'),
  testing('test-no-keys', 'empty'),
  testing('test-invalid', 'app', { baseUrl: 'https://cloud.example.com/openapi' }),
  dialog('picker', 'push', pick('app', '')),
  dialog('picker-typed', 'push', pick('app', '1000')),
  dialog('picker-unmatched', 'push', pick('app', '77')),
  dialog('picker-refused', 'push', pick('wrong-key', '7')),
  dialog('picker-unreachable', 'push', pick('unreachable', '7')),
  dialog('picker-no-keys', 'push', pick('empty', '7')),
  dialog('picker-no-app', 'push', pick('_ADD_', '7')),
  dialog('push-hex-wrong', 'push', (page) => page.fill(MESSAGE, '48 65 6')),
  dialog('listen-picker', 'listen', async (page) => {
    await page.click('#list-row .red-ui-editableList-addButton');
    await page.locator('.device-cloud-chipid').last().press('ArrowDown');
    await page.waitForSelector('.red-ui-autoComplete-container:visible a');
  }),
  dialog('types-device', 'push', types('chipid')),
  dialog('types-message', 'push', types('message')),
  dialog('types-level', 'gpio-set', types('level')),
  dialog('types-begin', 'history', types('begin')),
];

/** Every dialog, with what a person may see in it. */
export const dialogs = scenes.map((scene) => ({ ...scene, leave: closeDialogs }));
