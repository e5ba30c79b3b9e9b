import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { node } from './support/flow';
import { call, fail } from './support/messages';
import { startWith, useNodeRed } from './support/node-red';

/** A few values that are no chip numbers: test/src has all of them. */
const BAD_CHIPIDS = [undefined, null, '', 1.5, '1.5', 2 ** 53, {}, [10000001], '../x'];

/** Every node that needs a chip number, with everything else valid. */
const NODES = [
  node('push'),
  node('push', { id: 'push-channel', transport: 'channel' }),
  node('gpio'),
  node('gpio', { id: 'gpio-read', operation: 'read', pin: '' }),
  node('reboot'),
  node('refresh'),
  node('rt-status', { key: 'uptime', keyType: 'str' }),
  node('history'),
  node('history', { id: 'history-pushes', operation: 'pushes' }),
];

describe('an invalid message', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(nodes = NODES): Promise<void> {
    cloud = await startWith(...nodes);
  }

  for (const { id } of NODES) {
    it(`causes no request of ${id} without a chip number, and a valid one does`, async () => {
      await start();
      const rest = { payload: 1, pin: 1 };
      await Promise.all(
        BAD_CHIPIDS.map((bad) => fail(id, { ...rest, chipid: bad }, 'INVALID_INPUT')),
      );
      assert.equal(cloud.requests.length, 0);
      await call(id, { ...rest, chipid });
      assert.equal(cloud.requests.length, 1);
    });
  }

  it('leads to an error that says which property of the message is missing', async () => {
    await start([
      ...NODES,
      node('push', { id: 'other', chipid: 'device.id' }),
      node('push', { id: 'any-format', format: 'msg' }),
      node('rt-status', { id: 'value', key: 'key', keyType: 'msg' }),
      node('gpio', { id: 'pin', pin: 'pin', pinType: 'msg' }),
    ]);
    const { error } = await fail('push', { payload: 'x' }, 'INVALID_INPUT');
    assert.match(error.message, /msg\.chipid is missing/);
    const other = await fail('other', { payload: 'x', chipid }, 'INVALID_INPUT');
    assert.match(other.error.message, /msg\.device\.id is missing/);
    const format = await fail('any-format', { payload: 'x', chipid }, 'INVALID_INPUT');
    assert.match(format.error.message, /msg\.format is missing/);
    const key = await fail('value', { chipid }, 'INVALID_INPUT');
    assert.match(key.error.message, /msg\.key is missing/);
    const pin = await fail('pin', { payload: 1, chipid }, 'INVALID_INPUT');
    assert.match(pin.error.message, /msg\.pin is missing/);
    // It is not missing, it is something else.
    const wrong = await fail('push', { payload: 'x', chipid: null }, 'INVALID_INPUT');
    assert.match(wrong.error.message, /but is null/);
  });

  it('leads to an error that says that the node has no device yet', async () => {
    await start([node('push', { chipid: '', chipidType: 'str' })]);
    const { error } = await fail('push', { payload: 'x' }, 'INVALID_INPUT');
    assert.match(error.message, /The node has no device/);
  });
});
