import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { journal } from './support/journal';
import { shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

describe('a listener, when something goes wrong', () => {
  useNodeRed();
  let cloud: Simulator;
  const one = '10000001';

  it('reports an output that does not exist, and listens to nothing', async () => {
    cloud = await startCloud();
    await load([cloudApp(cloud), node('listen', { chipids: [one], datatype: 'JSON' as 'json' })]);
    await shows('listen', 'status.invalid-input');
    const texts = journal.logs.map(({ msg }) => String(msg));
    assert.ok(texts.some((text) => /"datatype" must be .*"JSON"/.test(text)));
    assert.equal(cloud.channels(), 0);
  });

  it('logs a fault of many devices as one line, and the remaining count when it closes', async () => {
    const devices = 20;
    cloud = await startCloud({ devices });
    const chipids = [...cloud.devices.keys()];
    await load([cloudApp(cloud), node('listen', { chipids, recover: 'reconnect' })]);
    await until(() => cloud.channels() === devices, 'the channels are open');
    cloud.fail('server-error', { path: 'up_messages' });
    cloud.disconnect(undefined, 1011);
    const failed = (): number =>
      cloud.requests.filter(({ path, status }) => path.includes('up_messages') && status === 500)
        .length;
    await until(() => failed() > devices, 'several histories have failed');
    const lines = (): string[] =>
      journal.logs.filter(({ id }) => id === 'listen').map(({ msg }) => String(msg));
    const down = (): string[] => lines().filter((line) => line.includes('is down'));
    const unread = (): string[] =>
      lines().filter((line) => line.includes('could not be recovered'));
    // A reading is tried three times before it counts as failed.
    await until(() => unread().length > 0, 'a history counts as unread');
    assert.deepEqual([down().length, unread().length], [1, 1], lines().join('\n'));
    assert.match(down()[0]!, /^Device \d+: /);
    await helper.unload();
    assert.match(down()[1]!, /^19 more of this kind/);
  });
});
