import { join } from 'node:path';
import { EDITOR_SETTINGS, openPage } from '../../dist/test/tooling/editor/page.js';
import { root } from '../npm.mjs';
import { atRest } from './editor.mjs';
import { Film } from './film.mjs';
import { startWithFlows } from './flows.mjs';

const SIZE = { width: 1000, height: 560 };

/** The nodes that are dragged stand at the top of the palette. */
const settings = {
  editorTheme: {
    ...EDITOR_SETTINGS.editorTheme,
    palette: { catalogues: [], categories: ['device cloud'] },
  },
};

const palette = (type) => `.red-ui-palette-node[data-palette-type='${type}']`;

/** What a person does in the first minute: from the palette to uploads in the debug sidebar. */
async function play(film) {
  const { page } = film;
  await film.place({ x: 420, y: 330 });
  await film.hold(900);

  await film.drag(await film.middle(palette('device-cloud-listen')), { x: 300, y: 170 });
  await film.hold(300);
  await film.click('#red-ui-palette-search input');
  await film.type('debug');
  await atRest(page);
  await film.hold(200);
  await film.drag(await film.middle(palette('debug')), { x: 560, y: 170 });
  await film.hold(300);
  await film.drag(
    await film.middle('.red-ui-flow-port-output .red-ui-flow-port'),
    await film.middle('.red-ui-flow-port-input .red-ui-flow-port'),
    4,
  );
  await film.hold(400);

  await film.doubleClick('.red-ui-flow-node-group');
  await page.waitForSelector('#node-input-btn-app-add');
  await atRest(page);
  await film.hold(900);

  await film.click('#node-input-btn-app-add');
  await page.waitForSelector('#node-config-input-service:visible');
  await atRest(page);
  await film.hold(700);
  await film.move(await film.middle('#node-config-input-service'));
  await film.hold(300);
  await page.selectOption('#node-config-input-service', 'simulator');
  await film.hold(900);
  await film.click('#node-config-dialog-ok');
  await page.waitForSelector('#node-config-dialog-ok', { state: 'detached' });
  await atRest(page);

  await film.click('.device-cloud-chipid');
  await page.waitForSelector('.red-ui-autoComplete-container:visible a');
  await atRest(page);
  await film.hold(900);
  await film.click('.red-ui-autoComplete-container:visible a:has-text("10000001")');
  await atRest(page);
  await film.hold(500);
  await film.click('#node-dialog-ok');
  await page.waitForSelector('#node-dialog-ok', { state: 'detached' });
  await atRest(page);
  await film.hold(400);

  await film.click('#red-ui-header-button-deploy');
  await page.waitForSelector('.red-ui-debug-msg');
  await page.evaluate(`$('.red-ui-notification').remove()`);
  await film.move({ x: 640, y: 420 });
  await film.hold(900);
  for (const number of [2, 3, 4]) {
    await page
      .locator('.red-ui-debug-msg')
      .nth(number - 1)
      .waitFor();
    await atRest(page);
    await film.hold(900);
  }
  await film.hold(1600);
}

/** Makes the animated picture of the README. */
export async function takeFirstMinute(browser, folder) {
  const nodeRed = join(root, 'node_modules', 'node-red');
  const version = { name: 'first-minute', node: process.execPath, nodeRed };
  const red = await startWithFlows(
    version,
    [{ id: 'tab', type: 'tab', label: 'Flow 1' }],
    settings,
  );
  try {
    const page = await openPage(browser, red.url, { height: SIZE.height, prepare: Film.prepare });
    await page.setViewportSize(SIZE);
    await page.evaluate(`RED.sidebar.show('debug')`);
    await atRest(page);
    const film = new Film(page);
    await play(film);
    await film.write(join(folder, 'first-minute.gif'));
    await page.close();
  } finally {
    await red.end();
  }
}
