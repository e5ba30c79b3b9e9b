import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../tooling/editor/chromium';
import { TIMEOUT, until } from '../../tooling/until';
import { ONE, THREE, TWO } from '../harness/devices';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { change, named } from './files';
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

/**
 * Shows what the chart has taken: at its output each message is as it is kept for the pages that open later, with the
 * point that is drawn. The dashboard keeps that by the chart's id: this one has drawn nothing yet.
 */
function watchingChart(nodes: FlowNode[]): FlowNode[] {
  const chart = named(nodes, 'Draw it');
  const debug = { type: 'debug', name: 'Drawn', active: true, tosidebar: true, complete: 'true' };
  const shows = { ...debug, id: 'drawn', z: chart.z, targetType: 'msg', x: 0, y: 0, wires: [] };
  const watched = [...change(nodes, 'Draw it', { wires: [['drawn']] }), shows];
  return JSON.parse(JSON.stringify(watched).replaceAll(chart.id, 'fresh-chart')) as FlowNode[];
}

interface Drawn {
  topic: string;
  payload: unknown;
  _datapoint: { x: number; y: number };
}

/** What a chart may keep: a Buffer among it, and the page could not load it (more than ten of them end its connection). */
const KEPT = ['_datapoint', '_event', '_msgid', 'payload', 'timestamp', 'topic'];

/** What a chart has drawn, once there is so much of it, none of which it does not need. */
async function drawn(scene: Scene, count: number): Promise<Drawn[]> {
  const all = (await scene.waitShown('Drawn', count)) as Drawn[];
  for (const each of all)
    assert.deepEqual(
      Object.keys(each).filter((key) => !KEPT.includes(key)),
      [],
    );
  return all;
}

/** A device uploads while its channel is down: what the history gives of it later, and when it was. */
async function missed({ simulator }: Scene, chipid: string, body: unknown): Promise<number> {
  const heal = simulator.fail('refuse-upgrade');
  simulator.disconnect(chipid);
  await until(() => simulator.channels(chipid) === 0, 'its channel is down');
  const { at } = simulator.upload(chipid, body);
  heal();
  // The history knows whole seconds.
  return Math.floor(at / 1000) * 1000;
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

  plays(
    stage,
    'Show all devices on a dashboard',
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
        const before = (await drawn(scene, 4)).length;
        const at = await missed(scene, ONE, { temperature: 23.5 });
        const late = (await drawn(scene, before + 1)).at(-1);
        assert.deepEqual(late?._datapoint, { category: 'Greenhouse', x: at, y: 23.5 });
        await listening(scene, 3);
        simulator.upload(ONE, { temperature: 24 });
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
    { alter: watchingChart, simulator: { offlineAfter: 10_000 } },
  );

  plays(
    stage,
    'Fill a chart from the history',
    'draws what was uploaded at its time, and goes on with what comes',
    async (scene) => {
      const { simulator } = scene;
      await listening(scene, 3);
      const times: number[] = [];
      for (const temperature of [21.5, 24, 22]) {
        times.push(Math.floor(simulator.upload(ONE, { temperature }).at / 1000) * 1000);
      }
      simulator.upload(TWO, 'has no temperature');
      const before = (await drawn(scene, 3)).length;
      await scene.press('Fill it');
      const [emptied, ...filled] = (await drawn(scene, before + 4)).slice(before);
      assert.deepEqual(emptied?.payload, []);
      assert.deepEqual(
        filled.map(({ _datapoint: { x, y } }) => [x, y]),
        [21.5, 24, 22].map((temperature, index) => [times[index], temperature]),
      );
      simulator.upload(ONE, { temperature: 23 });
      await drawn(scene, before + 5);
      const page = await openPage('hour', 700);
      try {
        const [first] = named(scene.nodes, 'Draw it')['colors'] as string[];
        await page.waitForFunction(`${PIXELS(rgb(first!))} > 20`);
      } finally {
        await page.close();
      }
    },
    {
      // At the start it is filled, too: here by the button alone, so that a test knows what is drawn.
      alter: (nodes) => watchingChart(change(nodes, 'Fill it', { once: false })),
    },
  );
}
