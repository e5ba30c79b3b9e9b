import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { ONE } from '../e2e/harness/fixture';
import { app, node } from '../../tooling/node-red/nodes';
import { world } from './world';

const listen = { ...node('listen', { chipids: [ONE] }), type: 'device-cloud-listen' };

/** Statuses in the place of `connected`, by the node's id: a test does not wait a minute, nor start three processes. */
const STATUS: Readonly<Record<string, string>> = {
  aged: 'status.upload-min-5',
  shared: '34/100 · 3 processes',
};

/** Replaces a status, as the node would send it. */
function replaceStatus(page: Page): Promise<void> {
  return page.routeWebSocket(/\/comms$/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => {
      const events = JSON.parse(String(message)) as { topic: string; data: { text?: string } }[];
      for (const { topic, data } of events) {
        const text = STATUS[topic.replace('status/', '')];
        if (text && data.text === 'status.connected') data.text = text;
      }
      socket.send(JSON.stringify(events));
    });
  });
}

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
      { language, ownPage: replaceStatus },
    );

    it('shows its channel, how long ago the last upload was, and how many devices and processes there are', async () => {
      for (const [id, text] of Object.entries(texts)) {
        await here.editor.page.waitForFunction(
          `$('#${id} .red-ui-flow-node-status-label').text() === ${JSON.stringify(text)}`,
        );
      }
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
