import assert from 'node:assert/strict';
import type { Locator, Request } from 'playwright-core';
import { ONE, THREE, TWO } from '../e2e/harness/devices';
import {
  closeDialog,
  dialogReady,
  fill,
  importNodes,
  openDialog,
  ROW,
  rows,
  typedInput,
} from '../tooling/editor/dialog';
import { sampleNodes } from '../tooling/editor/samples';
import type { Simulator } from '../../src/simulator';
import { app, placed, TAB, type FlowNode } from '../tooling/node-red/nodes';
import { world } from './world';

const FIELD = typedInput('chipid');

describe('the device picker', () => {
  const flows = (simulator: Simulator): FlowNode[] => [
    ...sampleNodes.filter(({ type }) => /push|listen/.test(type)),
    { ...app(simulator), id: 'app' },
    { ...app(simulator), id: 'wrong-key', credentials: { appkey: 'wrong' } },
    {
      ...{ id: 'room', type: 'subflow', name: 'Room', in: [], out: [] },
      env: ['APP', 'NONE'].map((name) => ({
        ...{ name, type: 'device-cloud-app', value: name === 'APP' ? 'app' : '' },
        ui: { type: 'conf-types' },
      })),
    },
    placed('push', { app: '${APP}', chipid: '', chipidType: 'str' }, { id: 'inside', z: 'room' }),
    placed('listen', { app: '${APP}', chipids: [TWO] }, { id: 'inside-too', z: 'room' }),
    TAB,
    { id: 'instance', type: 'subflow:room', z: 'tab', x: 900, y: 900, wires: [] },
  ];
  const here = world(flows, { hasSubflow: true });

  const chipid = (): Promise<string> => here.editor.run(`$('#node-input-chipid').val()`);
  const useApp = (id: string): Promise<unknown> =>
    here.editor.run(`void $('#node-input-app').val('${id}').trigger('change')`);

  describe('inside a subflow', () => {
    before(() => here.editor.run(`RED.workspaces.show('room')`));
    after(() => here.editor.run(`RED.workspaces.show(RED.nodes.getWorkspaceOrder()[0])`));
    afterEach(() => closeDialog(here.editor, 'cancel'));

    const search = async (): Promise<string[]> => {
      await fill(here.editor, FIELD, '');
      await here.editor.page.press(FIELD, 'ArrowDown');
      return rows(here.editor);
    };

    it('shows the devices of the application that is the default of its property', async () => {
      await openDialog(here.editor, 'inside');
      assert.equal(await here.editor.page.inputValue('#node-input-app'), '${APP}');
      const shown = (await search()).join();
      for (const device of [ONE, TWO, THREE]) assert.match(shown, new RegExp(device));
      await here.editor.picture('picker-subflow');
    });

    it('says what is missing if its property has no default', async () => {
      await openDialog(here.editor, 'inside');
      await useApp('${NONE}');
      assert.deepEqual(await search(), [
        'No devices to choose from: the property NONE of this subflow has no application as its default. Any chip number may be typed.',
      ]);
    });

    it('shows the names of devices in a list', async () => {
      await openDialog(here.editor, 'inside-too');
      const name = here.editor.page.locator('.device-cloud-row small').first();
      await name.filter({ hasText: String(here.simulator.device(TWO).name) }).waitFor();
    });
  });

  describe('in a push node', () => {
    beforeEach(() => openDialog(here.editor, 'push'));
    afterEach(() => closeDialog(here.editor, 'cancel'));

    it('shows the online devices when arrow-down is pressed, and takes the one chosen', async () => {
      await fill(here.editor, FIELD, '');
      await here.editor.page.press(FIELD, 'ArrowDown');
      const shown = await rows(here.editor);
      await here.editor.picture('picker');
      for (const device of [ONE, TWO, THREE]) {
        assert.ok(
          shown.some((row) => row.includes(device)),
          device,
        );
      }
      // A long name must not push the number out of sight.
      const wraps = `getComputedStyle($('.device-cloud-device:visible')[0]).whiteSpace`;
      assert.equal(await here.editor.run(wraps), 'normal');
      await here.editor.page.locator(ROW, { hasText: TWO }).click();
      assert.equal(await chipid(), TWO);
    });

    it('takes the first device with the arrow key and Return: what to do is no choice', async () => {
      const { keyboard } = here.editor.page;
      await fill(here.editor, FIELD, '');
      const [, first] = await rows(here.editor);
      await keyboard.press('ArrowDown');
      await keyboard.press('Enter');
      assert.notEqual(await chipid(), '');
      assert.match(first!, new RegExp(await chipid()));
    });

    it('says how long ago a device was seen, and at what local time', async () => {
      await fill(here.editor, FIELD, '');
      await here.editor.page.press(FIELD, 'ArrowDown');
      const [choose, shown] = await rows(here.editor);
      assert.match(choose!, /Choose a device/);
      assert.match(shown!, /last seen \d+ (s|min) ago$/);
      const title = await here.editor.page.locator(`${ROW} small`).first().getAttribute('title');
      const off = await here.editor.run<number>(
        `Date.now() - Date.parse(${JSON.stringify(title)})`,
      );
      assert.ok(Math.abs(off) < 300_000, `${title}: ${off} ms`);
    });

    it('finds a device by its name', async () => {
      const { name } = here.simulator.device(TWO);
      await fill(here.editor, FIELD, String(name).toUpperCase());
      assert.deepEqual((await rows(here.editor)).length, 1);
      await here.editor.page.press(FIELD, 'Enter');
      assert.equal(await here.editor.page.inputValue(FIELD), TWO);
    });

    it('accepts any number as typed, even the beginning of a known one', async () => {
      await fill(here.editor, FIELD, ONE.slice(0, 3));
      const [first, ...others] = await rows(here.editor);
      assert.match(first!, /as typed/);
      assert.ok(others.length >= 3);
      await here.editor.page.press(FIELD, 'Tab');
      assert.equal(await here.editor.page.inputValue(FIELD), ONE.slice(0, 3));
    });

    it('takes no other device for what is pasted with the mouse, and says where several go', async () => {
      const { page } = here.editor;
      await fill(here.editor, FIELD, '');
      await page.click(FIELD);
      await rows(here.editor);
      await page.keyboard.insertText(TWO);
      await page.press(FIELD, 'Tab');
      assert.equal(await page.inputValue(FIELD), TWO);
      await fill(here.editor, FIELD, `${ONE}, ${TWO}`);
      assert.match((await rows(here.editor))[0]!, /Only one chip number fits here/);
      await page.keyboard.press('Escape');
    });

    it('says why there is no list, and keeps what was typed', async () => {
      await useApp('wrong-key');
      await fill(here.editor, FIELD, '5');
      const shown = await rows(here.editor);
      here.editor.problems.length = 0; // The browser itself logs the 502.
      await here.editor.picture('picker-refused');
      assert.equal(shown.length, 1);
      assert.match(shown[0]!, /App ID or key refused/);
      await here.editor.page.press(FIELD, 'Enter');
      assert.equal(await here.editor.page.inputValue(FIELD), '5');
    });

    it('asks for an application first', async () => {
      await useApp('_ADD_');
      await fill(here.editor, FIELD, '5');
      assert.match((await rows(here.editor))[0]!, /Choose an application first/);
    });
  });

  it("lists the simulator's devices before the first deploy, without a test", async () => {
    await importNodes(here.editor, [
      { id: 'new-app', type: 'device-cloud-app', service: 'simulator', name: 'new' },
    ]);
    await openDialog(here.editor, 'push');
    await useApp('new-app');
    await fill(here.editor, FIELD, '1');
    assert.ok((await rows(here.editor)).some((row) => row.includes('Power meter')));
    await here.editor.page.keyboard.press('Escape');
    await closeDialog(here.editor, 'cancel');
  });

  /** Adds a service in the dialog of the push node. */
  const addService = async (appkey: string): Promise<void> => {
    const { page } = here.editor;
    await openDialog(here.editor, 'push');
    await page.click('#node-input-btn-app-add');
    await page.waitForSelector('#node-config-input-baseUrl');
    await dialogReady(here.editor);
    await page.fill('#node-config-input-baseUrl', here.simulator.baseUrl);
    await page.fill('#node-config-input-appid', here.simulator.appid);
    await page.fill('#node-config-input-appkey', appkey);
    await closeDialog(here.editor);
  };

  /** What is said of a test that has failed. */
  const told = (): Locator =>
    here.editor.page.locator('.red-ui-notification').filter({ hasText: 'was added' });

  it('lists the devices of a service that has just been added, before the first deploy', async () => {
    await addService(here.simulator.appkey);
    await fill(here.editor, FIELD, ONE.slice(0, -1));
    assert.ok((await rows(here.editor)).some((row) => row.includes(THREE)));
    await here.editor.page.keyboard.press('Escape');
    await closeDialog(here.editor, 'cancel');
    assert.equal(await told().count(), 0);
  });

  it('says what is wrong with a service that has been added', async () => {
    await addService('wrong');
    await told().filter({ hasText: 'Open API' }).waitFor();
    await fill(here.editor, FIELD, '5');
    assert.match((await rows(here.editor))[0]!, /UNAUTHORIZED/);
    here.editor.problems.length = 0; // The browser itself logs the 502.
    await here.editor.page.keyboard.press('Escape');
    await closeDialog(here.editor, 'cancel');
    await here.editor.run(`void $('.red-ui-notification').hide()`);
  });

  it('requests the list again once other flows are loaded, such as those of another branch', async () => {
    const asked: string[] = [];
    const note = (request: Request): void => {
      if (request.url().endsWith('/devices?ages')) asked.push(request.url());
    };
    here.editor.page.on('request', note);
    const open = async (): Promise<void> => {
      await openDialog(here.editor, 'push');
      await useApp('app');
      await fill(here.editor, FIELD, '1');
      await rows(here.editor);
      await here.editor.page.keyboard.press('Escape');
      await closeDialog(here.editor, 'cancel');
    };
    await open();
    const { length } = asked;
    await here.editor.run(`RED.events.emit('workspace:clear')`);
    await open();
    assert.equal(asked.length, length + 1);
    here.editor.page.off('request', note);
  });
});
