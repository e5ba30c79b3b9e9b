import assert from 'node:assert/strict';
import { app, placed, TAB } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { looksWell } from './look';
import { world } from './world';

const CHIPIDS = ['10000001', '10000002'];
const LINE = '.device-cloud-fleet-unacknowledged:visible';

describe('uploads that wait for an acknowledgement, in the sidebar', () => {
  const here = world((simulator) => [
    ...[TAB, app(simulator)],
    placed('listen', { chipids: CHIPIDS, acknowledge: 'ack' }),
  ]);

  it('are counted in a line, which goes with the last of them', async () => {
    const { page } = here.editor;
    await here.editor.run(`RED.sidebar.show('device-cloud-fleet')`);
    // A page that other tests have opened shows no status from before.
    const areOpen = (): boolean => CHIPIDS.every((chipid) => here.simulator.channels(chipid) > 0);
    await until(areOpen, 'the channels are open');
    for (const chipid of CHIPIDS) here.simulator.upload(chipid, '{"t":21.5}');
    await page.waitForFunction(`/ 2, /.test($('${LINE}').text())`);
    assert.match(
      await page.innerText(LINE),
      /^uploads that wait for an acknowledgement: 2, the first for \S+/,
    );
    await looksWell(here.editor, 'sidebar-acknowledge');
    await here.red.deploy([TAB, app(here.simulator)]);
    await page.waitForFunction(`$('${LINE}').length === 0`);
  });
});
