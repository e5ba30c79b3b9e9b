import assert from 'node:assert/strict';
import { until } from '../../tooling/until';
import { cloudApp, load, node } from './support/flow';
import { journal } from './support/journal';
import { shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

describe('the work node without a cluster', () => {
  useNodeRed();

  it('is not configured, and logs the reason', async () => {
    await load([cloudApp(await startCloud()), node('work')]);
    await shows('work', 'status.not-configured');
    const line = () => journal.logs.find(({ id }) => id === 'work');
    await until(() => line() !== undefined, 'it is logged');
    assert.match(String(line()?.msg), /has no cluster, and so no queue/);
  });

  it('refuses a misspelt choice', async () => {
    await load([cloudApp(await startCloud()), node('work', { acknowledge: 'acked' })]);
    await shows('work', 'status.invalid-input');
  });
});
