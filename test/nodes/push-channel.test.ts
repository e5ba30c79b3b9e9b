import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { call } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

describe('push over the channel', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(properties: object = {}): Promise<void> {
    cloud = await startCloud();
    const channel = { transport: 'channel', format: 'msg', ...properties };
    await load([cloudApp(cloud), node('push', channel)]);
  }

  it('opens the channel and delivers the text to the device', async () => {
    await start({ format: 'MSG' });
    const { _msgid, ...out } = await call('push', { chipid: 10000001, payload: 'hi', topic: 't' });
    assert.ok(_msgid);
    assert.deepEqual(out, { chipid, payload: { msg: 'sent' }, topic: 't' });
    await until(() => cloud.device(chipid).received.length === 1, 'it is received');
    assert.equal(cloud.device(chipid).received[0]?.via, 'channel');
    assert.equal(cloud.device(chipid).received[0]?.text, 'hi');
  });

  it('is sent to an application as a whole over HTTP only', async () => {
    await start({ target: 'app', format: 'MSG' });
    const out = await call('push', { payload: 'all' });
    assert.deepEqual(out.payload, { msg: 'success' });
    assert.equal(cloud.device(chipid).received[0]?.via, 'app-push');
  });
});
