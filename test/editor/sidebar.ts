import assert from 'node:assert/strict';
import { app, placed } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { looksWell, WIDTHS } from './look';
import { world } from './world';

/** Text that a page would run, were it HTML. */
const HOSTILE = `<img src=x onerror="document.title='run'">`;
const FIRST = '10000001';
/** Its row is changed by a test. */
const VALUED = '10000005';
/** A name that turns around what comes after it. */
const TURNED = 'A \u202e!drawkcab';
const DEVICES = Array.from({ length: 5000 }, (_, index) => ({
  chipid: 10_000_001 + index,
  name: [HOSTILE, TURNED][index] ?? `Sensor ${index}`,
}));

const LIST = '.device-cloud-fleet .device-cloud-list';
const ROW = `${LIST} [role=option]`;
const DETAILS = '.device-cloud-fleet-details';
export const NOTE = '.device-cloud-fleet-note';
const SPOKEN = '.device-cloud-fleet [role=status]';

/** The requests of the tab. */
export const ofFleet = (url: string): boolean => /device-cloud\/apps(\/[^/]+\/fleet.*)?$/.test(url);

/** Runs in the page: a pause of a second or more is over that many times sooner. */
const quickened = (times: number): string => `(() => {
  const set = window.usualTimeout = window.setTimeout;
  window.setTimeout = (run, ms, ...values) => set(run, ms < 1000 ? ms : ms / ${times}, ...values);
})()`;

/** Runs in the page: undoes what the last test has changed of it. */
const AS_BEFORE = `(() => {
  window.setTimeout = window.usualTimeout;
  delete document.hidden;
})()`;

/** Runs in the page: ends once the observer has been called that opens and closes the panel, which is with a frame. */
const OBSERVED = `new Promise((resolve) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))))`;

/** Shows the tab of the sidebar in a language, and works with it. */
export function sidebarIn(language: 'en-US' | 'zh-CN'): void {
  const isChinese = language === 'zh-CN';
  describe(`the sidebar in ${language}`, () => {
    const flows = [
      placed('push'),
      placed('push', { chipid: FIRST, chipidType: 'str' }, { id: 'fixed', y: 200 }),
      // Disabled, so that it opens no channel to 5,000 devices.
      placed(
        'listen',
        { devices: 'online' },
        { id: 'online', y: 300, name: 'all that are online', d: true },
      ),
    ];
    const here = world((simulator) => [{ ...app(simulator), name: 'my cloud' }, ...flows], {
      language,
      simulator: { devices: DEVICES },
    });
    const asked = (): string[] => here.editor.requested.filter(ofFleet);

    const show = (tab = 'device-cloud-fleet'): Promise<void> =>
      here.editor.run(`RED.sidebar.show('${tab}')`);
    const note = (pattern: RegExp): Promise<unknown> =>
      here.editor.page.waitForFunction(`${String(pattern)}.test($('${NOTE}').text())`);
    const filter = async (text: string, state = 'all'): Promise<void> => {
      await here.editor.page.fill('#device-cloud-fleet-text', text);
      await here.editor.page.selectOption('#device-cloud-fleet-state', state);
    };
    const select = async (chipid: string): Promise<void> => {
      await filter(chipid);
      await here.editor.page.click(`#device-cloud-row-${chipid}-app`);
      await here.editor.page.waitForSelector(DETAILS);
    };
    const act = (action: string): Promise<void> =>
      here.editor.page.click(`${DETAILS} [data-action=${action}]`);

    it('shows 5,000 devices in a few rows, with names as text', async () => {
      const { page } = here.editor;
      await show();
      await note(/5000.*5000/);
      assert.ok((await page.locator(ROW).count()) < 60);
      assert.equal(await page.locator(`${LIST} img`).count(), 0);
      assert.notEqual(await page.title(), 'run');
      const first = page.locator(ROW).first();
      assert.match((await first.textContent()) ?? '', /onerror/);
      assert.equal(await first.getAttribute('aria-setsize'), '5000');
      assert.doesNotMatch(await page.innerText(LIST), /\u202e/);
    });

    it('filters by text and by state, and says what to do if no device matches', async () => {
      const { page } = here.editor;
      await filter('sensor 49');
      await note(/^\D*111 /);
      assert.match(await page.innerText(SPOKEN), /^\D*111 /);
      await filter(FIRST);
      assert.equal(await page.locator(ROW).count(), 1);
      await filter('', 'offline');
      await note(isChinese ? /没有匹配/ : /No device matches/);
      await here.editor.picture('sidebar-no-match');
      await filter('');
    });

    it('is legible, with nothing cut off, in each theme, at its usual width and at a narrow one', async () => {
      const { page } = here.editor;
      await page.click('#device-cloud-row-10000003-app');
      await page.hover(`#device-cloud-row-10000004-app`);
      for (const state of ['all', 'channel-down', 'waiting', 'error']) {
        await filter('', state);
        await looksWell(here.editor, `sidebar-${state}`, WIDTHS);
      }
      await filter('');
    });

    it('shows the value first and the number last, and how many commands wait also where it is low', async () => {
      const { page } = here.editor;
      const usual = {
        ...{ chipid: VALUED, name: 'Sensor 4', online: true, since: null, lastUpload: null },
        ...{ channel: null, lastError: null },
        ...{ waiting: 0, reconnects: 0, recovered: 0 },
      };
      let device: object = {
        ...{ ...usual, name: 'Sensor 4 in the greenhouse', waiting: 12, reconnects: 3 },
        ...{ lastUpload: Date.now() - 125_000, latest: '{"temperature":21.5,"on":true}' },
      };
      await page.route(/fleet\?since=/, async (route) => {
        const response = await route.fetch();
        const answer = (await response.json()) as object;
        await route.fulfill({ response, json: { ...answer, devices: [device] } });
      });
      // Each change waits for the next request.
      await here.editor.run(quickened(20));
      const fleet = `$('.device-cloud-fleet')`;
      const isWaiting = (count: string): Promise<unknown> =>
        page.waitForFunction(
          `$('#device-cloud-row-${VALUED}-app .device-cloud-fleet-waiting:visible').text() === '${count}'`,
        );
      const look = async (widths: string[]): Promise<void> => {
        await here.editor.run(`void ${fleet}.css('height', '255px')`);
        await isWaiting('12');
        await looksWell(here.editor, 'sidebar-low', widths);
      };
      /** What a row shows behind the name, from left to right. */
      const shown = (): Promise<string[]> =>
        here.editor.run(`$('#device-cloud-row-${VALUED}-app > span').toArray()
          .filter((part) => part.textContent !== '' && part.offsetWidth > 0)
          .filter((part) => !/name|age/.test(part.className))
          .sort((a, b) => a.offsetLeft - b.offsetLeft)
          .map((part) => part.textContent)`);
      await look(['']);
      assert.deepEqual(await shown(), ['21.5 · true', '12', VALUED]);
      const busy = device;
      device = { ...device, waiting: 0 };
      await isWaiting('');
      assert.deepEqual(await shown(), ['21.5 · true', isChinese ? '2 分钟' : '2 min', VALUED]);
      device = busy;
      await isWaiting('12');
      await here.editor.run(`void ${fleet}.css('height', '700px')`);
      await isWaiting('');
      const [first, ...rest] = await shown();
      assert.deepEqual([first, rest.at(-1)], ['temperature: 21.5, on: true', VALUED]);
      const isFirst = (chipid: string): Promise<unknown> =>
        page.waitForFunction(`$('${ROW}').first().attr('id') === 'device-cloud-row-${chipid}-app'`);
      const order = (by: string): Promise<unknown> =>
        page.selectOption('#device-cloud-fleet-order', by);
      await isFirst(FIRST);
      await order('upload');
      await isFirst(VALUED);
      await order('state');
      await isFirst(FIRST);
      const limit = 'temperature > 20';
      device = { ...device, alarms: [{ field: 'temperature', value: 21.5, limit }] };
      await isFirst(VALUED);
      await order('name');
      await isFirst(FIRST);
      await filter('ture":21.5');
      await isFirst(VALUED);
      await filter('', 'alarm');
      await isFirst(VALUED);
      assert.equal(await page.locator(ROW).count(), 1);
      await filter('');
      device = {
        ...{ ...device, channel: { state: 'disconnected', reason: null }, online: false },
        lastError: { at: Date.now(), code: 'TIMEOUT', message: 'TIMEOUT: no answer in 12 s.' },
      };
      await page.waitForSelector(
        `#device-cloud-row-${VALUED}-app .device-cloud-fleet-error:text("T")`,
      );
      await look(['200px']);
      // There, words say it.
      await here.editor.run(`void ${fleet}.css('height', '700px')`);
      await isWaiting('');
      await here.editor.run(`void ${fleet}.css('height', '')`);
      device = usual;
      await page.waitForSelector(`#device-cloud-row-${VALUED}-app[data-online=true]`);
      await page.unroute(/fleet\?since=/);
      await here.editor.run(AS_BEFORE);
    });

    // The rest does not depend on the language.
    if (isChinese) return;

    it('can be used with the keyboard', async () => {
      const { page } = here.editor;
      await page.focus(LIST);
      await page.keyboard.press('End');
      const active = (): Promise<string | null> => page.getAttribute(LIST, 'aria-activedescendant');
      assert.equal(await active(), 'device-cloud-row-10005000-app');
      await page.keyboard.press('ArrowUp');
      assert.equal(await active(), 'device-cloud-row-10004999-app');
      await page.keyboard.press('Enter');
      const focused = 'document.activeElement.dataset.action';
      assert.equal(await here.editor.run(focused), 'find');
      await here.editor.picture('sidebar-selected');
      await page.keyboard.press('Escape');
      assert.equal(await here.editor.run(`document.activeElement.matches('${LIST}')`), true);
      await page.dispatchEvent(LIST, 'contextmenu');
      assert.equal(await here.editor.run(focused), 'find');
      await page.focus(LIST);
      await page.keyboard.press('Escape');
      assert.equal(await page.isVisible(DETAILS), false);
      await page.keyboard.press('Home');
    });

    it('finds the nodes that use a device, and copies its number', async () => {
      const { page } = here.editor;
      await select(FIRST);
      await here.editor.run(`void document.addEventListener('copy', () => {
        window.copied = document.activeElement.value;
      }, { once: true })`);
      await act('copy');
      assert.equal(await here.editor.run('window.copied'), FIRST);
      await act('find');
      const uses = page.locator('.device-cloud-fleet-uses button');
      assert.deepEqual(
        (await uses.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ')),
        [
          `push MSG · ${FIRST} names this device · test`,
          'all that are online for the online devices · test',
        ],
      );
      await here.editor.picture('sidebar-uses');
      // How a node is highlighted differs between the versions of Node-RED.
      await here.editor.run(`void (() => {
        const usual = RED.view.reveal;
        RED.view.reveal = (...given) => usual((window.revealed = given[0]), ...given.slice(1));
      })()`);
      await uses.last().click();
      assert.equal(await here.editor.run('window.revealed'), 'online');
      await select('10000003');
      assert.equal(await uses.count(), 0);
      await act('find');
      assert.equal(await uses.count(), 1);
    });

    it('shows the last uploads and commands of a device, and the latest upload in its row', async () => {
      const { page } = here.editor;
      const recent = {
        uploads: [
          { at: Date.now(), text: HOSTILE, size: 70, source: 'live' },
          { at: Date.now() - 60_000, text: '{"a":1}', size: 7, source: 'replayed' },
        ],
        commands: [
          { at: Date.now(), kind: 'gpio', pin: 5, level: 1, outcome: 'OK', took: 180 },
          { at: Date.now(), kind: 'push', outcome: 'TIMEOUT', message: 'No answer.', took: 12_004 },
          { at: Date.now(), kind: 'reboot', outcome: null, took: null },
        ],
      };
      await page.route(/devices\/\d+$/, (route) => route.fulfill({ json: recent }));
      const device = {
        ...{ chipid: VALUED, name: 'Valued', online: true, since: null, lastUpload: Date.now() },
        ...{
          channel: { state: 'connected', reason: null },
          latest: '{"temperature":21.5,"on":true}',
        },
        ...{ waiting: 0, reconnects: 0, recovered: 0, lastError: null },
      };
      await page.route(/fleet\?since=/, async (route) => {
        const response = await route.fetch();
        const answer = (await response.json()) as { devices: unknown[] };
        await route.fulfill({ response, json: { ...answer, devices: [device] } });
      });
      await select(VALUED);
      await page.waitForFunction(`$('${DETAILS} h4').text() === 'Valued (${VALUED})'`);
      const row = page.locator(`#device-cloud-row-${VALUED}-app .device-cloud-fleet-latest`);
      assert.equal(await row.textContent(), 'temperature: 21.5, on: true');
      const RECENT = '.device-cloud-fleet-recent li';
      await page.waitForSelector(RECENT);
      const lines = (await page.locator(RECENT).allInnerTexts()).map((text) => text.split('\n'));
      assert.deepEqual(
        lines.map(([, ...words]) => words.join(' | ')),
        [
          HOSTILE,
          '{"a":1} | recovered',
          'Set pin 5 to 1 | OK · 0.2 s',
          'Push | TIMEOUT · no answer · 12 s',
          'Reboot | not ended yet',
        ],
      );
      assert.match(lines[0]?.[0] ?? '', /^\d\d:\d\d:\d\d$/);
      assert.equal(await page.locator(`${DETAILS} img`).count(), 0);
      await looksWell(here.editor, 'sidebar-recent');
      await page.unroute(/fleet\?since=/);
      await page.unroute(/devices\/\d+$/);
      await show();
    });

    it('keeps head and five rows where it is low, and scrolls the details alone', async () => {
      const { page } = here.editor;
      const fleet = `$('.device-cloud-fleet')`;
      await filter('');
      // The lowest: as with a second line of filters.
      for (const height of [225, 255, 700]) {
        await here.editor.run(`void ${fleet}.css('height', '${height}px')`);
        await page.waitForFunction(
          `${fleet}.hasClass('device-cloud-fleet-low') === ${String(height < 460)}`,
        );
        await page.click('#device-cloud-row-10000003-app');
        const found = await here.editor.run<Record<string, number>>(`(() => {
          const [tab, list, details, filters] = ['.device-cloud-fleet', '${LIST}', '${DETAILS}',
            '.device-cloud-fleet-filters'].map((one) => document.querySelector(one));
          const row = list.querySelector('[role=option]').offsetHeight;
          return {
            rows: list.clientHeight / row,
            head: filters.getBoundingClientRect().top - tab.getBoundingClientRect().top,
            over: tab.scrollHeight - tab.clientHeight,
            details: details.clientHeight,
          };
        })()`);
        assert.ok(found['rows']! >= (height < 255 ? 3 : 5), JSON.stringify(found));
        assert.deepEqual([found['head'], found['over']], [0, 0], JSON.stringify(found));
        assert.ok(found['details']! > 80, JSON.stringify(found));
        await looksWell(here.editor, `sidebar-high-${height}`);
      }
      await here.editor.run(`void ${fleet}.css('height', '')`);
    });

    it('inserts a configured listener', async () => {
      const { page } = here.editor;
      await select(FIRST);
      await act('listen');
      await page.mouse.move(500, 400);
      await page.mouse.click(500, 400);
      const inserted = await here.editor.run<Record<string, unknown>>(`(() => {
        const all = RED.nodes.filterNodes({ type: 'device-cloud-listen' });
        const node = all.find(({ id }) => id !== 'online');
        const { app, devices, chipids, valid, z, recover } = node;
        return { app, devices, chipids, valid, z, recover };
      })()`);
      assert.deepEqual(inserted, {
        ...{ app: 'app', devices: 'list', chipids: [FIRST], valid: true, z: 'tab' },
        recover: 'restart',
      });
    });

    it('refreshes a device, pushes to it after a confirmation, and shows the error of a call', async () => {
      const { page } = here.editor;
      const { requests } = here.simulator;
      await select(FIRST);
      await act('refresh');
      // The list is read now and then, too.
      const refreshed = `manual_refresh/${FIRST}`;
      await until(() => requests.some(({ path }) => path.includes(refreshed)), 'it is refreshed');
      const SAID = '.red-ui-notification-success:visible';
      await page.waitForSelector(SAID);
      assert.match(await page.innerText(SAID), /: online\.|：在线。/);
      const pushes = (): string[] =>
        requests.flatMap(({ path, body }) => (path.includes('dev/push') ? [body] : []));
      const PUSH = '.red-ui-notification:has(#device-cloud-fleet-message)';
      await act('push');
      await page.fill('#device-cloud-fleet-message', 'hello');
      assert.match(await page.innerText(`${PUSH} form`), /onerror/);
      await here.editor.picture('sidebar-push');
      assert.deepEqual(pushes(), []);
      await page.click(`${PUSH} button.primary`);
      await until(() => pushes().some((body) => body.includes('hello')), 'it is pushed');
      const recover = here.simulator.fail('gateway');
      await act('refresh');
      // The notification closes by itself.
      await page.waitForSelector('.red-ui-notification-error:visible');
      await page.waitForSelector(`${DETAILS} dd[data-field=error]`);
      await here.editor.picture('sidebar-error');
      await filter('', 'error');
      await note(/^\D*1 /);
      await filter('');
      recover();
      // The browser logs that the route answered 502.
      assert.match(here.editor.problems.splice(0).join(), /502/);
    });

    it('copies diagnostics as Markdown', async () => {
      await here.editor.run(`void document.addEventListener('copy', () => {
        window.copied = document.activeElement.value;
      }, { once: true })`);
      await here.editor.page.click('button[data-view=problems]:visible');
      await here.editor.page.click('#device-cloud-diagnostics');
      await here.editor.page.waitForFunction(`window.copied?.includes('"versions"')`);
      const copied = await here.editor.run<string>('window.copied');
      assert.match(copied, /"package": "\d/);
      assert.match(copied, /"devices": 5000/);
      assert.match(copied, new RegExp(`"chipid": "${FIRST}",\\s+"code": "GATEWAY"`));
      assert.ok(!/127\.0\.0\.1|AppKey/.test(copied), copied);
      await here.editor.page.click('button[data-view=devices]:visible');
    });

    it('requests nothing while another tab is shown, or the whole page is hidden', async () => {
      const requestsNothing = async (): Promise<void> => {
        await here.editor.run(OBSERVED);
        const { length } = asked();
        // Timers of a page fire in order: this one fires after any request within the longest pause between two.
        await here.editor.run('new Promise((resolve) => setTimeout(resolve, 60_001))');
        assert.equal(asked().length, length);
      };
      // A page that other tests have opened has requested more.
      const whole = (): number => asked().filter((url) => url.endsWith('since=0')).length;
      const once = whole();
      await show('info');
      await here.editor.run(quickened(1000));
      await show();
      const before = asked().length;
      await until(() => asked().length > before + 3, 'it requests the fleet again and again');
      assert.equal(whole(), once);
      await show('info');
      await here.editor.page.waitForSelector(LIST, { state: 'hidden' });
      await requestsNothing();
      await show();
      await here.editor.run(`(() => {
        Object.defineProperty(document, 'hidden', { value: true, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      })()`);
      await requestsNothing();
      await here.editor.run(AS_BEFORE);
    });
  });
}
