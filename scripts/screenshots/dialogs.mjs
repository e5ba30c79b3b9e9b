import { join } from 'node:path';
import { startSimulator } from '../../dist/src/simulator/index.js';
import {
  LANGUAGES,
  atRest,
  closeDialogs,
  dialogArea,
  openDialog,
  openEditor,
  startWithFlows,
  writeSmall,
} from './editor.mjs';
import { app, node } from '../../dist/test/tooling/node-red/nodes.js';
import { sampleNodes } from '../../dist/test/tooling/editor/samples.js';
import { showFleet, startFleet } from './fleet.mjs';

/** As in the README, so that the address in the pictures is the one it speaks of. */
const PORT = 8787;

const sample = (type) => sampleNodes.find((node) => node.type === `device-cloud-${type}`);

const device = { app: 'app', chipid: '10000001', chipidType: 'str' };
const level = { pin: '5', pinType: 'num', level: '1', levelType: 'num' };
const debug = { type: 'debug', active: true, tosidebar: true };
const inject = {
  ...{ type: 'inject', props: [{ p: 'payload' }], payload: '', payloadType: 'date', topic: '' },
  ...{ repeat: '', crontab: '', once: false, onceDelay: 0.1 },
};

const onTab = (z) => (id, properties, x, y, to) => ({
  ...{ id, z, x, y, wires: to ? [[to]] : [[]] },
  ...properties,
});
const uploads = onTab('uploads');
const commands = onTab('commands');

/** What the quick start builds. */
const quickStart = [
  { id: 'uploads', type: 'tab', label: 'Flow 1' },
  uploads('live', node('listen', { app: 'app', chipids: ['10000001'] }), 140, 60, 'shown'),
  uploads('shown', { ...debug, name: 'debug 1', complete: 'payload' }, 370, 60),
  { id: 'commands', type: 'tab', label: 'Flow 2' },
  commands('button', inject, 130, 60, 'wrong'),
  commands('wrong', node('gpio', { ...device, ...level, chipid: '99' }), 370, 60),
  commands('caught', { type: 'catch' }, 120, 160, 'errors'),
  commands('errors', { ...debug, name: 'debug 2', complete: 'error' }, 370, 160),
];

const flows = (simulator) => [
  ...quickStart,
  { id: 'tab', type: 'tab', label: 'Device cloud' },
  { ...app(simulator), name: 'Greenhouses' },
  { ...sample('push'), transport: 'http', message: '48 65 6c 6c 6f', timeout: 10 },
  { id: 'simulated', type: 'device-cloud-app', name: '', service: 'simulator' },
  { ...sample('gpio'), ...node('gpio', { ...device, ...level, app: 'simulated' }), id: 'command' },
  { ...sample('gpio'), ...node('gpio', { ...device, ...level }), id: 'gpio' },
];

/** A picture of a dialog. */
const dialog = (node, act = async () => undefined) => ({
  async show(page) {
    await openDialog(page, node);
    await act(page);
  },
  area: dialogArea,
  leave: closeDialogs,
});

async function testConnection(page) {
  await page.evaluate(`$('.device-cloud-more').prop('open', false)`);
  await page.click('#device-cloud-test');
  await page.waitForSelector('#device-cloud-test:enabled');
  await page.waitForSelector('.device-cloud-result .fa-check, .device-cloud-result .fa-times');
}

/** A picture of a flow that runs, its statuses, and the debug sidebar. */
const running = (tab, height, act) => ({
  async show(page, here) {
    await page.evaluate(
      `RED.workspaces.show('${tab}'); RED.sidebar.show('debug'); $('.red-ui-debug-msg').remove()`,
    );
    await act(page, here);
    await page.mouse.move(600, 500);
  },
  area: async () => ({ x: 180, y: 0, width: 820, height }),
  size: { width: 1000, height: 600 },
});

const MESSAGE = '.red-ui-debug-msg';

/** The pictures, and what is done for each. */
const pictures = {
  application: dialog('app', testConnection),
  refused: dialog('app', async (page) => {
    await page.fill('#node-config-input-appkey', ' not-the-key');
    await testConnection(page);
  }),
  picker: dialog('gpio', async (page) => {
    const field = '#node-input-chipid ~ .red-ui-typedInput-container .red-ui-typedInput-input';
    await page.press(field, 'ArrowDown');
    await page.waitForSelector('.red-ui-autoComplete-container:visible a');
  }),
  // Only the README shows it.
  push: { ...dialog('push'), languages: ['en-US'] },
  command: dialog('command'),
  uploads: running('uploads', 304, async (page, { simulator }) => {
    for (const number of [1, 2, 3]) {
      simulator.upload('10000001');
      await page
        .locator(MESSAGE)
        .nth(number - 1)
        .waitFor();
    }
  }),
  failed: running('commands', 370, async (page, { url }) => {
    await fetch(`${url}/inject/button`, { method: 'POST' });
    await page.locator(`${MESSAGE} .red-ui-debug-msg-object-handle`).first().click();
  }),
  fleet: {
    show: (page, { language }) => showFleet(page, language),
    area: (page) => page.locator('#red-ui-sidebar').boundingBox(),
    size: { width: 1000, height: 800 },
  },
};

async function take(page, { show, area, leave, size }, here, path) {
  const usual = page.viewportSize();
  if (size) await page.setViewportSize(size);
  await show(page, here);
  await atRest(page);
  await writeSmall(await page.screenshot({ clip: await area(page) }), path);
  await leave?.(page);
  await page.setViewportSize(usual);
}

async function takeIn(browser, here, wanted, folder) {
  const page = await openEditor(browser, here.url, here);
  for (const name of wanted) {
    const { languages = LANGUAGES } = pictures[name];
    if (!languages.includes(here.language)) continue;
    await take(page, pictures[name], here, join(folder, `${name}.${here.language}.png`));
  }
  await page.close();
}

/**
 * Takes the pictures that explain something, for the README and the docs, in both languages.
 * @param only which ones, a pattern
 */
export async function takeDialogs(browser, folder, only) {
  const wanted = Object.keys(pictures).filter((name) => only.test(name));
  if (wanted.length === 0) return;
  const simulator = await startSimulator({ port: PORT, interval: 0, appName: 'Greenhouses' });
  const fleets = [];
  let red;
  try {
    for (const language of wanted.includes('fleet') ? LANGUAGES : [])
      fleets.push(await startFleet(language));
    const tab = { id: 'fleet', type: 'tab', label: 'Fleet' };
    const all = [...flows(simulator), tab, ...fleets.flatMap((fleet) => fleet.flows)];
    red = await startWithFlows('dialogs', all);
    for (const fleet of fleets) await fleet.happen(red.url);
    const here = { simulator, url: red.url };
    // A call to a device that is not there makes the picker list it from then on.
    const last = wanted.filter((name) => name === 'failed');
    for (const names of [wanted.filter((name) => name !== 'failed'), last])
      for (const language of LANGUAGES) await takeIn(browser, { ...here, language }, names, folder);
  } finally {
    await red?.end();
    for (const each of [...fleets, simulator]) await each.close();
  }
}
