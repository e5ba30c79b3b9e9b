import assert from 'node:assert/strict';
import { readProperties } from '../../nodes/common/settings';
import { DEVICE_CALL } from '../../nodes/common/shared.config';
import { cloudApp, load, node } from './support/flow';
import { fail } from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';

const msg = { chipid: '10000001', payload: 1, pin: 1, key: 'uptime' };

describe('the time-out of a node that waits for a device', () => {
  useNodeRed();

  const CALLS = [
    ['push', {}],
    ['gpio', {}],
    ['gpio', { operation: 'read' }],
    ['rt-status', {}],
    ['refresh', {}],
    ['reboot', {}],
  ] as const;

  it("is its own, not the application's", async () => {
    const cloud = await startCloud();
    cloud.fail('hang');
    const nodes = CALLS.map(([kind, properties], index) =>
      node(kind, { ...properties, id: `${kind} ${index}`, timeout: '1' }),
    );
    await load([cloudApp(cloud, { timeout: '60' }), ...nodes]);
    // A device has its commands one after the other.
    const ends = nodes.map(({ id }, index) =>
      fail(id, { ...msg, chipid: String(10000001 + index) }, 'TIMEOUT'),
    );
    for (const { error } of await Promise.all(ends))
      assert.match(
        error.message,
        /^TIMEOUT: no answer in 1 s\. .*Whether the device acted is unknown/,
      );
  });

  it('must be a number of seconds', async () => {
    const cloud = await startWith(...CALLS.map(([kind]) => node(kind, { timeout: 'soon' })));
    for (const [kind] of CALLS) await fail(kind, { ...msg }, 'NOT_CONFIGURED');
    assert.equal(cloud.requests.length, 0);
  });

  it('is 12 s for a node that was saved without one', () => {
    const read = (saved: Partial<typeof DEVICE_CALL>): number =>
      Number(readProperties(saved, DEVICE_CALL).config.timeout);
    assert.deepEqual(
      [read({}), ...['', ' ', '7', 0.5].map((timeout) => read({ timeout }))],
      [12, 12, 12, 7, 0.5],
    );
  });
});
