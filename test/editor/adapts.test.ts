import assert from 'node:assert/strict';
import { closeDialog, openDialog } from '../../tooling/editor/dialog';
import { apps, sampleNodes } from '../../tooling/editor/samples';
import { world } from './world';

/** The rows of a dialog that come and go, and for each choice those that are shown. */
const CHOICES: Record<string, { select: string; rows: string[]; shown: Record<string, string[]> }> =
  {
    history: {
      select: '#node-input-operation',
      rows: ['#device-row', '#node-input-beginType', '#node-input-endType'],
      shown: {
        uploads: ['#device-row'],
        pushes: ['#device-row'],
        sync: ['#node-input-beginType', '#node-input-endType'],
      },
    },
    server: {
      select: '#node-input-operation',
      rows: ['#deviceid-row', '#page-row', '#count-row', '#body-row', '#query-row'],
      shown: {
        devices: ['#page-row', '#count-row'],
        device: ['#deviceid-row'],
        update: ['#deviceid-row', '#body-row'],
        passthrough: ['#deviceid-row', '#body-row'],
        uploads: ['#query-row'],
      },
    },
    gpio: {
      select: '#node-input-operation',
      rows: ['#pins-row', '#pin-row', '#level-row', '#codes-row', '#duration-row'],
      shown: {
        set: ['#pin-row', '#level-row'],
        pulse: ['#pin-row', '#level-row', '#duration-row'],
        read: ['#pins-row', '#pin-row', '#codes-row'],
      },
    },
    reboot: {
      select: '#node-input-when',
      rows: ['#expires-row'],
      shown: { now: [], online: ['#expires-row'], upload: ['#expires-row'] },
    },
    listen: {
      select: '#node-input-devices',
      rows: ['#list-row', '#refresh-row', '#dynamic-note'],
      shown: { list: ['#list-row'], online: ['#refresh-row'], dynamic: ['#dynamic-note'] },
    },
    app: {
      select: '#node-config-input-service',
      rows: [
        '#node-config-input-baseUrl',
        '#node-config-input-serverKey',
        '.device-cloud-simulator-only',
      ],
      shown: {
        cloud: ['#node-config-input-baseUrl', '#node-config-input-serverKey'],
        simulator: ['.device-cloud-simulator-only'],
      },
    },
  };

describe('a dialog shows the rows that a choice needs, and no other', () => {
  const here = world(() => [...apps, ...sampleNodes]);

  for (const [id, { select, rows, shown }] of Object.entries(CHOICES)) {
    it(`of ${id}`, async () => {
      await openDialog(here.editor, id);
      const choices = await here.editor.page
        .locator(`${select} option`)
        .evaluateAll((options) => options.map((option) => option.getAttribute('value')));
      assert.deepEqual(Object.keys(shown), choices);
      for (const [choice, expected] of Object.entries(shown)) {
        await here.editor.page.selectOption(select, choice);
        const visible = await here.editor.run<string[]>(
          `${JSON.stringify(rows)}.filter((row) =>
            $('.red-ui-tray').last().find(row).closest('.form-row, .device-cloud-note').is(':visible'))`,
        );
        assert.deepEqual(visible, expected, choice);
      }
      await closeDialog(here.editor, 'cancel');
    });
  }
});
