import assert from 'node:assert/strict';
import { app, placed, TAB } from '../tooling/node-red/nodes';
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
    await here.red.deploy([TAB, app(here.simulator), placed('push')]);
    await here.editor.page.waitForFunction(`/^3 of 3/.test($('${NOTE}').text())`);
  });
});
