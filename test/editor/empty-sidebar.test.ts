import assert from 'node:assert/strict';
import { app, node } from '../tooling/node-red/nodes';
import { tabFaint } from './colours';
import { tabMisfits } from './layout';
import { NOTE, ofFleet } from './sidebar';
import { world } from './world';

describe('the sidebar without an application', () => {
  const here = world(() => []);

  it('requests nothing before it is shown', () => {
    assert.deepEqual(here.editor.requested.filter(ofFleet), []);
  });

  it('says what to do', async () => {
    const { page } = here.editor;
    await here.editor.run(`RED.sidebar.show('device-cloud-fleet')`);
    await page.waitForFunction(`/No application is deployed/.test($('${NOTE}').text())`);
    await here.editor.picture('sidebar-empty');
    assert.deepEqual(await tabMisfits(here.editor), []);
    assert.deepEqual(await tabFaint(here.editor), []);
  });

  it('shows the devices once somebody else has deployed one', async () => {
    const user = { ...node('push'), z: 'tab', x: 200, y: 100, wires: [[]] };
    const flow = { id: 'tab', type: 'tab', label: 'Flow' };
    const push = { ...user, type: 'device-cloud-push', id: 'push' };
    await here.red.deploy([flow, app(here.simulator), push]);
    await here.editor.page.waitForFunction(`/^3 of 3/.test($('${NOTE}').text())`);
  });
});
