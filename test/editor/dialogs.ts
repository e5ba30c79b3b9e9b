import assert from 'node:assert/strict';
import { faint, useDarkTheme } from './colours';
import { closeDialog, exported, openDialog, untranslated } from '../tooling/editor/dialog';
import { helpMisfits, misfits } from './layout';
import { apps, sampleNodes, variants } from '../tooling/editor/samples';
import type { FlowNode } from '../tooling/node-red/nodes';
import { isChinese } from '../support/wording';
import { untranslatedTexts } from './untranslated';
import { world, type World } from './world';

/** The name of a sample, the types of config nodes that may be added, and examples of what to type. */
const GIVEN = [
  ...['my cloud', 'tls-config', 'http proxy', 'reply.id', '^OK\\b', 'mymaster'],
  ...['devices.csv', 'temperature: °C, battery: %', 'a.invalid, b.invalid'],
  ...['redis://redis:6379', 'host1, host2'],
];

/** Runs in the page: the parts of visible typed inputs that a screen reader has no name for. */
const NAMELESS = `$('.red-ui-tray .red-ui-typedInput-container:visible')
  .find('.red-ui-typedInput-input, .red-ui-typedInput-type-select, .red-ui-typedInput-option-trigger')
  .filter(':visible').toArray()
  .filter((part) => (part.getAttribute('aria-labelledby') ?? '').split(' ')
    .some((id) => !/\\S/.test($('#' + id).text())))
  .map((part) => part.outerHTML)`;

type Language = 'en-US' | 'zh-CN';

/**
 * Loads nodes and their applications into the editor, and has a test for each that opens, saves and looks at its dialog; in
 * Chinese what depends on the texts alone.
 */
function looksAt(nodes: readonly FlowNode[], language: Language): World {
  const chinese = language === 'zh-CN';
  const here = world(() => [...new Set([...nodes, ...apps])], { language });
  // No colour depends on the language, and to change the theme draws the whole editor anew.
  if (!chinese) before(() => useDarkTheme(here.editor));
  for (const { id } of nodes) {
    it(`of ${id} shows every text in full${chinese ? '' : ', and saves what it was given'}`, async () => {
      const before = await exported(here.editor, id);
      await openDialog(here.editor, id);
      await here.editor.run(`$('.red-ui-tray .device-cloud-more').prop('open', true)`);
      await here.editor.picture(id);
      assert.deepEqual(await misfits(here.editor), []);
      if (chinese) {
        assert.deepEqual(await untranslatedTexts(here.editor, GIVEN), []);
        await closeDialog(here.editor, 'cancel');
        return;
      }
      assert.deepEqual(await untranslated(here.editor), []);
      assert.deepEqual(await here.editor.run(NAMELESS), [], 'names for screen readers');
      assert.deepEqual(await faint(here.editor), []);
      await closeDialog(here.editor);
      assert.deepEqual(await exported(here.editor, id), before);
      assert.equal(await here.editor.run(`RED.nodes.node('${id}').valid`), true);
    });
  }
  return here;
}

/** Opens, saves and looks at what a dialog shows only for other choices than a sample's. */
export function variantsIn(language: Language): void {
  describe(`the dialogs after other choices, in ${language}`, () => {
    looksAt(variants, language);
  });
}

/** Opens, saves and looks at the dialog and the help of every node in a language. */
export function dialogsIn(language: Language): void {
  const chinese = language === 'zh-CN';

  describe(`the dialogs in ${language}`, () => {
    const here = looksAt([...sampleNodes, ...apps], language);

    it('have help with property lists', async () => {
      for (const { type } of [...sampleNodes, apps[0]!]) {
        const help = await here.editor.run<string>(`RED.nodes.getNodeHelp('${type}')`);
        const [first] = /^<p>.*?<\/p>/s.exec(help) ?? [];
        assert.ok(first, `${type}: ${help.slice(0, 200)}`);
        assert.equal(isChinese(first) && /\p{Script=Han}/u.test(first), chinese, first);
        assert.doesNotMatch(help, /<p>:|^: /m);
      }
    });

    it('have help that fits into the sidebar, without pictures of the dialogs', async () => {
      for (const { type } of [...sampleNodes, apps[0]!]) {
        await here.editor.run(`RED.sidebar.help.show('${type}')`);
        await here.editor.page.waitForSelector('.red-ui-help h3');
        await here.editor.picture(`help-${type}`);
        assert.deepEqual(await helpMisfits(here.editor), [], type);
      }
    });

    it('belong to a category with a name', async () => {
      const name = await here.editor.page.innerText('#red-ui-palette-header-device_cloud');
      assert.equal(name.trim(), chinese ? '设备云' : 'device cloud');
    });

    it('belong to nodes whose labels say what they do, whatever is chosen', async () => {
      const labels = await here.editor.run<string[]>(
        `RED.nodes.filterNodes({ z: 'tab' }).filter((node) => /^device-cloud/.test(node.type))
          .flatMap((node) => {
            const form = $($('script[data-template-name="' + node.type + '"]').html());
            const choices = form.find('select').addBack('select').find('option').toArray().map((option) =>
              ({ [option.parentElement.id.replace('node-input-', '')]: option.value }));
            return [{}, ...choices].map((choice) =>
              RED.utils.getNodeLabel(Object.assign(Object.create(node), choice)));
          })`,
      );
      assert.ok(labels.length > 50, String(labels.length));
      for (const label of labels) {
        assert.doesNotMatch(label, /^node\.|__|device-cloud-|^$/);
        assert.ok(label.length < 24, label);
      }
    });
  });
}
