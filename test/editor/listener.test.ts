import assert from 'node:assert/strict';
import { ONE } from '../e2e/harness/fixture';
import { app, node } from '../../tooling/node-red/nodes';
import { receive } from './browser';
import { world } from './world';

const listen = { ...node('listen', { chipids: [ONE] }), type: 'device-cloud-listen' };

/** Statuses that Node-RED would send after a minute, or with three processes, by the node's id. */
const LATER: Readonly<Record<string, string>> = {
  aged: 'status.upload-min-5',
  shared: '34/100 · 3 processes',
};

for (const [language, texts] of [
  ['en-US', { listen: 'connected', aged: 'upload 5 min ago', shared: '34/100 · 3 processes' }],
  ['zh-CN', { listen: '已连接', aged: '5 分钟前上报', shared: '34/100 · 3 个进程' }],
] as const) {
  describe(`a listener in ${language}`, () => {
    const here = world(
      (simulator) => [
        { id: 'tab', type: 'tab', label: 'Flow' },
        app(simulator),
        ...['listen', 'aged', 'shared'].map((id, row) => {
          return { ...listen, id, z: 'tab', x: 200, y: 100 + 100 * row, wires: [[]] };
        }),
      ],
      { language },
    );

    it('shows whether it is connected, the age of the last upload, and how many devices and processes there are', async () => {
      const shows = (id: string, text: string): Promise<unknown> =>
        here.editor.page.waitForFunction(
          `$('#${id} .red-ui-flow-node-status-label').text() === ${JSON.stringify(text)}`,
        );
      // The page has not heard of a channel that was open before it showed the flows: that one opens again.
      here.simulator.disconnect(ONE);
      for (const id of Object.keys(texts)) await shows(id, texts.listen);
      for (const [id, text] of Object.entries(LATER)) {
        await receive(here.editor, `status/${id}`, { text, fill: 'green', shape: 'dot' });
      }
      for (const [id, text] of Object.entries(texts)) await shows(id, text);
      await here.editor.picture(`listener-${language}`);
    });

    if (language === 'zh-CN') return;

    it('says in its help that connected is not about the device', async () => {
      await here.editor.run(`RED.sidebar.help.show('device-cloud-listen')`);
      const help = await here.editor.page.locator('.red-ui-help').last().innerText();
      assert.match(help, /channel between Node-RED and the service, not the device/);
    });
  });
}
