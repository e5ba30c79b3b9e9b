import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulator } from '../../dist/src/simulator/index.js';
import { apps, bareNodes, sampleNodes, variants } from '../../dist/test/tooling/editor/samples.js';
import { app } from '../../dist/test/tooling/node-red/nodes.js';
import { installNodeRed5 } from '../node-red.mjs';
import { root } from '../npm.mjs';
import * as editor from './editor.mjs';

/** The editors, each in a folder that git ignores. */
const EDITORS = [
  { version: '4', theme: 'light' },
  { version: '5', theme: 'light' },
  { version: '5', theme: 'dark' },
].flatMap((each) =>
  editor.LANGUAGES.map((language) => ({
    ...{ ...each, language },
    name: `node-red-${each.version}-${each.theme}-${language}`,
  })),
);

const nodes = [...sampleNodes, ...variants, ...bareNodes];

function flows(simulator) {
  const [simulated, cloud, ...others] = apps;
  return [
    { id: 'tab', type: 'tab', label: 'Device cloud' },
    ...nodes.map((node, at) => ({ ...node, x: 160 + 250 * (at % 3), y: 60 + 70 * (at / 3) })),
    app(simulator),
    { ...simulated, id: 'simulated' },
    // An id that is no property's value: Node-RED would take it for a reference.
    { ...cloud, id: 'my-cloud' },
    ...others,
  ];
}

async function takeDialog(page, id, path) {
  await editor.openDialog(page, id);
  await page.evaluate(`$('.device-cloud-more').prop('open', true)`);
  await editor.atRest(page);
  await page.screenshot({ path, clip: await editor.dialogArea(page) });
  await editor.closeDialogs(page);
}

/** The help, however long: laid over the page, as wide as it is in the sidebar. */
async function takeHelp(page, type, path) {
  await page.evaluate(`RED.sidebar.help.show('${type}')`);
  await page.waitForSelector('.red-ui-help h1, .red-ui-help p');
  await editor.atRest(page);
  const size = page.viewportSize();
  await page.setViewportSize({ ...size, height: 3000 });
  await page.evaluate(`(() => {
    const help = $('.red-ui-sidebar-help-stack .red-ui-help').first();
    help.clone().attr('id', 'whole-help').appendTo('body').css({ position: 'fixed', left: 0, top: 0, zIndex: 999,
      bottom: 'auto', height: 'auto', width: help.outerWidth(), background: 'var(--red-ui-secondary-background)' });
  })()`);
  await page.locator('#whole-help').screenshot({ path });
  await page.evaluate(`$('#whole-help').remove()`);
  await page.setViewportSize(size);
}

/** Takes every dialog with its details open, and every help, in each version, theme and language. */
export async function takeGallery(browser, { only = '', editor: wanted = '' }) {
  const isWanted = new RegExp(only);
  const simulator = await startSimulator({ interval: 0, answerDelay: 1, appName: 'Greenhouses' });
  installNodeRed5();
  try {
    for (const each of EDITORS.filter(({ name }) => new RegExp(wanted).test(name))) {
      const red = await editor.startWithFlows('gallery', flows(simulator), each);
      const folder = join(root, 'screenshots', 'gallery', each.name);
      mkdirSync(folder, { recursive: true });
      console.log(folder);
      const page = await editor.openEditor(browser, red.url, each);
      for (const id of ['app', 'simulated', 'my-cloud', ...nodes.map((node) => node.id)]) {
        if (isWanted.test(id)) await takeDialog(page, id, join(folder, `${id}.png`));
      }
      for (const type of new Set(['device-cloud-app', ...nodes.map((node) => node.type)])) {
        const name = `help-${type.replace('device-cloud-', '')}`;
        if (isWanted.test(name)) await takeHelp(page, type, join(folder, `${name}.png`));
      }
      await page.close();
      await red.end();
    }
  } finally {
    await simulator.close();
  }
}
