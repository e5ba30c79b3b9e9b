import assert from 'node:assert/strict';
import { closeDialog, openDialog } from '../../tooling/editor/dialog';
import { app, node, type FlowNode, type NodeProperties } from '../../tooling/node-red/nodes';
import { request } from '../e2e/harness/request';
import { faint, inEachTheme } from './colours';
import { misfits } from './layout';
import { until } from '../../tooling/until';
import { isChinese } from '../support/wording';
import { world } from './world';

/** Text that a page would run, and a value as long as a message may be. */
const HOSTILE = `<img src=x onerror="document.title='run'"> '${'long'.repeat(80)}'`;

for (const language of ['en-US', 'zh-CN'] as const) {
  describe(`the explanation of a request in ${language}`, () => {
    const placed = { z: 'tab', x: 200, y: 100, wires: [[]] };
    const made = (kind: keyof NodeProperties): FlowNode => ({
      ...node(kind),
      ...placed,
      type: `device-cloud-${kind}`,
      id: kind,
    });
    const history = { ...made('history'), chipid: '10000001', chipidType: 'str' };
    const passthrough = { ...made('server'), operation: 'passthrough' };
    const press = {
      ...{ ...placed, id: 'press', type: 'inject', props: [], repeat: '', once: false },
      wires: [['devices']],
    };
    const here = world(
      (simulator) => [app(simulator), history, passthrough, made('devices'), press],
      { language },
    );
    afterEach(() => closeDialog(here.editor, 'cancel'));

    const RESULT = '#device-cloud-explanation .device-cloud-explanation';

    /** Opens the row of a dialog, which explains at once. @returns what it shows */
    const explain = async (id: string): Promise<string> => {
      await openDialog(here.editor, id);
      await here.editor.page.click('#explain-row summary');
      await here.editor.page.waitForSelector(RESULT);
      return here.editor.page.innerText(RESULT);
    };

    it('is shown for the dialog as it is filled in, without a request to the service', async () => {
      const { page } = here.editor;
      const { length } = here.simulator.requests;
      const text = await explain('history');
      assert.match(text, /GET \/openapi\/up_messages\/dev\/10000001\//);
      assert.match(text, /gettimestamp=\d{10}&appid=\d+<APPKEY>/);
      assert.match(text, /openssl md5/);
      await page.selectOption('#node-input-operation', 'sync');
      await page.click('#device-cloud-explain');
      await page.waitForFunction(`$('${RESULT}').text().includes('/openapi/sync/')`);
      assert.match(await page.inputValue('#device-cloud-explain-msg'), /"begin":"2026/);
      assert.equal(here.simulator.requests.length, length);
    });

    it('begins with why the last call has failed, if it has', async () => {
      here.simulator.fail('unauthorized', { times: 1 });
      await request(`${here.red.url}/inject/press`, { method: 'POST' });
      await until(
        () => here.editor.run(`RED.nodes.node('devices').status?.fill === 'red'`),
        'it has failed',
      );
      const text = await explain('devices');
      assert.match(text, /^[^\n]*\n[^\n]*UNAUTHORIZED · .*\(401\)/);
      assert.match(
        text,
        language === 'zh-CN' ? /错误消息\s+UNAUTHORIZED/ : /Error message\s+UNAUTHORIZED/,
      );
      await inEachTheme(here.editor, async (theme) => {
        await here.editor.picture(`explain-failed-${language}-${theme}`);
        assert.deepEqual(await misfits(here.editor), [], theme);
        assert.deepEqual(await faint(here.editor), [], theme);
      });
    });

    it('shows values as text, fits into the dialog, and can be read in each theme', async () => {
      const { page } = here.editor;
      await explain('server');
      const msg = { deviceid: 'x', payload: { text: HOSTILE } };
      await page.fill('#device-cloud-explain-msg', JSON.stringify(msg));
      await page.click('#device-cloud-explain');
      await page.waitForFunction(`$('${RESULT}').text().includes('onerror')`);
      assert.equal(await page.locator(`${RESULT} img`).count(), 0);
      await inEachTheme(here.editor, async (theme) => {
        await page.locator('#device-cloud-explain').scrollIntoViewIfNeeded();
        await here.editor.picture(`explain-server-${theme}`);
        assert.deepEqual(await misfits(here.editor), [], theme);
        assert.deepEqual(await faint(here.editor), [], theme);
      });
    });

    it('is a button in the test of a refused key, beside what looks wrong about it', async () => {
      const { page } = here.editor;
      await openDialog(here.editor, 'app');
      await page.fill('#node-config-input-appid', '１０００１');
      await page.click('#device-cloud-test');
      const unsent = await page.locator('#device-cloud-test-result > li').allInnerTexts();
      assert.match(unsent.join(), language === 'zh-CN' ? /全角/ : /full-width/);
      await page.fill('#node-config-input-appid', here.simulator.appid);
      await page.fill('#node-config-input-appkey', 'Key-Ｗith blank ');
      await page.click('#device-cloud-test');
      await page.waitForSelector('#device-cloud-test:enabled');
      const lines = await page.locator('#device-cloud-test-result > li').allInnerTexts();
      assert.ok(
        lines.some((line) =>
          (language === 'zh-CN' ? /末尾有空格/ : /ends with a blank/).test(line),
        ),
      );
      const button = page.locator('#device-cloud-test-result button').first();
      assert.equal(await button.getAttribute('aria-expanded'), 'false');
      await button.click();
      const text = await page.innerText('#device-cloud-test-result .device-cloud-explanation');
      assert.match(text, /GET \/openapi\/apps\//);
      assert.equal(isChinese(lines[0]!) && /\p{Script=Han}/u.test(lines[0]!), language === 'zh-CN');
      await inEachTheme(here.editor, async (theme) => {
        await button.scrollIntoViewIfNeeded();
        await here.editor.picture(`explain-refused-${theme}`);
        assert.deepEqual(await misfits(here.editor), [], theme);
        assert.deepEqual(await faint(here.editor), [], theme);
      });
    });

    // What these look for is the same in any language.
    if (language !== 'en-US') return;

    it('copies the command as it is', async () => {
      const { page } = here.editor;
      await explain('devices');
      await here.editor.run(`void document.addEventListener('copy', () => {
        window.copied = document.activeElement.value;
      }, { once: true })`);
      await page.click(`${RESULT} button`);
      const copied = await here.editor.run<string>('window.copied');
      assert.match(copied, /^: "\$\{APPKEY:\?\}" &&\n.*\n.*\ncurl -sSi '.*"\$sign"$/);
    });

    it('says what is wrong with the message', async () => {
      const { page } = here.editor;
      await explain('server');
      for (const [text, wrong] of [
        ['[', /JSON/],
        ['{"deviceid":"../x","payload":{}}', /\.\.\/x/],
      ] as const) {
        await page.fill('#device-cloud-explain-msg', text);
        await page.click('#device-cloud-explain');
        await page.waitForFunction(`${String(wrong)}.test($('${RESULT}').text())`);
        // The browser logs that the route refused it.
        here.editor.problems.splice(0);
      }
    });
  });
}
