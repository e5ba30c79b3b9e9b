import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../../tooling/editor/chromium';
import { TIMEOUT, until } from '../../../tooling/until';
import { ONE, THREE, TWO } from '../harness/fixture';
import type { FlowNode } from '../../../tooling/node-red/nodes';
import { named } from './files';
import { PIXELS, rgb } from './pixels';
import { listening, plays } from './scene';
import type { Scene } from './scene';
import type { Stage } from './stage';

/** Calls `onSwitched` of the page whenever something changes in a device's row while its switch is on. */
const watchSwitch = (chipid: string): string => `(() => {
  const row = document.querySelector('tr[data-chipid="${chipid}"]');
  new MutationObserver(() => {
    if (row.querySelector('.v-selection-control--dirty')) window.onSwitched();
  }).observe(row, { subtree: true, childList: true, attributes: true });
})()`;

/** The dashboard keeps what a chart has drawn, by its id: this one has drawn nothing yet. */
function withFreshChart(nodes: FlowNode[]): FlowNode[] {
  const { id } = named(nodes, 'Draw it');
  return JSON.parse(JSON.stringify(nodes).replaceAll(id, 'fresh-chart')) as FlowNode[];
}

/** The examples that have a dashboard, in a browser. */
export function dashboard(stage: Stage): void {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser?.close());

  const openPage = async (path: string, height: number): Promise<Page> => {
    const page = await browser.newPage({ viewport: { width: 1000, height } });
    page.setDefaultTimeout(TIMEOUT);
    await page.goto(`${stage.red.url}/dashboard/${path}`);
    return page;
  };

  const test = async (scene: Scene): Promise<void> => {
    const { simulator } = scene;
    const [first, second, third] = named(scene.nodes, 'Draw it')['colors'] as string[];
    const page = await openPage('uploads', 700);
    try {
      await listening(scene, 3);
      const names = { [ONE]: 'Greenhouse', [TWO]: 'Cold store' };
      for (const [chipid, name] of Object.entries(names)) {
        for (const temperature of [21.5, 24, 22]) simulator.upload(chipid, { temperature });
        simulator.upload(chipid, 'has no temperature');
        await page.getByText(`${name}: 22 °C`).waitFor();
      }
      for (const color of [first!, second!]) {
        await page.waitForFunction(`${PIXELS(rgb(color))} > 50`);
      }
      assert.equal(await page.evaluate(PIXELS(rgb(third!))), 0);
    } finally {
      await page.close();
    }
  };
  const title = 'draws a line for each device';
  plays(stage, '02 Show uploads on a dashboard', title, test, { alter: withFreshChart });

  plays(
    stage,
    '26 Show all devices on a dashboard',
    'has a row and a switch for each device, and shows what the device confirmed',
    async (scene) => {
      const { simulator } = scene;
      const page = await openPage('devices', 900);
      try {
        await listening(scene, 3);
        await page.locator('canvas').waitFor();
        for (const chipid of [ONE, TWO]) {
          for (const temperature of [24, 21.5]) simulator.upload(chipid, { temperature });
        }
        const [first, second] = named(scene.nodes, 'Draw it')['colors'] as string[];
        for (const color of [first!, second!]) {
          await page.waitForFunction(`${PIXELS(rgb(color))} > 20`);
        }
        const row = (chipid: string) => page.locator(`tr[data-chipid="${chipid}"]`);
        const shows = (chipid: string, text: string) => row(chipid).getByText(text).waitFor();
        await shows(ONE, 'Greenhouse');
        await shows(TWO, '21.5 °C');
        await shows(TWO, 'yes');
        await shows(ONE, 'off');
        assert.equal(await row(THREE).count(), 0);

        // Until the device has answered, the switch stays where it was.
        simulator.delay(ONE, 500);
        const isAnswered = (): boolean =>
          simulator.requests.some(
            ({ path, status }) => path.includes(`set_gpio_edge/${ONE}/5/1`) && status !== 0,
          );
        const answered: boolean[] = [];
        await page.exposeFunction('onSwitched', () => void answered.push(isAnswered()));
        await page.evaluate(watchSwitch(ONE));
        await row(ONE).getByRole('checkbox').click();
        await shows(ONE, 'on');
        await until(() => answered.length > 0, 'the switch is on');
        assert.equal(answered[0], true);
        simulator.delay(ONE, 1);
        assert.equal(simulator.device(ONE).levels[5], '1');

        simulator.fail('gateway', { path: 'set_gpio_edge' });
        await row(TWO).getByRole('checkbox').click();
        const [error] = (await scene.waitShown('What went wrong')) as { code: string }[];
        assert.equal(error?.code, 'GATEWAY');
        assert.equal(await row(TWO).locator('.v-selection-control--dirty').count(), 0);
        await shows(TWO, 'off');
        simulator.switchOff(TWO);
      } finally {
        await page.close();
      }
    },
    { alter: withFreshChart, simulator: { offlineAfter: 10_000 } },
  );
}
