import assert from 'node:assert/strict';
import { ONE } from '../e2e/harness/devices';
import { app, node } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { world } from './world';

const listen = { ...node('listen', { chipids: [ONE] }), type: 'device-cloud-listen' };

for (const [language, text] of [
  ['en-US', 'connected'],
  ['zh-CN', '已连接'],
] as const) {
  describe(`a listener in ${language}`, () => {
    const here = world(
      (simulator) => [
        { id: 'tab', type: 'tab', label: 'Flow' },
        app(simulator),
        { ...listen, id: 'listen', z: 'tab', x: 200, y: 100, wires: [[]] },
      ],
      { language },
    );

    it('shows whether it is connected', async () => {
      // The page has not heard of a channel that was open before it showed the flows: that one opens again.
      here.simulator.disconnect(ONE);
      const shown = (): Promise<string> =>
        here.editor.run(`$('#listen .red-ui-flow-node-status-label').text()`);
      await until(async () => (await shown()) === text);
      await here.editor.picture(`listener-${language}`);
    });

    if (language === 'zh-CN') return;

    it('says in its help that connected is not about the device', async () => {
      await here.editor.run(`RED.sidebar.help.show('device-cloud-listen')`);
      const help = await here.editor.page.locator('.red-ui-help').last().innerText();
      assert.match(help, /channel stays connected while its device is off or asleep/);
    });
  });
}
