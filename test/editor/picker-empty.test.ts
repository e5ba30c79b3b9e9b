import assert from 'node:assert/strict';
import { ONE, THREE, TWO } from '../e2e/harness/devices';
import { closeDialog, fill, openDialog, rows, typedInput } from '../tooling/editor/dialog';
import { sampleNodes } from '../tooling/editor/samples';
import { app } from '../tooling/node-red/nodes';
import { world } from './world';

const FIELD = typedInput('chipid');
const ALL = [ONE, TWO, THREE];

describe('the device picker without a device to show', () => {
  // Config nodes of their own, since the editor keeps a list for some seconds.
  const here = world((simulator) => [
    ...sampleNodes.filter(({ type }) => /push|listen/.test(type)),
    ...['app', 'empty', 'silent'].map((id) => ({ ...app(simulator), id })),
  ]);

  const useApp = (id: string): Promise<unknown> =>
    here.editor.run(`void $('#node-input-app').val('${id}').trigger('change')`);

  beforeEach(() => openDialog(here.editor, 'push'));
  afterEach(() => closeDialog(here.editor, 'cancel'));

  it('says that no device matches what was typed, and accepts it', async () => {
    await fill(here.editor, FIELD, '987654');
    assert.deepEqual(await rows(here.editor), ['No device matches. Any chip number may be typed.']);
    await here.editor.page.press(FIELD, 'Tab');
    assert.equal(await here.editor.page.inputValue(FIELD), '987654');
  });

  it('says that no device is online', async () => {
    for (const device of ALL) here.simulator.switchOff(device);
    await useApp('empty');
    await fill(here.editor, FIELD, '');
    await here.editor.page.press(FIELD, 'ArrowDown');
    assert.deepEqual(await rows(here.editor), [
      'No device of this application is known. Any chip number may be typed.',
    ]);
    for (const device of ALL) here.simulator.switchOn(device);
  });

  it('says that Node-RED does not answer', async () => {
    await here.editor.page.route('**/device-cloud/apps/**', (route) => route.abort());
    await useApp('silent');
    await fill(here.editor, FIELD, '1');
    assert.deepEqual(await rows(here.editor), ['Node-RED does not answer.']);
    await here.editor.page.unroute('**/device-cloud/apps/**');
    // The browser itself logs what has failed.
    assert.match(here.editor.problems.splice(0).join(), /Failed to load resource/);
  });
});
