import assert from 'node:assert/strict';
import {
  closeDialog,
  exported,
  fill,
  importNodes,
  openDialog,
  typedInput as input,
} from '../tooling/editor/dialog';
import { apps, bareNodes, sampleNodes } from '../tooling/editor/samples';
import { world } from './world';

describe('a dialog', () => {
  const here = world(() => [...apps, ...sampleNodes, ...bareNodes]);

  const isWrong = (property: string): Promise<boolean> =>
    here.editor.run(`$('#node-input-${property}').hasClass('input-error')`);
  const note = (): Promise<string> => here.editor.run(`$('#message-note').text()`);
  const errors = (id: string): Promise<string[]> =>
    here.editor.run(`RED.nodes.node('${id}').validationErrors`);

  it('counts the bytes of HEX and Base64 as they are typed, and says what is wrong', async () => {
    await openDialog(here.editor, 'push');
    assert.equal(await note(), 'Bytes: 3');
    await fill(here.editor, input('message'), '48 6');
    assert.match(await note(), /in pairs/);
    assert.equal(await isWrong('message'), true);
    await here.editor.page.selectOption('#node-input-format', 'B64');
    assert.match(await note(), /not Base64/);
    await fill(here.editor, input('message'), 'SGVsbG8=');
    assert.equal(await note(), 'Bytes: 5');
    assert.equal(await isWrong('message'), false);
    await here.editor.page.selectOption('#node-input-format', 'MSG');
    await fill(here.editor, input('message'), '温度');
    assert.equal(await note(), 'Bytes: 6');
    await closeDialog(here.editor, 'cancel');
  });

  it('offers the formats that the transport can have, and pushes to an application over HTTP', async () => {
    await openDialog(here.editor, 'push');
    assert.equal(await here.editor.page.isDisabled('#node-input-format option[value=AT]'), true);
    await here.editor.page.selectOption('#device-cloud-to', 'app');
    assert.equal(await here.editor.page.isDisabled('#node-input-format option[value=AT]'), false);
    await here.editor.page.selectOption('#node-input-format', 'AT');
    assert.equal(await isWrong('format'), false);
    await closeDialog(here.editor);
    assert.equal((await exported(here.editor, 'push'))['transport'], 'http');
  });

  it('shows and validates only what is needed for several devices and for a command that waits', async () => {
    const { page } = here.editor;
    await openDialog(here.editor, 'reboot');
    assert.equal(await page.isVisible('#node-input-atOnce'), false);
    await fill(here.editor, '#node-input-expires', '0');
    await page.click('#node-input-many');
    assert.equal(await page.isVisible('#node-input-atOnce'), true);
    await fill(here.editor, '#node-input-atOnce', 'all');
    await closeDialog(here.editor);
    const found = await errors('reboot');
    assert.equal(found.length, 2);
    assert.match(found[0]!, /^At once: must be a whole number from 1 to 10000$/);
    assert.match(found[1]!, /^Expires/);
    const { many, when } = await exported(here.editor, 'reboot');
    assert.deepEqual([many, when], [true, 'upload']);
    await openDialog(here.editor, 'gpio');
    await page.selectOption('#node-input-operation', 'pulse');
    await fill(here.editor, '#node-input-duration', '60001');
    assert.equal(await isWrong('duration'), true);
    await closeDialog(here.editor, 'cancel');
  });

  it('says which property makes a node invalid, and why', async () => {
    await openDialog(here.editor, 'gpio');
    await fill(here.editor, input('chipid'), '1.5');
    await here.editor.page.keyboard.press('Escape');
    await fill(here.editor, input('pin'), '-1');
    await fill(here.editor, input('codes'), '[]');
    await here.editor.picture('not-valid');
    await closeDialog(here.editor);
    assert.deepEqual(await errors('gpio'), [
      'Device: must be a chip number, 1 to 20 digits',
      'Pin: must be a whole number from 0 to 999999999',
      'Values: must be a JSON object',
    ]);
  });

  it('saves an empty pin when all pins are to be read', async () => {
    await openDialog(here.editor, 'gpio');
    await here.editor.page.selectOption('#device-cloud-pins', 'all');
    assert.equal(await here.editor.page.isVisible('#pin-row'), false);
    await closeDialog(here.editor);
    assert.equal((await exported(here.editor, 'gpio'))['pin'], '');
    await openDialog(here.editor, 'gpio');
    assert.equal(await here.editor.page.inputValue('#device-cloud-pins'), 'all');
    await closeDialog(here.editor, 'cancel');
  });

  it('shows the defaults of what a flow written by hand leaves out', async () => {
    for (const { id } of bareNodes) {
      assert.deepEqual(await errors(id), []);
      await openDialog(here.editor, id);
      await closeDialog(here.editor);
      const { wires, ...saved } = await exported(here.editor, id);
      assert.ok(wires);
      const values = Object.values(saved).filter((value) => value === undefined || value === null);
      assert.deepEqual(values, []);
    }
    const { format, chipidType, timeout } = await exported(here.editor, 'bare-push');
    assert.deepEqual(
      { format, chipidType, timeout },
      { format: 'MSG', chipidType: 'msg', timeout: '12' },
    );
    assert.equal((await exported(here.editor, 'bare-history'))['datatype'], 'raw');
  });

  it('reads what a flow written by hand has as the run time does, and marks what makes no sense', async () => {
    const place = { z: 'tab', app: 'app', x: 600, y: 20, wires: [[]] };
    const list = { devices: 'list', chipids: '10000001' };
    const nodes = [
      { id: 'h1', type: 'device-cloud-history', chipid: 7, chipidType: 'str', split: 'false' },
      { id: 'h2', type: 'device-cloud-listen', ...list, name: 5 },
      { id: 'h3', type: 'device-cloud-events', ...list, events: 'channel' },
      { id: 'h4', type: 'device-cloud-gpio', operation: 'read', codes: { 0: 'low' } },
      { id: 'h5', type: 'device-cloud-cluster', sentinels: ['a:1', 'b:2'], master: 'm' },
      { id: 'h6', type: 'device-cloud-push', transport: 'channel', when: 'later' },
      ...sampleNodes.map(({ id, type, ...properties }) => {
        const all = Object.keys(properties).filter((name) => !(name in place) && name !== 'inputs');
        return { id: `bad-${id}`, type, ...Object.fromEntries(all.map((name) => [name, {}])) };
      }),
    ].map((node) => ({ ...place, ...node }));
    await importNodes(here.editor, nodes);
    const saved = { h1: 'split', h2: 'chipids', h3: 'events', h4: 'codes', h5: 'master' };
    const read = {
      ...{ split: false, chipids: ['10000001'], events: ['channel'], codes: '{"0":"low"}' },
      master: 'm',
    };
    for (const [id, property] of Object.entries(saved)) {
      assert.deepEqual(await errors(id), []);
      await openDialog(here.editor, id);
      await closeDialog(here.editor);
      const { [property]: value } = await exported(here.editor, id);
      assert.deepEqual(value, read[property as keyof typeof read]);
    }
    // Also where its row is hidden: the run time refuses it.
    assert.match(String(await errors('h6')), /^Send: /);
    // The node ack has nothing but its application.
    for (const { id } of sampleNodes.filter(({ type }) => type !== 'device-cloud-ack')) {
      const found = await errors(`bad-${id}`);
      assert.ok(found.length >= 1, id);
      await openDialog(here.editor, `bad-${id}`);
      await closeDialog(here.editor, 'cancel');
    }
    for (const { id } of nodes) await here.editor.run(`void RED.nodes.remove('${id}')`);
  });

  it('shows names for the levels', async () => {
    await openDialog(here.editor, 'gpio');
    await here.editor.page.selectOption('#node-input-operation', 'set');
    const level = '#level-row .red-ui-typedInput-option-trigger';
    assert.equal((await here.editor.page.innerText(level)).trim(), 'high (1)');
    await here.editor.page.click(level);
    await here.editor.page.click('.red-ui-typedInput-options:visible >> text=low (0)');
    await closeDialog(here.editor);
    const { level: saved, levelType } = await exported(here.editor, 'gpio');
    assert.deepEqual([saved, levelType], ['0', 'num']);
  });

  /** Not by the mouse: the devices that are offered for the row before may come late, and be over the button. */
  const addRow = (): Promise<void> =>
    here.editor.run(`void $('#list-row .red-ui-editableList-addButton').trigger('click')`);

  it('saves the devices to listen to without duplicates and empty rows, and a variable as it is', async () => {
    await openDialog(here.editor, 'listen');
    for (const chipid of ['10000001', '', '7', '${DEVICE}']) {
      await addRow();
      await here.editor.page.locator('.device-cloud-chipid').last().fill(chipid);
    }
    await closeDialog(here.editor);
    const { chipids } = await exported(here.editor, 'listen');
    assert.deepEqual(chipids, ['10000001', '12345678901234567890', '7', '${DEVICE}']);
    assert.deepEqual(await errors('listen'), []);
  });

  it('gives the listener an input when messages choose its devices', async () => {
    await openDialog(here.editor, 'listen');
    await here.editor.page.selectOption('#node-input-devices', 'dynamic');
    await closeDialog(here.editor);
    assert.equal(await here.editor.page.locator('#listen .red-ui-flow-port-input').count(), 1);
    await openDialog(here.editor, 'listen');
    await here.editor.page.selectOption('#node-input-devices', 'online');
    await closeDialog(here.editor);
    assert.equal(await here.editor.page.locator('#listen .red-ui-flow-port-input').count(), 0);
  });

  it('says that reading uploads of the server API needs a query, also of an imported node', async () => {
    const id = 'no-query';
    const place = { z: 'tab', app: 'app', x: 600, y: 20, wires: [[]] };
    await importNodes(here.editor, [
      { id, type: 'device-cloud-server', operation: 'uploads', ...place },
    ]);
    const [error, ...others] = await errors(id);
    const empty =
      /^Query: is empty, so every message fails: pagination parameters are required, such as {"page":1/;
    assert.match(error ?? '', empty);
    assert.deepEqual(others, []);
    assert.equal(await here.editor.run(`RED.nodes.node('${id}').valid`), false);
    const remark = (): Promise<string> => here.editor.run(`$('#query-note').text()`);
    await openDialog(here.editor, id);
    await fill(here.editor, input('query'), '{ }');
    assert.match(await remark(), /empty.*every message fails/);
    await here.editor.picture('empty-query');
    await fill(here.editor, input('query'), '{"a":null}');
    assert.doesNotMatch(await remark(), /empty/);
    await closeDialog(here.editor);
    assert.match(String(await errors(id)), /^Query: must have only texts, numbers and booleans/);
    await openDialog(here.editor, id);
    await fill(here.editor, input('query'), '{"page":1,"all":true,"of":"a"}');
    await closeDialog(here.editor);
    assert.deepEqual(await errors(id), []);
    await here.editor.run(`void RED.nodes.remove('${id}')`);
  });

  it("suggests what the vendor's client of the server API sends", async () => {
    const { page } = here.editor;
    await openDialog(here.editor, 'bare-server');
    for (const [operation, property, fields] of [
      ['uploads', 'query', ['page', 'count']],
      ['update', 'body', ['name', 'note']],
      ['passthrough', 'body', ['data_type', 'msgtype', 'data']],
    ] as const) {
      await page.selectOption('#node-input-operation', operation);
      assert.match(await page.innerText('#suggestion-note'), /vendor's own client/);
      await page.click('#suggestion-use');
      const [type, text] = await here.editor.run<string[]>(
        `['type', 'value'].map((of) => $('#node-input-${property}').typedInput(of))`,
      );
      assert.equal(type, 'json');
      assert.deepEqual(Object.keys(JSON.parse(text ?? '') as object), fields);
    }
    await page.selectOption('#node-input-operation', 'uploads');
    await closeDialog(here.editor, 'cancel');
  });

  it('marks what an application cannot use as it is typed', async () => {
    const { page } = here.editor;
    await openDialog(here.editor, 'app');
    await page.selectOption('#node-config-input-service', 'cloud');
    await page.evaluate(`$('.red-ui-tray .device-cloud-more').prop('open', true)`);
    for (const [property, text, isWrong] of [
      ['baseUrl', 'https://cloud.example.com/path', true],
      ['baseUrl', 'https://cloud.example.com', false],
      ['pins', '0,1,1', true],
      ['pins', 'public', true],
      ['pins', '0, 1, 16', false],
      ['pins', 'position', false],
      ['pins', '', false],
      ['historyZone', '8', true],
    ] as const) {
      await page.fill(`#node-config-input-${property}`, text);
      await page.keyboard.press('Tab');
      const marked = `$('#node-config-input-${property}').hasClass('input-error')`;
      assert.equal(await here.editor.run(marked), isWrong, text);
    }
    await closeDialog(here.editor, 'cancel');
  });

  it('shows the defaults of a new application, and adds a simulator without changes', async () => {
    await here.editor.run(`RED.editor.editConfig('', 'device-cloud-app', '_ADD_')`);
    await here.editor.page.waitForSelector('#node-config-input-service');
    const shown = await here.editor
      .run(`Object.fromEntries(['service', 'timeout', 'heartbeat', 'ping',
      'timestampUnit', 'deviceGap', 'historyZone', 'charset', 'pins'].map((property) =>
        [property, $('#node-config-input-' + property).val()]))`);
    assert.deepEqual(shown, {
      service: 'cloud',
      timeout: '15',
      heartbeat: '300',
      ping: '30',
      timestampUnit: 'ms',
      deviceGap: '0',
      historyZone: 'auto',
      pins: 'auto',
      charset: 'utf-8',
    });
    await here.editor.page.selectOption('#node-config-input-service', 'simulator');
    await closeDialog(here.editor);
    assert.ok(
      await here.editor.run(`(() => { let valid = false; RED.nodes.eachConfig((node) => {
      if (node.service === 'simulator' && node.changed) valid = node.valid; }); return valid; })()`),
    );
  });
});
