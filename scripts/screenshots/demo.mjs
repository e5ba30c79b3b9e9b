import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../npm.mjs';

const PORT = '18888';
const editor = `http://127.0.0.1:${PORT}/`;

/** Milliseconds for readings to come in, so that the pictures show devices that are alive. */
const LIVE = 20_000;

/** A folder of its own leaves a person's demo alone. */
const userDir = join(root, '.cache', 'screenshots', 'demo');

/** Starts the demo and waits until it says where it is. */
async function startDemo() {
  // The editor remembers which of its parts were open.
  rmSync(userDir, { recursive: true, force: true });
  const demo = spawn(process.execPath, ['demo/start.mjs', '--reset'], {
    cwd: root,
    env: {
      ...process.env,
      PORT,
      DEVICE_CLOUD_DEMO_DIR: userDir,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('The demo did not start in time.')), 120_000);
    demo.once('exit', () => reject(new Error('The demo ended.')));
    demo.stdout.on('data', (text) => {
      if (!String(text).includes('Dashboard')) return;
      clearTimeout(timer);
      resolve();
    });
  });
  return demo;
}

/** Takes the pictures of the demo, as a person sees it: its flow and its dashboard. */
export async function takeDemo(browser, folder) {
  const demo = await startDemo();
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 905 } });
    await page.goto(`${editor}dashboard`);
    await page.waitForTimeout(LIVE);
    await page.screenshot({ path: join(folder, 'dashboard.png') });
    await page.goto(editor);
    await page.waitForSelector(".red-ui-palette-node[data-palette-type='device-cloud-push']");
    // Only the nodes this package is about, and the whole width for the flow.
    await page.locator('#red-ui-palette-search input').pressSequentially('device-cloud');
    await page.evaluate(`RED.actions.invoke('core:toggle-sidebar')`);
    await page.waitForTimeout(3000);
    await page.screenshot({ path: join(folder, 'flow.png') });
    await page.close();
  } finally {
    demo.kill('SIGINT');
  }
}
