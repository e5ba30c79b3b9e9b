import assert from 'node:assert/strict';
import { closeDialog, openDialog } from '../tooling/editor/dialog';
import { apps, sampleNodes, variants } from '../tooling/editor/samples';
import { world } from './world';

/** What is chosen, and for each choice which of the rows that come and go with it are shown; of a box, whether it is ticked. */
type Choice = [field: string, shown: Record<string, string[]>];

const WAITS = ['#when-row', '#expires-row'];
const MANY: Choice = ['#node-input-many', { true: ['.many-only', ...WAITS], false: WAITS }];

/** By the id of a node. */
const CHOICES: Record<string, Choice[]> = {
  history: [
    [
      '#node-input-operation',
      {
        uploads: ['#device-row'],
        pushes: ['#device-row'],
        sync: ['#node-input-beginType', '#node-input-endType'],
      },
    ],
    [
      '#node-input-datatype',
      {
        raw: [],
        'auto-detect': ['#type-section'],
        buffer: ['#type-section'],
        utf8: ['#type-section'],
        json: ['#type-section'],
        base64: ['#type-section'],
      },
    ],
  ],
  server: [
    [
      '#node-input-operation',
      {
        devices: ['#page-row', '#count-row'],
        device: ['#deviceid-row'],
        update: ['#deviceid-row', '#body-row', '#suggestion-row'],
        passthrough: ['#deviceid-row', '#body-row', '#suggestion-row'],
        uploads: ['#query-row', '#suggestion-row'],
      },
    ],
  ],
  gpio: [
    [
      '#node-input-operation',
      {
        set: ['#pin-row', '#level-row'],
        keep: ['#pin-row', '#level-row', '#check-row', '#keep-note'],
        pulse: ['#pin-row', '#level-row', '#duration-row'],
        read: ['#pins-row', '#pin-row', '#codes-row'],
      },
    ],
  ],
  reboot: [
    ['#node-input-when', { now: [], online: ['#expires-row'], upload: ['#expires-row'] }],
    MANY,
  ],
  'push-waits': [
    [
      '#device-cloud-to',
      {
        device: ['#device-row', '#transport-row', ...WAITS],
        many: ['#device-row', '#transport-row', '.many-only', ...WAITS],
        app: ['#app-note'],
      },
    ],
    ['#node-input-transport', { http: WAITS, channel: ['#channel-note'] }],
  ],
  'push-to-app': [
    [
      '#device-cloud-to',
      { device: ['#device-row'], many: ['#device-row', '#many-note'], app: ['#app-note'] },
    ],
  ],
  'gpio-pulse': [
    [
      '#node-input-operation',
      {
        set: ['#many-row', ...WAITS],
        keep: ['#many-row'],
        pulse: ['#many-row', ...WAITS],
        read: ['#many-row'],
      },
    ],
    MANY,
  ],
  request: [
    [
      '#node-input-match',
      { property: ['.property-row'], pattern: ['#pattern-row'], next: ['#next-note'] },
    ],
  ],
  latest: [['#device-cloud-which', { one: ['#device-row', '#missing-row'], all: [] }]],
  events: [
    ['#node-input-devices', { all: [], list: ['#list-row'], group: ['#group-row'] }],
    ['#device-cloud-events-presence', { true: ['#misses-row', '#silence-row'], false: [] }],
    ['#device-cloud-events-channel', { true: ['#settle-row'], false: [] }],
  ],
  listen: [
    [
      '#node-input-devices',
      {
        list: ['#list-row'],
        online: ['#refresh-row'],
        group: ['#group-row'],
        dynamic: ['#dynamic-note'],
      },
    ],
  ],
  refresh: [['#node-input-many', { true: ['.many-only'], false: ['#online-row'] }]],
  'rt-status': [['#node-input-many', { true: ['.many-only'], false: [] }]],
  app: [
    [
      '#node-config-input-service',
      {
        cloud: ['#node-config-input-baseUrl', '#node-config-input-serverKey'],
        simulator: ['.device-cloud-simulator-only'],
      },
    ],
  ],
};

describe('a dialog shows only the rows that a choice needs', () => {
  const here = world(() => [...apps, ...sampleNodes, ...variants]);
  const visible = (rows: readonly string[]): Promise<string[]> =>
    here.editor.run<string[]>(
      `${JSON.stringify(rows)}.filter((row) =>
        $('.red-ui-tray').last().find(row).closest('.form-row, .device-cloud-note, details').is(':visible'))`,
    );

  /** Tries each choice, and then has the dialog as it was again. */
  async function tryChoice([field, shown]: Choice): Promise<void> {
    const { page } = here.editor;
    const rows = [...new Set(Object.values(shown).flat())];
    const isBox = 'true' in shown;
    const choose = async (choice: string): Promise<void> => {
      if (isBox) await page.setChecked(field, choice === 'true');
      else await page.selectOption(field, choice);
    };
    const usual = isBox ? String(await page.isChecked(field)) : await page.inputValue(field);
    const choices = await page
      .locator(`${field} option`)
      .evaluateAll((options) => options.map((option) => option.getAttribute('value')));
    if (!isBox) assert.deepEqual(Object.keys(shown), choices);
    const check = async (choice: string): Promise<void> =>
      assert.deepEqual((await visible(rows)).sort(), shown[choice]?.toSorted(), choice);
    await check(usual);
    for (const choice of Object.keys(shown)) {
      await choose(choice);
      await check(choice);
    }
    await choose(usual);
  }

  for (const [id, choices] of Object.entries(CHOICES)) {
    it(`of ${id}`, async () => {
      await openDialog(here.editor, id);
      for (const choice of choices) await tryChoice(choice);
      await closeDialog(here.editor, 'cancel');
    });
  }
});
