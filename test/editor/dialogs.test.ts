import assert from 'node:assert/strict';
import { closeDialog, cutOff, exported, openDialog, untranslated } from './dialog';
import { apps, sampleNodes, variants } from './samples';
import { world } from './world';

const nodes = [...sampleNodes, ...variants, ...apps];

for (const language of ['en-US', 'zh-CN']) {
  describe(`the dialogs in ${language}`, () => {
    const here = world(() => nodes, { language });

    for (const { id } of nodes) {
      it(`of ${id} shows every text whole, and saves what it was given`, async () => {
        const before = await exported(here.editor, id);
        await openDialog(here.editor, id);
        await here.editor.run(`$('#device-cloud-advanced').prop('open', true)`);
        await here.editor.picture(id);
        assert.deepEqual(await untranslated(here.editor), []);
        assert.deepEqual(await cutOff(here.editor), []);
        await closeDialog(here.editor);
        assert.deepEqual(await exported(here.editor, id), before);
        assert.equal(await here.editor.run(`RED.nodes.node('${id}').valid`), true);
      });
    }

    it('have a help with property lists', async () => {
      for (const { type } of sampleNodes) {
        const help = await here.editor.run<string>(`RED.nodes.getNodeHelp('${type}')`);
        assert.match(help, /^<p>/);
        assert.match(help, /<dl class="message-properties">/);
        assert.doesNotMatch(help, /<p>:|^: /m);
      }
      await here.editor.run(`RED.sidebar.help.show('device-cloud-push')`);
      await here.editor.page.waitForSelector('.red-ui-help .message-properties');
      await here.editor.picture('help');
    });

    it('are of a category with a name', async () => {
      const name = await here.editor.page.innerText('#red-ui-palette-header-device_cloud');
      assert.equal(name.trim(), language === 'zh-CN' ? '设备云' : 'device cloud');
    });

    it('are of nodes that say what they do', async () => {
      const labels = await here.editor.run<string[]>(
        `RED.nodes.filterNodes({ z: 'tab' }).filter((node) => /^device-cloud/.test(node.type))
          .map((node) => RED.utils.getNodeLabel(node))`,
      );
      assert.equal(labels.length, sampleNodes.length + variants.length);
      for (const label of labels) assert.doesNotMatch(label, /^node\.|__|device-cloud-|^$/);
    });
  });
}
