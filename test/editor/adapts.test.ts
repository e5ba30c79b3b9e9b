import assert from 'node:assert/strict';
import { closeDialog, openDialog } from '../../tooling/editor/dialog';
import { apps, sampleNodes, variants } from '../../tooling/editor/samples';
import { world } from './world';

/** The rows of a dialog that come and go with a choice, and for each option those that are shown. */
interface Choice {
  /** Id of the node; default: the name of the choice. */
  of?: string;
  select: string;
  rows: string[];
  shown: Record<string, string[]>;
}

const WAITS = ['#when-row', '#expires-row'];

const CHOICES: Record<string, Choice> = {
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
  'push by its target': {
    of: 'push-waits',
    select: '#node-input-target',
    rows: ['#device-row', '#transport-row', '#app-note', '#many-row', ...WAITS],
    shown: { device: ['#device-row', '#transport-row', '#many-row', ...WAITS], app: ['#app-note'] },
  },
  'push by its transport': {
    of: 'push-waits',
    select: '#node-input-transport',
    rows: ['#channel-note', '#many-row', ...WAITS],
    shown: { http: ['#many-row', ...WAITS], channel: ['#channel-note', '#many-row'] },
  },
  'gpio that may wait': {
    of: 'gpio-pulse',
    select: '#node-input-operation',
    rows: ['#many-row', ...WAITS],
    shown: { set: ['#many-row', ...WAITS], pulse: ['#many-row', ...WAITS], read: ['#many-row'] },
  },
  request: {
    select: '#node-input-match',
    rows: ['.property-row', '#pattern-row', '#expression-row', '#next-note'],
    shown: {
      property: ['.property-row'],
      pattern: ['#pattern-row'],
      jsonata: ['#expression-row'],
      next: ['#next-note'],
    },
  },
  latest: {
    select: '#device-cloud-which',
    rows: ['#device-row', '#missing-row'],
    shown: { one: ['#device-row', '#missing-row'], all: [] },
  },
  events: {
    select: '#node-input-devices',
    rows: ['#list-row'],
    shown: { all: [], list: ['#list-row'] },
  },
  'events by its start': {
    of: 'events',
    select: '#node-input-start',
    rows: ['#state-note'],
    shown: { none: ['#state-note'], current: [] },
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

/** The rows that come and go with a box: those shown when it is ticked, and when it is not. */
const BOXES: [of: string, box: string, rows: string[], ticked: string[], empty: string[]][] = [
  ['reboot', 'input-many', ['.many-only', ...WAITS], ['.many-only'], WAITS],
  ['gpio-pulse', 'input-many', ['.many-only', ...WAITS], ['.many-only'], WAITS],
  ['push-waits', 'input-many', ['.many-only', ...WAITS], ['.many-only'], WAITS],
  ['refresh', 'input-many', ['.many-only', '#online-row'], ['.many-only'], ['#online-row']],
  ['rt-status', 'input-many', ['.many-only'], ['.many-only'], []],
  ['events', 'presence', ['#misses-row', '#silence-row'], ['#misses-row', '#silence-row'], []],
  ['events', 'channel', ['#settle-row'], ['#settle-row'], []],
];

describe('a dialog shows the rows that a choice needs, and no other', () => {
  const here = world(() => [...apps, ...sampleNodes, ...variants]);
  const visible = (rows: readonly string[]): Promise<string[]> =>
    here.editor.run<string[]>(
      `${JSON.stringify(rows)}.filter((row) =>
        $('.red-ui-tray').last().find(row).closest('.form-row, .device-cloud-note').is(':visible'))`,
    );

  for (const [name, { of: id = name, select, rows, shown }] of Object.entries(CHOICES)) {
    it(`of ${name}`, async () => {
      await openDialog(here.editor, id);
      const choices = await here.editor.page
        .locator(`${select} option`)
        .evaluateAll((options) => options.map((option) => option.getAttribute('value')));
      assert.deepEqual(Object.keys(shown), choices);
      for (const [choice, expected] of Object.entries(shown)) {
        await here.editor.page.selectOption(select, choice);
        assert.deepEqual(await visible(rows), expected, choice);
      }
      await closeDialog(here.editor, 'cancel');
    });
  }

  for (const [id, box, rows, ticked, empty] of BOXES) {
    it(`of ${id}, with and without ${box.replace('input-', '')}`, async () => {
      await openDialog(here.editor, id);
      const target = box.startsWith('input-') ? `#node-${box}` : `#device-cloud-${id}-${box}`;
      for (const [isTicked, expected] of [
        [true, ticked],
        [false, empty],
      ] as const) {
        await here.editor.page.setChecked(target, isTicked);
        assert.deepEqual(await visible(rows), expected, String(isTicked));
      }
      await closeDialog(here.editor, 'cancel');
    });
  }
});
