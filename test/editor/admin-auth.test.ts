import assert from 'node:assert/strict';
import { startSimulator } from '../../src/simulator';
import type { Simulator } from '../../src/simulator';
import { ADMIN_SETTINGS, FULL, READER } from '../e2e/harness/admin';
import { ONE, TWO } from '../e2e/harness/fixture';
import { startNodeRed } from '../e2e/harness/node-red';
import type { NodeRed } from '../e2e/harness/node-red';
import { EDITOR_SETTINGS } from '../../tooling/editor/page';
import { openEditor, type Editor } from './browser';
import { closeDialog, fill, openDialog, rows } from '../../tooling/editor/dialog';
import { sampleNodes } from '../../tooling/editor/samples';
import { app, node } from '../../tooling/node-red/nodes';

const FIELD = '#node-input-chipid ~ .red-ui-typedInput-container .red-ui-typedInput-input';

describe('the editor behind a log-in and below another root', () => {
  let simulator: Simulator;
  let red: NodeRed;
  let editor: Editor;

  before(async () => {
    simulator = await startSimulator({ interval: 0, answerDelay: 1 });
    // The samples are disabled, and only what runs uses an application.
    const user = { ...node('refresh'), id: 'user', z: 'tab', x: 200, y: 300, wires: [[]] };
    const samples = sampleNodes.filter(({ id }) => id === 'push');
    const flows = [...samples, { ...user, type: 'device-cloud-refresh' }, app(simulator)];
    const settings = { ...EDITOR_SETTINGS, ...ADMIN_SETTINGS };
    red = await startNodeRed({ flows, settings, user: FULL });
  });
  afterEach(async function () {
    const { currentTest } = this;
    if (currentTest?.state === 'failed') await editor.keepPicture(currentTest.title);
    await editor.close();
    assert.deepEqual(editor.problems, []);
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

  const test = async (): Promise<string[]> => {
    await openDialog(editor, 'app');
    await editor.page.click('#device-cloud-test');
    await editor.page.waitForSelector('#device-cloud-test:enabled');
    return editor.page.locator('.device-cloud-result li').allInnerTexts();
  };

  it('completes devices from the live list, and tests the connection', async () => {
    editor = await openEditor(red.url, { user: FULL });
    const shown = await pick();
    assert.match(shown.join(), new RegExp(`${ONE}.*${TWO}`, 's'));
    const lines = await test();
    await editor.picture('test-after-log-in');
    assert.ok(lines.includes('Open API: the key is accepted'), lines.join());
  });

  it('shows the devices to who may only read, and says why there is no test', async () => {
    editor = await openEditor(red.url, { user: READER, language: 'zh-CN' });
    const shown = await pick();
    assert.match(shown.join(), new RegExp(ONE));
    const lines = await test();
    await editor.picture('test-not-permitted');
    assert.match(lines.join(), /您没有测试连接的权限/);
    // The browser itself logs the 401.
    const [logged, ...others] = editor.problems.splice(0);
    assert.match(logged ?? '', /401.*apps\/test/);
    assert.deepEqual(others, []);
  });

  it('shows the fleet in the sidebar to who may only read, and lets nobody act without the right', async () => {
    for (const user of [FULL, READER]) {
      editor = await openEditor(red.url, { user });
      await editor.run(`RED.sidebar.show('device-cloud-fleet')`);
      await editor.page.click(`#device-cloud-row-${ONE}`);
      const disabled = (): Promise<string[]> =>
        editor.run(
          `$('.device-cloud-fleet-actions :disabled').toArray().map((one) => one.dataset.action)`,
        );
      const none = ['listen', 'refresh', 'push'];
      assert.deepEqual(await disabled(), user === READER ? none : []);
      if (user === FULL) {
        await editor.page.click('[data-action=refresh]');
        await editor.page.waitForSelector('.red-ui-notification-success');
        await editor.close();
      }
    }
  });

  it('says why there is no list to who is no longer logged in', async () => {
    editor = await openEditor(red.url, { user: READER });
    await editor.run(`RED.settings.set('auth-tokens', { access_token: 'gone' })`);
    const [first, ...others] = await pick();
    assert.match(first ?? '', /Your log-in has expired/);
    assert.deepEqual(others, []);
    assert.match(editor.problems.splice(0).join(), /401.*apps\/app\/devices/);
  });
});
