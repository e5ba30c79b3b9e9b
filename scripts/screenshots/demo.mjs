import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDemo } from '../../dist/test/tooling/demo.js';
import { root } from '../npm.mjs';
import { writeSmall } from './editor.mjs';

const PORT = '18888';
const editor = `http://127.0.0.1:${PORT}/`;

/** Milliseconds for readings to come in, so that the pictures show devices that are alive. */
const LIVE = 28_000;

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

/** The pictures of the dashboard, by name. */
const VIEWS = {
  dashboard: { viewport: DESK, colorScheme: 'light' },
  'dashboard-dark': { viewport: DESK, colorScheme: 'dark' },
  'dashboard-phone': { viewport: PHONE, colorScheme: 'light', deviceScaleFactor: 1.5 },
};

/** Enough for the lines of the chart and for smooth text. */
const COLOURS = 48;

/** A folder of its own leaves a person's demo alone. */
const userDir = join(root, '.cache', 'screenshots', 'demo');

/** Its dashboard, at a desk and on a phone, with a heater switched on and the answer to a question. */
async function takeDashboard(browser, folder) {
  const open = async ([name, view]) => {
    const page = await browser.newPage({ ...view, locale: 'en-GB' });
    await page.goto(`${editor}dashboard`);
    return { name, page };
  };
  const views = await Promise.all(Object.entries(VIEWS).map(open));
  const [{ page }] = views;
  await page.locator('[data-chipid="10000004"]').getByRole('checkbox').click();
  await sleep(LIVE);
  await page.getByRole('button', { name: /wait for the reply/ }).click();
  await page.getByText(/^Reply after/).waitFor();
  for (const view of views) {
    await writeSmall(await view.page.screenshot(), join(folder, `${view.name}.png`), COLOURS);
    await view.page.close();
  }
}

/** Its flow, with the whole width for it, beside only the nodes this package is about. */
async function takeFlow(browser, folder) {
  const page = await browser.newPage({ viewport: { width: 1240, height: 1500 } });
  await page.goto(editor);
  await page.waitForSelector(".red-ui-palette-node[data-palette-type='device-cloud-push']");
  await page.locator('#red-ui-palette-search input').pressSequentially('device-cloud');
  await page.evaluate(`RED.actions.invoke('core:toggle-sidebar')`);
  await page.waitForTimeout(3000);
  await writeSmall(await page.screenshot(), join(folder, 'flow.png'), COLOURS);
  await page.close();
}

/** Takes the pictures of the demo, as a person sees it: its dashboard and its flow. */
export async function takeDemo(browser, folder) {
  // The editor remembers which of its parts were open.
  rmSync(userDir, { recursive: true, force: true });
  const demo = startDemo(PORT, { args: ['--reset'], folder: userDir });
  try {
    await demo.up();
    await takeDashboard(browser, folder);
    await takeFlow(browser, folder);
  } finally {
    demo.interrupt();
    await demo.ended;
  }
}
