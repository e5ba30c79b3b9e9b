import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './npm.mjs';
import { setup } from './setup.mjs';

// `npm run screenshots` makes the pictures of the README: of the demo, as a person sees it.

setup();
const { chromium } = await import('playwright-core');
const { default: packed } = await import('@sparticuz/chromium');

const PORT = '18888';
const editor = `http://127.0.0.1:${PORT}/`;
const folder = join(root, 'docs', 'images');
mkdirSync(folder, { recursive: true });

/** Starts the demo and waits until it says where it is. */
async function startDemo() {
  const demo = spawn(process.execPath, ['demo/start.mjs', '--reset'], {
    cwd: root,
    // A folder of its own leaves a person's demo alone.
    env: { ...process.env, PORT, DEVICE_CLOUD_DEMO_DIR: join(root, '.cache', 'screenshots') },
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

/** Lets readings come in, so that the pictures show devices that are alive. */
const LIVE = 20_000;

const demo = await startDemo();
const browser = await chromium.launch({
  executablePath: await packed.executablePath(),
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${editor}dashboard`);
  await page.waitForTimeout(LIVE);
  await page.screenshot({ path: join(folder, 'dashboard.png') });
  await page.goto(editor);
  await page.waitForSelector(".red-ui-palette-node[data-palette-type='device-cloud-push']");
  // Only the nodes this package is about.
  await page.locator('#red-ui-palette-search input').pressSequentially('device-cloud');
  await page.waitForTimeout(3000);
  await page.screenshot({ path: join(folder, 'flow.png') });
} finally {
  await browser.close();
  demo.kill('SIGINT');
}
