import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { ONE } from '../e2e/harness/fixture';
import { app, node } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { receive } from './browser';
import { world } from './world';

const listen = { ...node('listen', { chipids: [ONE] }), type: 'device-cloud-listen' };

for (const [language, texts] of [
  ['en-US', { listen: 'connected', aged: 'upload 5 min ago' }],
  ['zh-CN', { listen: '已连接', aged: '5 分钟前上报' }],
] as const) {
  describe(`a listener in ${language}`, () => {
    const here = world(
      (simulator) => [
        { id: 'tab', type: 'tab', label: 'Flow' },
        app(simulator),
        ...['listen', 'aged'].map((id, row) => {
          return { ...listen, id, z: 'tab', x: 200, y: 100 + 100 * row, wires: [[]] };
        }),
      ],
      { language },
    );

    it('shows whether it is connected, and the age of the last upload', async () => {
      const shown = (): Promise<Record<string, string>> =>
        here.editor.run(`Object.fromEntries(${JSON.stringify(Object.keys(texts))}.map((id) =>
          [id, $('#' + id + ' .red-ui-flow-node-status-label').text()]))`);
      // The page has not heard of a channel that was open before it showed the flows: that one opens again.
      here.simulator.disconnect(ONE);
      await until(async () => Object.values(await shown()).every((text) => text === texts.listen));
      // As Node-RED would send it after five minutes, and until it shows, since the status of the new channel may still come.
      const aged = { text: 'status.upload-min-5', fill: 'green', shape: 'dot' };
      await until(async () => {
        await receive(here.editor, 'status/aged', aged);
        return isDeepStrictEqual(await shown(), texts);
      });
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
