import assert from 'node:assert/strict';
import { ONE } from '../e2e/harness/fixture';
import { app, node } from '../../tooling/node-red/nodes';
import { world } from './world';

describe('a listener to one device', () => {
  const listen = { ...node('listen', { chipids: [ONE] }), type: 'device-cloud-listen' };
  const here = world((simulator) => [
    { id: 'tab', type: 'tab', label: 'Flow' },
    app(simulator),
    { ...listen, id: 'listen', z: 'tab', x: 200, y: 100, wires: [[]] },
  ]);

  const shows = (text: string): Promise<unknown> =>
    here.editor.page.waitForFunction(
      `$('#listen .red-ui-flow-node-status-label').text() === ${JSON.stringify(text)}`,
    );

  it('shows that its channel is connected, and says in its help that this is not the device', async () => {
    await shows('connected');
    await here.editor.run(`RED.sidebar.help.show('device-cloud-listen')`);
    const help = await here.editor.page.locator('.red-ui-help').last().innerText();
    assert.match(help, /channel between Node-RED and the service, not the device/);
  });

  it('shows how long ago the last upload was', async () => {
    const { page } = here.editor;
    // A minute is too long for a test: the status comes as the node would send it.
    await page.routeWebSocket(/\/comms$/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        const text = String(message).replaceAll('status.connected', 'status.upload-min-5');
        socket.send(text);
      });
    });
    await page.reload();
    await shows('upload 5 min ago');
    await here.editor.picture('listener-age');
  });
});
