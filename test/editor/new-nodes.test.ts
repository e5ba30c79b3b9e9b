import assert from 'node:assert/strict';
import {
  add as addNode,
  closeDialog,
  exported,
  importNodes,
  openDialog,
  typedInput,
} from '../tooling/editor/dialog';
import { app, CHANGED } from '../tooling/node-red/nodes';
import { world } from './world';

/** The most rows that a new node shows. */
const MOST = 6;
const MOST_OF_REQUEST = 7;

const NODES = Object.keys(CHANGED);
/** Those that have to be given a device. */
const TO_DEVICES = Object.entries(CHANGED)
  .filter(([name, sample]) => 'chipid' in sample && name !== 'latest')
  .map(([name]) => name);

for (const language of ['en-US', 'zh-CN'] as const) {
  describe(`a node that is new, in ${language}`, () => {
    const here = world((simulator) => [app(simulator)], { language });

    const add = (type: string): Promise<string> => addNode(here.editor, type);

    /** The rows that are seen, a list as one. */
    const rows = (): Promise<string[]> =>
      here.editor.run(`$('.red-ui-tray').last().find('.form-row')
        .not('#online-row').toArray().filter((row) => row.checkVisibility())
        .map((row) => row.id || $(row).find('[id^=node-input]').attr('id') || row.className)`);

    /** The rows with a field that is drawn as wrong. */
    const redFields = (): Promise<string[]> =>
      here.editor.run(`$('.red-ui-tray').last().find('form :visible').toArray()
        .filter((element) => {
          const { borderTopColor } = getComputedStyle(element);
          const [red, green, blue] = (borderTopColor.match(/\\d+/g) ?? []).map(Number);
          return parseFloat(getComputedStyle(element).borderTopWidth) > 0 && red > green + 60 && red > blue + 60;
        })
        .map((element) => $(element).closest('.form-row').attr('id') || element.id || element.className)`);

    it('says the same word as the palette', async () => {
      for (const type of NODES) {
        const id = await add(type);
        const [label, word] = await here.editor.run<string[]>(`(() => {
          const node = RED.nodes.node('${id}');
          return [RED.utils.getNodeLabel(node),
            $('[data-palette-type=device-cloud-${type}] .red-ui-palette-label').text().replace(/\\s+/g, ' ').trim()];
        })()`);
        assert.ok(label!.startsWith(word!), `${type}: ${label} and ${word}`);
      }
    });

    if (language === 'zh-CN') return;

    for (const type of NODES) {
      it(`${type} shows few rows, and folds what is seldom set`, async () => {
        await openDialog(here.editor, await add(type));
        const seen = await rows();
        await here.editor.picture(`new-${type}-${language}`);
        const red = await redFields();
        await closeDialog(here.editor, 'cancel');
        const most = type === 'request' ? MOST_OF_REQUEST : MOST;
        assert.ok(seen.length <= most, `${seen.join()}: ${most} at most, fold the rest`);
        assert.deepEqual(red, [], 'greets in red');
      });
    }

    for (const type of ['app', 'type', 'cluster'])
      it(`${type} greets without red, too`, async () => {
        await here.editor.run(`void RED.editor.editConfig('', 'device-cloud-${type}', '_ADD_')`);
        await here.editor.page.waitForSelector('#node-config-input-name:visible');
        const red = await redFields();
        await here.editor.picture(`new-${type}-${language}`);
        await closeDialog(here.editor, 'cancel');
        assert.deepEqual(red, []);
      });

    it('marks an empty field once it has been left, and when its dialog is opened again', async () => {
      const id = await add('push');
      await openDialog(here.editor, id);
      await here.editor.page.focus(typedInput('chipid'));
      assert.deepEqual(await redFields(), []);
      await here.editor.page.focus('#node-input-name');
      assert.deepEqual(await redFields(), ['device-row']);
      await closeDialog(here.editor);
      await openDialog(here.editor, id);
      assert.deepEqual(await redFields(), ['device-row']);
      await closeDialog(here.editor, 'cancel');
    });

    it('of gpio sets a pin to a level once its device is chosen, and one without them takes the message', async () => {
      const saved = async (id: string): Promise<unknown[]> => {
        const { pin, pinType, level, levelType } = await exported(here.editor, id);
        return [pin, pinType, level, levelType];
      };
      const id = await add('gpio');
      assert.deepEqual(await saved(id), ['5', 'num', '1', 'num']);
      await here.editor.run(`(() => {
        const node = RED.nodes.node('${id}');
        for (const name of ['pin', 'pinType', 'level', 'levelType']) delete node[name];
      })()`);
      await openDialog(here.editor, id);
      await closeDialog(here.editor);
      assert.deepEqual(await saved(id), ['pin', 'msg', 'payload', 'msg']);
    });

    it('has to be given its device before it can be deployed', async () => {
      for (const type of TO_DEVICES) {
        const id = await add(type);
        const errors = (): Promise<string[]> =>
          here.editor.run(`(() => {
            const node = RED.nodes.node('${id}');
            RED.editor.validateNode(node);
            return node.validationErrors ?? [];
          })()`);
        // A request has to be given the property of its reply, too.
        const others = type === 'request' ? await errors() : [];
        others.shift();
        assert.deepEqual(await errors(), ['Device: choose one, or type its number', ...others]);
        await here.editor.run(`void (RED.nodes.node('${id}').chipid = '10000001')`);
        assert.deepEqual(await errors(), others, type);
      }
    });

    it('means all devices if it is latest and has none', async () => {
      const id = await add('latest');
      assert.equal(await here.editor.run(`RED.nodes.node('${id}').valid`), true);
      await openDialog(here.editor, id);
      assert.equal(await here.editor.page.inputValue('#device-cloud-which'), 'all');
      await here.editor.page.selectOption('#device-cloud-which', 'one');
      assert.equal(
        await here.editor.run(`$('#node-input-chipid').hasClass('input-error')`),
        true,
        'an empty device is marked once one is wanted',
      );
      await closeDialog(here.editor, 'cancel');
    });

    it('shows the name of a fixed device in its label once a list has shown it', async () => {
      const id = await add('push');
      const label = (): Promise<string> =>
        here.editor.run(`RED.utils.getNodeLabel(RED.nodes.node('${id}'))`);
      await here.editor.run(`void (RED.nodes.node('${id}').chipid = '10000002')`);
      assert.equal(await label(), 'push MSG · 10000002');
      await here.editor.run(
        `void Object.assign(RED.nodes.node('${id}'), { chipid: '12345678901234567890' })`,
      );
      assert.equal(await label(), 'push MSG · …01234567890');
      await here.editor.run(`void (RED.nodes.node('${id}').chipid = '10000002')`);
      await openDialog(here.editor, id);
      await here.editor.page.click(typedInput('chipid'));
      await here.editor.page.keyboard.press('ArrowDown');
      await here.editor.page.locator('.red-ui-autoComplete-container:visible a').first().waitFor();
      await here.editor.page.keyboard.press('Escape');
      await closeDialog(here.editor, 'cancel');
      const { name } = here.simulator.device('10000002');
      assert.equal(await label(), `push MSG · ${String(name)}`);
    });
  });
}

describe('a section of a dialog', () => {
  const here = world((simulator) => [app(simulator)]);

  /** Imports a node as a saved flow has it, and says whether its sections are open. */
  const opensSections = async (type: string, properties: object): Promise<boolean[]> => {
    const place = type === 'app' ? {} : { z: 'tab', app: 'app', x: 600, y: 20, wires: [[]] };
    await importNodes(here.editor, [
      { id: 'saved', type: `device-cloud-${type}`, ...place, ...properties },
    ]);
    await openDialog(here.editor, 'saved');
    const open = await here.editor.run<boolean[]>(
      `$('.red-ui-tray').last().find('.device-cloud-more').toArray().map(({ open }) => open)`,
    );
    await closeDialog(here.editor, 'cancel');
    await here.editor.run(`void RED.nodes.remove('saved')`);
    return open;
  };

  it('is folded while nothing in it is set', async () => {
    for (const type of ['push', 'refresh', 'reboot', 'events'])
      assert.deepEqual(await opensSections(type, {}), [false], type);
    // The type of the devices has a section of its own.
    for (const type of ['gpio', 'request', 'rt-status'])
      assert.deepEqual(await opensSections(type, {}), [false, false], type);
    const usual = { timeout: '12', many: false, when: 'now', expires: '3600', transport: 'http' };
    assert.deepEqual(await opensSections('push', usual), [false]);
  });

  it('is open if something in it is set', async () => {
    for (const set of [
      { timeout: '60' },
      { when: 'online' },
      { transport: 'channel' },
      { atOnce: '4' },
    ])
      assert.deepEqual(await opensSections('push', set), [true], JSON.stringify(set));
    assert.deepEqual(await opensSections('refresh', { many: true }), [true]);
    // There, the box is one of the choices of *To*.
    assert.deepEqual(await opensSections('push', { many: true }), [false]);
    assert.deepEqual(await opensSections('events', { misses: '3' }), [true]);
    assert.deepEqual(await opensSections('request', { replyTimeout: '60' }), [false, true]);
    assert.deepEqual(await opensSections('request', { deviceType: 'some' }), [true, false]);
  });

  it('of an application is open if the service has a dialect or keys of the server API', async () => {
    const isOpen = (properties: object): Promise<boolean[]> =>
      opensSections('app', { service: 'cloud', ...properties });
    assert.deepEqual(await isOpen({}), [false, false, false]);
    assert.deepEqual(await isOpen({ pins: 'position' }), [false, true, false]);
    assert.deepEqual(await isOpen({ deviceGap: '20' }), [false, false, true]);
    await openDialog(here.editor, 'app');
    assert.equal(await here.editor.page.isVisible('#node-config-input-serverKey'), true);
    await closeDialog(here.editor, 'cancel');
  });
});

describe('the list of devices', () => {
  const here = world((simulator) => [app(simulator)]);

  it('makes a row of each number that is pasted', async () => {
    const id = await addNode(here.editor, 'listen');
    await openDialog(here.editor, id);
    const paste = (text: string): Promise<unknown> =>
      here.editor.run(`(() => {
        const clipboardData = new DataTransfer();
        clipboardData.setData('text', ${JSON.stringify(text)});
        $('.device-cloud-chipid').last()[0].dispatchEvent(
          new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      })()`);
    await paste('10000001\n10000002, 10000003 10000004；007');
    assert.equal(await here.editor.page.locator('.device-cloud-chipid').count(), 5);
    await paste('10000005,10000006');
    assert.equal(await here.editor.page.locator('.device-cloud-chipid').count(), 7);
    await closeDialog(here.editor);
    assert.deepEqual(await here.editor.run(`RED.nodes.node('${id}').chipids`), [
      ...['10000001', '10000002', '10000003', '10000004', '7', '10000005', '10000006'],
    ]);
  });
});
