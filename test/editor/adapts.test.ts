import assert from 'node:assert/strict';
import { closeDialog, openDialog } from '../tooling/editor/dialog';
import { apps, sampleNodes, variants } from '../tooling/editor/samples';
import { world } from './world';

/** The rows of a dialog that come and go with a choice, and for each option those that are shown. */
interface Choice {
  select: string;
  rows: string[];
  shown: Record<string, string[]>;
}

/** The rows that come and go with a box: those shown when it is ticked, and when it is not. */
interface Box {
  box: string;
  rows: string[];
  ticked: string[];
  empty: string[];
}

const WAITS = ['#when-row', '#expires-row'];
const MANY: Box = {
  ...{ box: 'input-many', rows: ['.many-only', ...WAITS] },
  ...{ ticked: ['.many-only', ...WAITS], empty: WAITS },
};

/** By the id of a node. */
const CHOICES: Record<string, (Choice | Box)[]> = {
  history: [
    {
      select: '#node-input-operation',
      rows: ['#device-row', '#node-input-beginType', '#node-input-endType'],
      shown: {
        uploads: ['#device-row'],
        pushes: ['#device-row'],
        sync: ['#node-input-beginType', '#node-input-endType'],
      },
    },
  ],
  server: [
    {
      select: '#node-input-operation',
      rows: [
        ...['#deviceid-row', '#page-row', '#count-row', '#body-row', '#query-row'],
        '#suggestion-row',
      ],
      shown: {
        devices: ['#page-row', '#count-row'],
        device: ['#deviceid-row'],
        update: ['#deviceid-row', '#body-row', '#suggestion-row'],
        passthrough: ['#deviceid-row', '#body-row', '#suggestion-row'],
        uploads: ['#query-row', '#suggestion-row'],
      },
    },
  ],
  gpio: [
    {
      select: '#node-input-operation',
      rows: [
        ...['#pins-row', '#pin-row', '#level-row', '#codes-row', '#duration-row'],
        ...['#check-row', '#keep-note'],
      ],
      shown: {
        set: ['#pin-row', '#level-row'],
        keep: ['#pin-row', '#level-row', '#check-row', '#keep-note'],
        pulse: ['#pin-row', '#level-row', '#duration-row'],
        read: ['#pins-row', '#pin-row', '#codes-row'],
      },
    },
  ],
  reboot: [
    {
      select: '#node-input-when',
      rows: ['#expires-row'],
      shown: { now: [], online: ['#expires-row'], upload: ['#expires-row'] },
    },
    MANY,
  ],
  'push-waits': [
    {
      select: '#device-cloud-to',
      rows: ['#device-row', '#transport-row', '#app-note', '.many-only', ...WAITS],
      shown: {
        device: ['#device-row', '#transport-row', ...WAITS],
        many: ['#device-row', '#transport-row', '.many-only', ...WAITS],
        app: ['#app-note'],
      },
    },
    {
      select: '#node-input-transport',
      rows: ['#channel-note', ...WAITS],
      shown: { http: WAITS, channel: ['#channel-note'] },
    },
  ],
  'push-to-app': [
    {
      select: '#device-cloud-to',
      rows: ['#device-row', '#many-note', '#app-note'],
      shown: {
        device: ['#device-row'],
        many: ['#device-row', '#many-note'],
        app: ['#app-note'],
      },
    },
  ],
  'gpio-pulse': [
    {
      select: '#node-input-operation',
      rows: ['#many-row', ...WAITS],
      shown: {
        set: ['#many-row', ...WAITS],
        keep: ['#many-row'],
        pulse: ['#many-row', ...WAITS],
        read: ['#many-row'],
      },
    },
    MANY,
  ],
  request: [
    {
      select: '#node-input-match',
      rows: ['.property-row', '#pattern-row', '#next-note'],
      shown: {
        property: ['.property-row'],
        pattern: ['#pattern-row'],
        next: ['#next-note'],
      },
    },
  ],
  latest: [
    {
      select: '#device-cloud-which',
      rows: ['#device-row', '#missing-row'],
      shown: { one: ['#device-row', '#missing-row'], all: [] },
    },
  ],
  events: [
    {
      select: '#node-input-devices',
      rows: ['#list-row', '#group-row'],
      shown: { all: [], list: ['#list-row'], group: ['#group-row'] },
    },
    {
      box: 'presence',
      rows: ['#misses-row', '#silence-row'],
      ticked: ['#misses-row', '#silence-row'],
      empty: [],
    },
    { box: 'channel', rows: ['#settle-row'], ticked: ['#settle-row'], empty: [] },
  ],
  listen: [
    {
      select: '#node-input-devices',
      rows: ['#list-row', '#group-row', '#refresh-row', '#dynamic-note'],
      shown: {
        list: ['#list-row'],
        online: ['#refresh-row'],
        group: ['#group-row'],
        dynamic: ['#dynamic-note'],
      },
    },
  ],
  refresh: [
    {
      box: 'input-many',
      rows: ['.many-only', '#online-row'],
      ticked: ['.many-only'],
      empty: ['#online-row'],
    },
  ],
  'rt-status': [{ box: 'input-many', rows: ['.many-only'], ticked: ['.many-only'], empty: [] }],
  app: [
    {
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
  ],
};

describe('a dialog shows only the rows that a choice needs', () => {
  const here = world(() => [...apps, ...sampleNodes, ...variants]);
  const visible = (rows: readonly string[]): Promise<string[]> =>
    here.editor.run<string[]>(
      `${JSON.stringify(rows)}.filter((row) =>
        $('.red-ui-tray').last().find(row).closest('.form-row, .device-cloud-note').is(':visible'))`,
    );

  /** Tries each choice, and then has the dialog as it was again. */
  async function tryChoice({ select, rows, shown }: Choice): Promise<void> {
    const { page } = here.editor;
    const usual = await page.inputValue(select);
    const choices = await page
      .locator(`${select} option`)
      .evaluateAll((options) => options.map((option) => option.getAttribute('value')));
    assert.deepEqual(Object.keys(shown), choices);
    assert.deepEqual(await visible(rows), shown[usual], 'as it is opened');
    for (const [choice, expected] of Object.entries(shown)) {
      await page.selectOption(select, choice);
      assert.deepEqual(await visible(rows), expected, choice);
    }
    await page.selectOption(select, usual);
  }

  async function tryBox(id: string, { box, rows, ticked, empty }: Box): Promise<void> {
    const { page } = here.editor;
    const target = box.startsWith('input-') ? `#node-${box}` : `#device-cloud-${id}-${box}`;
    const usual = await page.isChecked(target);
    for (const isTicked of [true, false]) {
      await page.setChecked(target, isTicked);
      assert.deepEqual(await visible(rows), isTicked ? ticked : empty, `${box}: ${isTicked}`);
    }
    await page.setChecked(target, usual);
  }

  for (const [id, choices] of Object.entries(CHOICES)) {
    it(`of ${id}`, async () => {
      await openDialog(here.editor, id);
      for (const choice of choices)
        await ('box' in choice ? tryBox(id, choice) : tryChoice(choice));
      await closeDialog(here.editor, 'cancel');
    });
  }
});
