import assert from 'node:assert/strict';
import { ONE } from '../e2e/harness/fixture';
import { app, node, type FlowNode } from '../../tooling/node-red/nodes';
import type { Simulator } from '../../src/simulator';
import type { Editor } from './browser';
import { world } from './world';

const listen = { ...node('listen', { chipids: [ONE] }), type: 'device-cloud-listen' };

const flows = (simulator: Simulator): FlowNode[] => [
  { id: 'tab', type: 'tab', label: 'Flow' },
  app(simulator),
  { ...listen, id: 'listen', z: 'tab', x: 200, y: 100, wires: [[]] },
];

const showsIn = ({ page }: Editor, text: string): Promise<unknown> =>
  page.waitForFunction(
    `$('#listen .red-ui-flow-node-status-label').text() === ${JSON.stringify(text)}`,
  );

/** Replaces `connected` by another status, as the node would send it. */
async function replaceStatus({ page }: Editor, by: string): Promise<void> {
  await page.routeWebSocket(/\/comms$/, (socket) => {
    const server = socket.connectToServer();
    server.onMessage((message) => socket.send(String(message).replaceAll('status.connected', by)));
  });
  await page.reload();
}

describe('a listener to one device', () => {
  const here = world(flows);
  const shows = (text: string): Promise<unknown> => showsIn(here.editor, text);

  it('shows that its channel is connected, and says in its help that this is not the device', async () => {
    await shows('connected');
    await here.editor.run(`RED.sidebar.help.show('device-cloud-listen')`);
    const help = await here.editor.page.locator('.red-ui-help').last().innerText();
    assert.match(help, /channel between Node-RED and the service, not the device/);
  });

  it('shows how long ago the last upload was', async () => {
    // A minute is too long for a test.
    await replaceStatus(here.editor, 'status.upload-min-5');
    await shows('upload 5 min ago');
    await here.editor.picture('listener-age');
  });
});

describe('a listener whose devices several processes share', () => {
  for (const [language, text] of [
    ['en-US', '34/100 · 3 processes'],
    ['zh-CN', '34/100 · 3 个进程'],
  ] as const) {
    describe(`in ${language}`, () => {
      const here = world(flows, { language });

      it('shows how many of them it has, and how many processes there are', async () => {
        await replaceStatus(here.editor, '34/100 · 3 processes');
        await showsIn(here.editor, text);
        await here.editor.picture(`listener-processes-${language}`);
      });
    });
  }
});
