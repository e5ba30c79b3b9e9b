import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { call, fail } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

const VALUES: Record<string, unknown> = {
  number: 21.5,
  zero: 0,
  text: 'ein Wert',
  empty: '',
  no: false,
  nothing: null,
  list: [1, [2]],
  object: { a: { b: 1 } },
  'a b&c=%2F/ä😀': 'odd key',
};

describe('the rt-status node', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(properties: object = {}): Promise<void> {
    cloud = await startCloud({ devices: [{ chipid, callbacks: VALUES }] });
    await load([cloudApp(cloud), node('rt-status', properties)]);
  }

  it('reads the value of the callback, whatever its shape', async () => {
    await start();
    for (const [key, value] of Object.entries(VALUES)) {
      const { _msgid, ...out } = await call('rt-status', { chipid, key, payload: 1, topic: 't' });
      assert.ok(_msgid);
      assert.deepEqual(out, { chipid, key, payload: value, topic: 't', statusCode: 200 });
    }
    assert.equal(cloud.requests[0]?.path, `/openapi/rt_status/${chipid}/`);
  });

  it('reads the callback that the node names', async () => {
    await start({ key: 'text', keyType: 'str' });
    const out = await call('rt-status', { chipid, key: 'number' });
    assert.equal(out.payload, 'ein Wert');
  });

  it('gives the value as the node says', async () => {
    await start({ datatype: 'utf8' });
    assert.equal((await call('rt-status', { chipid, key: 'list' })).payload, '[1,[2]]');
  });

  it('refuses an invalid key, before anything is sent', async () => {
    await start();
    for (const key of [undefined, null, '', 5, true, {}, ['a'], 'half \ud800']) {
      await fail('rt-status', { chipid, key }, 'INVALID_INPUT');
    }
    assert.equal(cloud.requests.length, 0);
  });

  it('fails with NOT_FOUND when the device has no such callback', async () => {
    await start();
    const caught = await fail('rt-status', { chipid, key: 'unknown' }, 'NOT_FOUND');
    assert.equal(caught['statusCode'], 404);
  });
});
