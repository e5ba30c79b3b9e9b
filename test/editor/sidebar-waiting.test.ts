import assert from 'node:assert/strict';
import { app, placed, TAB } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { request } from '../e2e/harness/request';
import { looksWell } from './look';
import { world } from './world';

const [FIRST, SECOND] = ['10000001', '10000002'];
const DETAILS = '.device-cloud-fleet-details';
const VIEW = '.device-cloud-fleet-view:visible';
const ROW = `${VIEW} [role=option]`;
const QUESTION = '.red-ui-notification:has(form):visible';

describe('the waiting commands in the sidebar', () => {
  const inject = (id: string, y: number, to: string) => ({
    ...{ id, type: 'inject', props: [], z: 'tab', x: 100, y, wires: [[to]] },
  });
  const pin = { pin: '5', pinType: 'num', level: '1', levelType: 'num' } as const;
  const gpio = (id: string, y: number, chipid: string) =>
    placed(
      'gpio',
      { ...pin, chipid, chipidType: 'str', when: 'upload' },
      { id, name: `<b>${id}</b>`, x: 300, y },
    );
  const here = world((simulator) => [
    ...[TAB, app(simulator)],
    ...[inject('one', 100, 'valve'), gpio('valve', 100, FIRST)],
    ...[inject('two', 200, 'lamp'), gpio('lamp', 200, SECOND)],
  ]);
  const waiting = async (): Promise<number> => {
    const answer = await request(`${here.red.url}/device-cloud/apps/app/waiting`);
    return ((await answer.json()) as object[]).length;
  };
  const press = async (...names: string[]): Promise<void> => {
    const before = await waiting();
    for (const name of names) await request(`${here.red.url}/inject/${name}`, { method: 'POST' });
    await until(async () => (await waiting()) === before + names.length, 'they wait');
  };
  const view = (name: string): Promise<void> =>
    here.editor.page.click(`button[data-view=${name}]:visible`);

  it('are listed with their nodes, and cancelled one by one, by device, and all after a question', async () => {
    const { page } = here.editor;
    await press('one', 'one', 'one', 'two', 'two');
    await here.editor.run(`RED.sidebar.show('device-cloud-fleet')`);
    await view('waiting');
    await page.waitForFunction(`$('${ROW}').length === 5`);
    assert.match(
      await page.innerText(ROW),
      /10000001\)?\s+until \d.*\s+Set pin 5 to 1 · <b>valve/s,
    );
    await page.locator(ROW).first().click();
    await looksWell(here.editor, 'sidebar-waiting');
    const buttons = page.locator(`${ROW} button[aria-label^=Cancel]`);
    assert.equal(await buttons.count(), 5);
    const lamp = page.locator(ROW).filter({ hasText: SECOND }).first();
    await lamp.locator('button').click();
    await page.waitForFunction(`$('${ROW}').length === 4`);
    assert.equal(await page.locator(ROW).filter({ hasText: SECOND }).count(), 1);
    await press('two');
    await page.waitForFunction(`$('${ROW}').length === 5`);
    await page.locator(ROW).first().click();
    await page.keyboard.press('Enter');
    await page.waitForSelector(`${DETAILS} button[aria-label=Cancel]`);
    await here.editor.picture('sidebar-waiting-device');
    await here.editor.run(`void (RED.view.reveal = (id) => (window.revealed = id))`);
    await page.locator(`${DETAILS} button:has-text("valve")`).first().click();
    assert.equal(await here.editor.run('window.revealed'), 'valve');
    await page.locator(`${DETAILS} button[aria-label=Cancel]`).first().click();
    await until(async () => (await waiting()) === 4, 'one is cancelled');
    await page.click(`${DETAILS} button:has-text("Cancel all 2")`);
    await page.click(`${QUESTION} button.primary`);
    await until(async () => (await waiting()) === 2, 'those of the device are cancelled');
    await view('waiting');
    await page.waitForFunction(`$('${ROW}').length === 2`);
    const all = page.locator(`${VIEW} button:has-text("Cancel all 2")`);
    await all.click();
    assert.match(await page.innerText(QUESTION), /all 2 commands\? Devices: 1\./);
    await page.click(`${QUESTION} button:has-text("Keep them")`);
    assert.equal(await waiting(), 2);
    await all.click();
    await page.click(`${QUESTION} button.primary`);
    await page.waitForSelector(`${VIEW}:has-text("No command waits")`);
    assert.equal(await waiting(), 0);
    assert.ok(!here.simulator.requests.some(({ path }) => path.includes('gpio')));
  });

  it('are seen by users who may not cancel them', async () => {
    const { page } = here.editor;
    await here.editor.run(`void (() => {
      window.usual = RED.user.hasPermission;
      RED.user.hasPermission = (name) => name !== 'device-cloud.write';
    })()`);
    await press('one');
    await view('waiting');
    await page.waitForSelector(ROW);
    const buttons = page.locator(`${VIEW} button[aria-label^=Cancel]`);
    assert.equal(await buttons.count(), 2);
    for (const button of await buttons.all()) assert.ok(await button.isDisabled());
    await here.editor.run('void (RED.user.hasPermission = window.usual)');
  });
});
