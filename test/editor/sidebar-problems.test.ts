import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Simulator } from '../../src/simulator';
import { app, placed, TAB, type FlowNode } from '../tooling/node-red/nodes';
import { temporaryFolder } from '../tooling/temporary-folder';
import { until } from '../tooling/until';
import { request } from '../e2e/harness/request';
import { inEachTheme, tabFaint } from './colours';
import { looksWell, WIDTHS } from './look';
import { world } from './world';

const FORM = '.red-ui-notification form';
/** Of the notification that is seen: those of tests before may still be there. */
const PRIMARY = '.red-ui-notification:visible button.primary';
const VIEW = '.device-cloud-fleet-view:visible';
const ROW = '.device-cloud-fleet .device-cloud-list:visible [role=option]';

const DEVICES = [10000001, 10000002, 10000003].map((chipid) => ({
  chipid,
  name: `Device ${chipid}`,
}));

/** Shows problems, and all applications at once, in a language. */
for (const language of ['en-US', 'zh-CN'] as const)
  describe(`problems in the sidebar in ${language}`, () => {
    const isChinese = language === 'zh-CN';
    const folder = temporaryFolder(`sidebar-problems-${language}`);
    const path = join(folder, 'devices.csv');
    let flow: FlowNode[] = [];
    const type = (name: string): FlowNode => ({
      ...{ id: 'type', type: 'device-cloud-type', name, decode: 'pairs' },
      units: 'temperature: °C, humidity: %',
    });
    const flows = (simulator: Simulator): FlowNode[] => {
      writeFileSync(path, 'chipid,name,groups,type\n10000001,<b>Gate</b>,north,valve\nx,y,,\n');
      const pin = { pin: '5', pinType: 'num', level: '1', levelType: 'num' } as const;
      flow = [
        TAB,
        { ...app(simulator), name: 'Greenhouse', book: path },
        { ...app(simulator), id: 'barn', name: 'Barn' },
        placed('listen', { chipids: ['10000002'], deviceType: 'type' }, { x: 300 }),
        placed(
          'gpio',
          { ...pin, chipid: 'pumps', chipidType: 'group', operation: 'keep' },
          { name: '<i>pumps</i>', x: 300, y: 200 },
        ),
        placed(
          'gpio',
          { ...pin, chipid: '10000003', chipidType: 'str', app: 'barn', when: 'upload' },
          { id: 'lamp', x: 300, y: 300 },
        ),
        {
          ...{ id: 'press', type: 'inject', props: [], z: 'tab', x: 100, y: 300 },
          wires: [['lamp']],
        },
      ];
      return [...flow, type('climate')];
    };
    const here = world(flows, { language, simulator: { devices: DEVICES } });

    const kinds = (): Promise<string[]> =>
      here.editor.run(`$('${VIEW} li').toArray().map((one) => one.dataset.kind)`);
    const count = (number: number): Promise<unknown> =>
      here.editor.page.waitForFunction(
        `$('button[data-view=problems]:visible').text().replace(/\\D/g, '') === '${number || ''}'`,
      );
    const view = (name: string): Promise<void> =>
      here.editor.page.click(`button[data-view=${name}]:visible`);
    const isLegible = (name: string): Promise<void> => looksWell(here.editor, name, WIDTHS);

    it('are counted, say what to do, and disappear once they are solved', async () => {
      const { page } = here.editor;
      await here.editor.run(`RED.sidebar.show('device-cloud-fleet')`);
      await page.selectOption('#device-cloud-fleet-app', 'app');
      // Two devices, a row, a type and a group.
      await count(5);
      await view('problems');
      await page.waitForFunction(`$('${ROW}').length === 2`);
      assert.deepEqual(await kinds(), ['rows', 'type', 'group']);
      const text = await page.innerText(VIEW);
      assert.match(text, isChinese ? /类型“valve”/ : /type “valve”/);
      assert.match(text, isChinese ? /分组“pumps”/ : /group “pumps”/);
      assert.equal(await page.locator(`${VIEW} i:not(.fa), ${VIEW} b`).count(), 0);
      await isLegible('problems');
      await here.editor.run(`void (RED.view.reveal = (id) => (window.revealed = id))`);
      await page.click(`${VIEW} li[data-kind=group] button`);
      assert.equal(await here.editor.run('window.revealed'), 'gpio');

      const recover = here.simulator.fail('unauthorized');
      await request(`${here.red.url}/device-cloud/apps/app/devices/10000001/refresh`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      });
      await count(6);
      assert.deepEqual(await kinds(), ['key', 'rows', 'type', 'group']);
      await page.click(`${VIEW} li[data-kind=key] button`);
      await page.waitForSelector('#node-config-input-appid');
      await page.click('#node-config-dialog-cancel');
      recover();
      // The list is read, as by a node of the flow.
      await request(`${here.red.url}/device-cloud/apps/app/devices`);
      const csv = 'chipid,name,groups,type\n10000001,<b>Gate</b>,north;pumps,climate\n';
      writeFileSync(path, csv);
      await until(async () => (await kinds()).length === 0, 'the book is mended');
      await count(2);

      await page.locator(`${ROW} button`).first().click();
      await page.waitForSelector(FORM);
      assert.equal(await page.inputValue('#device-cloud-fleet-row-name'), 'Device 10000002');
      await page.fill('#device-cloud-fleet-row-name', 'New');
      await page.click(PRIMARY);
      await page.waitForSelector(FORM, { state: 'detached' });
      await count(1);
      // Somebody adds it meanwhile, with a name of its own.
      const before = readFileSync(path, 'utf8');
      await page.click(`${VIEW} .device-cloud-fleet-head button:has(.fa-plus)`);
      await page.waitForSelector(FORM);
      writeFileSync(path, `${before}10000003,Own,,\n`);
      await page.click(PRIMARY);
      await page.waitForSelector('.red-ui-notification-error:visible');
      assert.equal(readFileSync(path, 'utf8'), `${before}10000003,Own,,\n`);
      assert.match(here.editor.problems.splice(0).join(), /^[^,]*412[^,]*$/);
      writeFileSync(path, before);
      await count(1);
      await page.click(`${VIEW} .device-cloud-fleet-head button:has(.fa-plus)`);
      await page.click(PRIMARY);
      await count(0);
      assert.equal(readFileSync(path, 'utf8'), `${before}10000003,Device 10000003\n`);
      await here.editor.picture(`problems-none-${language}`);
    });

    it('say that state is not kept', async () => {
      const { page } = here.editor;
      const state = join(here.red.userDir, 'device-cloud', 'app');
      mkdirSync(dirname(state), { recursive: true });
      rmSync(state, { recursive: true, force: true });
      writeFileSync(state, 'no folder');
      await here.red.deploy([
        ...flow.map((each) => (each.id === 'press' ? { ...each, wires: [['gpio']] } : each)),
        type('climate'),
      ]);
      await request(`${here.red.url}/inject/press`, { method: 'POST' });
      await count(1);
      assert.deepEqual(await kinds(), ['store']);
      await here.editor.picture(`problems-store-${language}`);
      rmSync(state);
      await count(0);
      await here.red.deploy([...flow, type('climate')]);
      await page.waitForFunction(`$('${VIEW} li').length === 0`);
    });

    it('are beside the course of what a device uploads, decoded by the type of its listener', async () => {
      const { page } = here.editor;
      writeFileSync(path, 'chipid\n10000001\n10000002\n10000003\n');
      await until(() => here.simulator.channels('10000002') > 0, 'the channel is open');
      for (const n of [21, 22.5, 20, 23])
        here.simulator.upload('10000002', `temperature=${n};humidity=${n * 2}`);
      await view('devices');
      await page.click('#device-cloud-row-10000002-app');
      await here.editor.run(`void $('.device-cloud-fleet').css('height', '700px')`);
      const SVG = '.device-cloud-fleet-recent svg';
      await page.waitForFunction(
        `$('${SVG} polyline').first().attr('points')?.split(' ').length === 4`,
      );
      // The channels of the others are about to open again, after the deploy of the test before.
      await page.waitForFunction(`!/connecting|正在连接/.test($('.device-cloud-fleet').text())`);
      assert.equal(await page.locator(SVG).count(), 2);
      const last = page.locator('.device-cloud-fleet-field small');
      assert.deepEqual(await last.allInnerTexts(), ['23 °C', '46 %']);
      assert.match(
        await page.locator(`${SVG} title`).first().innerHTML(),
        isChinese ? /^temperature：4 条.*20 °C.*23 °C/ : /^temperature: from 20 °C to 23 °C in 4/,
      );
      const DETAILS = '.device-cloud-fleet-details';
      await page.waitForSelector(`${DETAILS} li:has-text("temperature: 23 °C · humidity: 46 %")`);
      assert.equal(await page.innerText(`${DETAILS} dd[data-field=type]`), 'climate');
      await here.editor.run(`void $('${SVG}')[0].scrollIntoView({ block: 'center' })`);
      await inEachTheme(here.editor, async (theme) => {
        await here.editor.picture(`lines-${theme}-${language}`);
        assert.deepEqual(await tabFaint(here.editor), [], theme);
      });
      await here.editor.run(`void $('${DETAILS}')[0].scrollTo(0, 0)`);
      await isLegible('details-lines');
      await here.editor.run(`void $('.device-cloud-fleet').css('height', '')`);
    });

    it('and devices and waiting commands of all applications are shown at once', async () => {
      const { page } = here.editor;
      const row = (name: string, of: string): string => `${ROW}:has-text("${name} · ${of}")`;
      await page.selectOption('#device-cloud-fleet-app', 'all');
      await page.waitForSelector(row('Device 10000001', 'Greenhouse'));
      await page.waitForSelector(row('Device 10000001', 'Barn'));
      await page.waitForFunction(`$('${ROW}').length === 6`);
      // Where it is low, the tooltip has the values with their names.
      await here.editor.run(`void $('.device-cloud-fleet').css('height', '700px')`);
      await isLegible('all-devices');
      await here.editor.run(`void $('.device-cloud-fleet').css('height', '')`);
      await page.click(row('Device 10000003', 'Barn'));
      await page.waitForSelector('.device-cloud-fleet-details h4:has-text("Barn")');
      await here.editor.picture(`all-details-${language}`);
      await request(`${here.red.url}/inject/press`, { method: 'POST' });
      await view('waiting');
      await page.waitForSelector(row('Device 10000003', 'Barn'));
      await isLegible('all-waiting');
      await page.locator(`${ROW} button`).click();
      await page.waitForFunction(`$('${ROW}').length === 0`);
      writeFileSync(path, 'chipid,groups,type\n10000001,pumps,climate\n10000002,,gone\n');
      await count(2);
      await view('problems');
      await page.waitForSelector(`${VIEW} li:has-text("Greenhouse")`);
      await page.waitForSelector(row('Device 10000003', 'Greenhouse'));
      await isLegible('all-problems');
      await view('book');
      await page.waitForFunction(
        `/${isChinese ? '选择一个' : 'choose one above'}/.test($('${VIEW}').text())`,
      );
      await view('recording');
      assert.equal(await page.locator(`${VIEW} button:visible`).count(), 0);
      await page.selectOption('#device-cloud-fleet-app', 'barn');
      await page.waitForSelector(`${VIEW} button:visible`);
      await count(0);
      await view('devices');
      await page.waitForFunction(`$('${ROW}').length === 3`);
      await page.selectOption('#device-cloud-fleet-app', 'all');
      const chosen = (app: string): Promise<unknown> =>
        page.waitForFunction(`$('#device-cloud-fleet-app').val() === '${app}'`);
      // As during a deploy, for a moment.
      const one = { ...{ id: 'app', name: 'Greenhouse' }, service: 'cloud', devices: 3, online: 3 };
      await page.route(/device-cloud\/apps$/, (route) => route.fulfill({ json: [one] }));
      await here.editor.run(`void RED.events.emit('deploy')`);
      await chosen('app');
      await page.unroute(/device-cloud\/apps$/);
      await here.editor.run(`void RED.events.emit('deploy')`);
      await chosen('all');
      await page.selectOption('#device-cloud-fleet-app', 'app');
    });
  });
