import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import { BUILT_IN_DEVICES, startSimulator, type Simulator } from '../../src/simulator';
import { launchBrowser } from '../tooling/editor/chromium';
import { app, type FlowNode } from '../tooling/node-red/nodes';
import { repository } from '../tooling/repository';
import { DIALECT } from '../tooling/dialect';
import { TIMEOUT, until } from '../tooling/until';
import { ONE, TWO } from './harness/devices';
import { change, demoFlows, named, troubles } from './examples/files';
import { PIXELS, rgb } from './examples/pixels';
import { useStage } from './examples/stage';

const METER = '10000004';
const DOOR = '10000005';

/** The built-in devices, which here neither sleep nor upload unless a test says so. */
const devices = BUILT_IN_DEVICES.map((device) => {
  const steady = { ...device };
  delete steady.sleep;
  return steady;
});

/**
 * The demo on the test's own simulator, with a list that is read every second, and with the bytes on each message: more
 * than ten of them in what a chart keeps would cut the connection of each page that opens.
 */
const flowsFor = (simulator: Simulator): FlowNode[] =>
  change(demoFlows, 'Who comes and goes', { refresh: '1' }).map((node) => {
    if (node.type === 'device-cloud-type') return { ...node, withRaw: true };
    if (node.type !== 'device-cloud-app') return node;
    return app(simulator, { id: node.id, book: join(repository, 'demo', String(node['book'])) });
  });

/** Counts in the page how often it says that its connection is lost. */
const COUNT_LOSSES = `
  window.losses = 0;
  new MutationObserver((changes) => {
    const isLoss = (node) => /Connection Lost/.test(node.textContent ?? '');
    if (changes.some(({ addedNodes }) => [...addedNodes].some(isLoss))) window.losses += 1;
  }).observe(document, { subtree: true, childList: true, characterData: true });
`;
const WATCHED_MS = 60_000;

describe('the flows of npm start', () => {
  const stage = useStage();
  let simulator: Simulator;
  let browser: Browser;
  let page: Page;
  let logBefore = 0;
  const problems: string[] = [];
  const card = (chipid: string): Locator => page.locator(`[data-chipid="${chipid}"]`);
  const shows = (chipid: string, text: string | RegExp): Promise<void> =>
    card(chipid).getByText(text).waitFor();
  const level = (chipid: string): string | undefined => simulator.device(chipid).levels[5];

  before(async () => {
    logBefore = stage.red.log().length;
    simulator = await startSimulator({ dialect: DIALECT, devices, interval: 0, answerDelay: 1 });
    await stage.red.deploy(flowsFor(simulator));
    browser = await launchBrowser();
    const viewport = { width: 1280, height: 800 };
    page = await browser.newPage({ viewport, colorScheme: 'dark', locale: 'en-GB' });
    page.setDefaultTimeout(TIMEOUT);
    page.on('pageerror', ({ message }) => problems.push(message));
    await page.goto(`${stage.red.url}/dashboard`);
    await until(() => simulator.channels() === devices.length, 'every device is listened to');
  });
  after(async () => {
    await browser?.close();
    await simulator?.close();
  });

  it('show every device with its name, its reading and its age', async () => {
    for (const { chipid, name } of devices) {
      simulator.upload(chipid);
      await shows(String(chipid), String(name));
      await shows(String(chipid), /^(just now|\d+ s ago)$/);
    }
    await shows(ONE, `${Number(simulator.device(ONE).reading['temperature']).toFixed(1)} °C`);
    await shows(METER, `${String(simulator.device(METER).reading['power'])} W`);
    await shows(DOOR, simulator.device(DOOR).reading['open'] ? 'Open' : 'Closed');
  });

  it('switch a device, and show the level only when the device has confirmed it', async () => {
    await shows(METER, 'Heater off');
    simulator.sleep(METER);
    await shows(METER, /^offline since/);
    await card(METER).getByRole('checkbox').click();
    await shows(METER, /on once it is back/);
    assert.equal(await card(METER).locator('.v-selection-control--dirty').count(), 0);
    simulator.wake(METER);
    await shows(METER, /Heater on since \d\d:\d\d/);
    assert.equal(level(METER), '1');
  });

  it('pull the plug of a device, whose heater keeps its level', async () => {
    await page.getByText('The heater of Power meter is kept on').waitFor();
    await card(METER).getByRole('button', { name: 'Pull the plug of Power meter' }).click();
    await page.getByText('The plug of Power meter was pulled').waitFor();
    await shows(METER, /^offline since/);
    simulator.switchOn(METER);
    assert.equal(level(METER), '0');
    const { id } = named(demoFlows, 'Keep the heater as it is');
    await until(() => stage.editor.statuses.get(id)?.fill === 'yellow', 'it is to be looked at');
    await card(METER).getByRole('checkbox').click();
    await shows(METER, /Heater off since/);
    await card(METER).getByRole('checkbox').click();
    await shows(METER, /Heater on since/);
    assert.equal(level(METER), '1');
  });

  it('show an error on the dashboard, and leave the switch as it was', async () => {
    simulator.fail('gateway', { path: 'set_gpio_edge', times: 1 });
    await card(DOOR).getByRole('checkbox').click();
    await page.locator('.v-snackbar').getByText(/502/).waitFor();
    await shows(DOOR, /^Pin 5 off$/);
  });

  it('switch all devices of a group of the device book, by the name of a pin and by its number', async () => {
    await page.getByRole('button', { name: 'Cool all rooms' }).click();
    await page.getByText('4 of 4 devices of the group were switched on').waitFor();
    for (const chipid of [ONE, TWO]) await shows(chipid, /Cooling on since/);
    assert.equal(level(METER), '1');
    await page.getByRole('button', { name: 'All of the house off' }).click();
    await page.getByText('3 of 3 devices of the group were switched off').waitFor();
    await shows(METER, /Heater off since/);
    assert.deepEqual([level(METER), level(ONE)], ['0', '1']);
  });

  it('draw a line for each device that measures a temperature', async () => {
    for (const temperature of [22, 24]) {
      for (const chipid of [ONE, TWO]) simulator.upload(chipid, { temperature });
    }
    await shows(ONE, '24.0 °C');
    const [first, second] = named(demoFlows, 'Temperature')['colors'] as string[];
    for (const color of [first!, second!]) {
      await page.waitForFunction(`${PIXELS(rgb(color))} > 20`);
    }
  });

  it('push, wait for a reply, and show what went wrong', async () => {
    const push = page.getByRole('button', { name: 'Push', exact: true });
    await push.click();
    await page.getByText('Greenhouse answered: OK').waitFor();
    await page.getByRole('button', { name: 'Push and wait for the reply' }).click();
    await page.getByText(/"reply":"uptime"/).waitFor();
    // The reply is no reading: what the card shows stays.
    simulator.upload(TWO, { temperature: 21.5 });
    await shows(TWO, '21.5 °C');
    await shows(ONE, '24.0 °C');
    await page.getByLabel('Device').fill('99999999');
    await push.click();
    await page.getByText('NOT_FOUND').waitFor();
  });

  it('stay connected over a reload for a minute, with a full chart, a reply and a switch', async () => {
    const [color] = named(demoFlows, 'Temperature')['colors'] as string[];
    for (let count = 0; count < 30; count++) {
      for (const chipid of [ONE, TWO]) simulator.upload(chipid, { temperature: 21 + (count % 4) });
    }
    await shows(TWO, '22.0 °C');
    await page.addInitScript(COUNT_LOSSES);
    await page.reload();
    await page.waitForFunction(`${PIXELS(rgb(color!))} > 20`);
    const end = Date.now() + WATCHED_MS;
    for (let isOn = false; Date.now() < end; isOn = !isOn) {
      await page.getByRole('button', { name: 'Push and wait for the reply' }).click();
      await page.getByText(/"reply":"uptime"/).waitFor();
      await card(DOOR).getByRole('checkbox').click();
      await shows(DOOR, isOn ? /^Pin 5 off/ : /^Pin 5 on/);
      simulator.upload(ONE, { temperature: isOn ? 22.5 : 23.5 });
      await shows(ONE, isOn ? '22.5 °C' : '23.5 °C');
      await page.waitForFunction(`${PIXELS(rgb(color!))} > 20`);
      assert.equal(await page.evaluate('window.losses'), 0, 'connections lost');
      await sleep(5000);
    }
  }).timeout(3 * WATCHED_MS);

  it('show since when a device has been offline', async () => {
    simulator.switchOff(DOOR);
    await shows(DOOR, /offline since \d\d:\d\d/);
    await page.getByText('Front door went offline').waitFor();
  });

  it('follow the light or dark theme of the system, and fit on a phone', async () => {
    const background = (): Promise<string> =>
      page.locator('.nrdb-app').evaluate((node) => getComputedStyle(node).backgroundColor);
    assert.equal(await background(), 'rgb(14, 20, 24)');
    await page.emulateMedia({ colorScheme: 'light' });
    assert.equal(await background(), 'rgb(242, 245, 247)');
    await page.setViewportSize({ width: 390, height: 844 });
    const isWide = 'document.documentElement.scrollWidth > innerWidth';
    await page.waitForFunction(`!(${isWide})`);
    await until(async () => {
      const { y = Infinity, height = 0 } = (await card('10000006').boundingBox()) ?? {};
      return y + height < 844;
    }, 'the first screen has all devices');
  });

  it('log and show no problems', () => {
    assert.deepEqual(problems, []);
    const log = stage.red.log().slice(logBefore);
    // The public server answers 500 to a history with an upload that is no text (`known-service.md`, 14), as that of a probe is.
    const ofBytes = /answered 500\. Reading the uploads of device Garage/;
    assert.deepEqual(
      troubles(log).filter((line) => !ofBytes.test(line)),
      [],
    );
  });
});
