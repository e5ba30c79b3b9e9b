import assert from 'node:assert/strict';
import { startSimulator } from '../../src/simulator';
import type { Simulator } from '../../src/simulator';
import { ADMIN_SETTINGS, FULL, READER } from '../e2e/harness/admin';
import { ONE, TWO } from '../e2e/harness/devices';
import { startNodeRed } from '../e2e/harness/node-red';
import type { NodeRed } from '../e2e/harness/node-red';
import { EDITOR_SETTINGS, type User } from '../tooling/editor/page';
import { openEditor, type Editor } from './browser';
import { closeDialog, fill, openDialog, rows, typedInput } from '../tooling/editor/dialog';
import { sampleNodes } from '../tooling/editor/samples';
import { app, placed } from '../tooling/node-red/nodes';

const FIELD = typedInput('chipid');

describe('the editor behind a log-in and below another root', () => {
  let simulator: Simulator;
  let red: NodeRed;
  let editor: Editor;

  before(async () => {
    simulator = await startSimulator({ interval: 0, answerDelay: 1 });
    // The samples are disabled, and only what runs uses an application.
    const samples = sampleNodes.filter(({ id }) => id === 'push');
    const flows = [...samples, placed('refresh', {}, { y: 300 }), app(simulator)];
    const settings = { ...EDITOR_SETTINGS, ...ADMIN_SETTINGS };
    red = await startNodeRed({ flows, settings, user: FULL });
  });
  after(async () => {
    await red.stop();
    await simulator.close();
  });

  const pick = async (): Promise<string[]> => {
    await openDialog(editor, 'push');
    await fill(editor, FIELD, '1000000');
    const shown = await rows(editor);
    await editor.page.keyboard.press('Escape');
    await closeDialog(editor, 'cancel');
    return shown;
  };

  const test = async (picture: string): Promise<string[]> => {
    await openDialog(editor, 'app');
    await editor.page.click('#device-cloud-test');
    await editor.page.waitForSelector('#device-cloud-test:enabled');
    const lines = await editor.page.locator('.device-cloud-result li').allInnerTexts();
    await editor.picture(picture);
    await closeDialog(editor, 'cancel');
    return lines;
  };

  /** Opens the page of a user for all tests of a `describe`: with the log-in, that is two pages to load. */
  const use = (user: User, language: string): void => {
    before(async () => {
      editor = await openEditor(red.url, { user, language });
    });
    afterEach(async function () {
      const { currentTest } = this;
      if (currentTest?.state === 'failed') await editor.keepPicture(currentTest.title);
      assert.deepEqual(editor.problems.splice(0), []);
    });
    after(() => editor.close());
  };

  const fleet = async (): Promise<string[]> => {
    await editor.run(`RED.sidebar.show('device-cloud-fleet')`);
    await editor.page.click(`#device-cloud-row-${ONE}-app`);
    return editor.run(
      `$('.device-cloud-fleet-actions :disabled').toArray().map((one) => one.dataset.action)`,
    );
  };

  describe('shows a user who may do everything', () => {
    use(FULL, 'en-US');

    it('devices from the live list, and a test of the connection', async () => {
      const shown = await pick();
      assert.match(shown.join(), new RegExp(`${ONE}.*${TWO}`, 's'));
      const lines = await test('test-after-log-in');
      assert.ok(lines.includes('Open API: the key is accepted'), lines.join());
    });

    it('the fleet in the sidebar, with actions that work', async () => {
      assert.deepEqual(await fleet(), []);
      await editor.page.click('[data-action=refresh]');
      await editor.page.waitForSelector('.red-ui-notification-success');
    });
  });

  describe('shows a user who may only read', () => {
    use(READER, 'zh-CN');

    it('the devices, and why there is no test', async () => {
      const shown = await pick();
      assert.match(shown.join(), new RegExp(ONE));
      const lines = await test('test-not-permitted');
      assert.match(lines.join(), /这需要权限 device-cloud\.write/);
      // The browser itself logs the 401.
      const [logged, ...others] = editor.problems.splice(0);
      assert.match(logged ?? '', /401.*apps\/test/);
      assert.deepEqual(others, []);
    });

    it('the fleet in the sidebar, with the actions disabled', async () => {
      assert.deepEqual(await fleet(), ['listen', 'refresh', 'push']);
    });

    it('why there is no list, once the log-in has expired', async () => {
      // So that the sidebar no longer requests the fleet.
      await editor.run(`RED.sidebar.show('info')`);
      // The sidebar learns some frames later that it is hidden.
      await editor.run(
        `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`,
      );
      await editor.run(`RED.settings.set('auth-tokens', { access_token: 'gone' })`);
      // The page keeps a list that it has until other flows are loaded.
      await editor.run(`RED.events.emit('workspace:clear')`);
      const [first, ...others] = await pick();
      assert.match(first ?? '', /登录已过期/);
      assert.deepEqual(others, []);
      assert.match(editor.problems.splice(0).join(), /401.*apps\/app\/devices/);
    });
  });
});
