import assert from 'node:assert/strict';
import { faint } from './colours';
import { openDialog, untranslated } from '../tooling/editor/dialog';
import { misfits } from './layout';
import { apps, sampleNodes } from '../tooling/editor/samples';
import { untranslatedTexts } from './untranslated';
import { world } from './world';

const LONG = 'much too long for the place '.repeat(4).trim();

/** What each check has to find, once the dialog has been spoilt by a script. */
const SPOILT: [what: string, script: string, finding: RegExp][] = [
  [
    'a cut choice',
    `form.find('#node-input-format option').last().text('${LONG}')`,
    /^option: much/,
  ],
  [
    'a cut placeholder',
    `form.find('#node-input-name').attr('placeholder', '${LONG}')`,
    /^placeholder: much/,
  ],
  ['a label in two lines', `form.find('label span').last().text('${LONG}')`, /^wrapped: much/],
  [
    'a label over its field',
    `form.find('label').last().css('white-space', 'nowrap').find('span').text('${LONG}')`,
    /^over a field: much/,
  ],
  [
    'a cut button',
    `$('<button>').text('${LONG}').css({ width: 60, overflow: 'hidden', whiteSpace: 'nowrap' }).appendTo(form)`,
    /^cut: much/,
  ],
  [
    'a cut remark',
    `$('#message-note').text('${LONG} ${LONG}').css({ height: 15, overflow: 'hidden' })`,
    /^cut: much/,
  ],
  [
    'a unit that is not beside its field',
    `form.find('#node-input-timeout').next().text('${LONG}')`,
    /^not beside its field: much/,
  ],
  [
    'a text beyond the edge',
    `$('<div>').text('${LONG} ${LONG}').css('white-space', 'nowrap').appendTo(form)`,
    /^outside: much/,
  ],
  [
    'a dialog to be scrolled sideways',
    `$('<div>').width(2000).height(1).appendTo(form)`,
    /^wider than the dialog/,
  ],
  [
    'a faint text',
    `$('#message-note').css('color', 'rgba(127, 127, 127, 0.2)')`,
    /^3 字节 \(1\.\d\)/,
  ],
  [
    'a field in colours of its own',
    `form.find('#node-input-timeout').css({ color: '#333', background: '#222' })`,
    /^7 \(1\.\d\)/,
  ],
  [
    'a key without a text',
    `$('<span data-i18n="label.nowhere">').text('label.nowhere').appendTo(form)`,
    /label\.nowhere/,
  ],
  ['an English text', `$('<div>').text('Hello, 设备').appendTo(form)`, /^Hello, 设备/],
  ['an English hint', `form.find('#node-input-name').attr('title', 'Your name')`, /^Your name/],
];

describe('the checks of the dialogs', () => {
  const here = world(() => [...apps, ...sampleNodes], { language: 'zh-CN' });

  const findings = async (): Promise<string[]> => [
    ...(await misfits(here.editor)),
    ...(await faint(here.editor)),
    ...(await untranslated(here.editor)),
    ...(await untranslatedTexts(here.editor, ['my cloud'])),
  ];

  // One dialog for all, which each test finds as it was.
  before(async () => {
    await openDialog(here.editor, 'push');
    await here.editor.run(`window.unspoilt = $('.red-ui-tray form:visible')[0].cloneNode(true), 0`);
  });
  afterEach(() =>
    here.editor.run(
      `void $('.red-ui-tray form:visible').replaceWith(window.unspoilt.cloneNode(true))`,
    ),
  );

  it('find nothing where nothing is wrong', async () => {
    assert.deepEqual(await findings(), []);
  });

  for (const [what, script, finding] of SPOILT) {
    it(`find ${what}`, async () => {
      await here.editor.run(`(() => {
        const form = $('.red-ui-tray form:visible').first();
        ${script};
      })()`);
      const found = await findings();
      assert.ok(
        found.some((text) => finding.test(text)),
        found.join('\n'),
      );
    });
  }
});
