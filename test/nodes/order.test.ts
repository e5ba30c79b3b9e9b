import assert from 'node:assert/strict';
import { cloudApp, load, node } from './support/flow';
import { send } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

describe('the order of commands', () => {
  useNodeRed();
  const chipid = '10000001';

  it('is that of arrival, one at a time, from any node', async () => {
    const cloud = await startCloud({ answerDelay: 5, offlineAfter: 60_000 });
    await load([cloudApp(cloud), node('push', { id: 'a' }), node('push', { id: 'b' })]);
    const texts = Array.from({ length: 20 }, (_, n) => String(n));
    await Promise.all(
      texts.map((payload, n) => send(n % 3 === 0 ? 'a' : 'b', { chipid, payload })),
    );
    const { received, maxInFlight } = cloud.device(chipid);
    assert.deepEqual([received.map(({ text }) => text), maxInFlight], [texts, 1]);
  });
});
