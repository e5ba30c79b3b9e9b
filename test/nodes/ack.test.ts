import assert from 'node:assert/strict';
import { cloudApp, load, node } from './support/flow';
import { fail } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

describe('the ack node without a cluster', () => {
  useNodeRed();

  it('refuses an invalid token before it looks for the cluster', async () => {
    await load([cloudApp(await startCloud()), node('ack')]);
    for (const ack of [undefined, null, 7, {}]) {
      const { error } = await fail('ack', { ack }, 'INVALID_INPUT');
      assert.match(error.message, /msg\.ack must be the token/);
    }
    const { error } = await fail('ack', { ack: '3:1700000000000-0' }, 'NOT_CONFIGURED');
    assert.match(error.message, /has no cluster/);
  });
});
