import { join } from 'node:path';
import { startSimulator } from '../../dist/src/simulator/index.js';
import { root } from '../npm.mjs';
import { closeDialogs, dialogArea, openDialog, openEditor, settled } from './editor.mjs';
import { app } from '../../dist/tooling/node-red/nodes.js';
import { sampleNodes } from '../../dist/tooling/editor/samples.js';
import { startWithFlows } from './flows.mjs';
import { writeSmall } from './small.mjs';

/** As in the README, so that the address in the pictures is the one it speaks of. */
const PORT = 8787;

const sample = (type) => sampleNodes.find((node) => node.type === `device-cloud-${type}`);

const flows = (simulator) => [
  { id: 'tab', type: 'tab', label: 'Device cloud' },
  { ...app(simulator), name: 'Greenhouses' },
  { ...sample('push'), transport: 'http', message: '48 65 6c 6c 6f', timeout: 10 },
  { ...sample('gpio'), operation: 'set' },
  { ...sample('listen'), chipids: ['10000001', '10000002'], datatype: 'auto-detect' },
];

/** The pictures, and what is done in each dialog. */
const pictures = {
  application: {
    node: 'app',
    async act(page) {
      await page.evaluate(`$('#device-cloud-advanced').prop('open', false)`);
      await page.click('#device-cloud-test');
      await page.waitForSelector('.device-cloud-result .fa-check');
    },
  },
  picker: {
    node: 'gpio',
    async act(page) {
      const field = '#node-input-chipid ~ .red-ui-typedInput-container .red-ui-typedInput-input';
      await page.press(field, 'ArrowDown');
      await page.waitForSelector('.red-ui-autoComplete-container:visible a');
    },
  },
  push: { node: 'push', act: async () => undefined },
  listen: {
    node: 'listen',
    async act(page) {
      // The names of the devices are known once a list has been shown.
      await page.locator('.device-cloud-chipid').last().press('ArrowDown');
      await page.waitForSelector('.red-ui-autoComplete-container:visible a');
      await page.keyboard.press('Escape');
    },
  },
};

async function takeIn(browser, url, language, folder) {
  const page = await openEditor(browser, url, { language });
  for (const [name, { node, act }] of Object.entries(pictures)) {
    await openDialog(page, node);
    await act(page);
    await settled(page);
    const picture = await page.screenshot({ clip: await dialogArea(page) });
    await writeSmall(picture, join(folder, `${name}.${language}.png`));
    await closeDialogs(page);
  }
  await page.close();
}

/** Takes the pictures of single dialogs that explain something, for the README and the docs. */
export async function takeDialogs(browser, folder) {
  const simulator = await startSimulator({ port: PORT, interval: 0, appName: 'Greenhouses' });
  const nodeRed = join(root, 'node_modules', 'node-red');
  const version = { name: 'readme', node: process.execPath, nodeRed };
  try {
    const red = await startWithFlows(version, flows(simulator));
    try {
      for (const language of ['en-US', 'zh-CN']) await takeIn(browser, red.url, language, folder);
    } finally {
      await red.end();
    }
  } finally {
    await simulator.close();
  }
}
