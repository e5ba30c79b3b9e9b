import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { node } from './support/flow';
import { call, fail, post, send, shows, statusesOf } from './support/messages';
import { startWith, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

const CALLING = { fill: 'blue', shape: 'dot', text: 'status.calling' };
const red = (key: string) => ({ fill: 'red', shape: 'ring', text: `status.${key}` });

describe('the status of an action node', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(): Promise<void> {
    cloud = await startWith(node('push'));
  }

  it('is a blue dot while calling, and gone after a success', async () => {
    await start();
    assert.deepEqual(statusesOf('push'), []);
    await call('push', { chipid, payload: 'x' });
    assert.deepEqual(statusesOf('push'), [CALLING, {}]);
  });

  it('is a red ring after a failure, until the next success', async () => {
    await start();
    cloud.fail('gateway', { times: 1 });
    await fail('push', { chipid, payload: 'x' }, 'GATEWAY');
    await call('push', { chipid, payload: 'x' });
    assert.deepEqual(statusesOf('push'), [CALLING, red('gateway-502'), CALLING, {}]);
  });

  it('stays blue as long as any call runs', async () => {
    await start();
    cloud.fail('hang', { chipid: '10000002' });
    post('push', { chipid: '10000002', payload: 'slow' });
    await until(() => cloud.requests.length === 1, 'it is under way');
    await call('push', { chipid, payload: 'quick' });
    assert.deepEqual(statusesOf('push'), [CALLING]);
  });

  it('is red for a moment if a call fails, and blue again while others run', async () => {
    await start();
    cloud.fail('hang', { chipid: '10000002' });
    post('push', { chipid: '10000002', payload: 'slow' });
    await until(() => cloud.requests.length === 1, 'it is under way');
    cloud.fail('gateway', { times: 1, chipid });
    await fail('push', { chipid, payload: 'x' }, 'GATEWAY');
    assert.deepEqual(
      statusesOf('push').find(({ text }) => text === 'status.gateway-502'),
      red('gateway-502'),
    );
    await shows('push', 'status.calling');
  });

  it('says how many commands are ahead of one that waits, and calling while any runs', async () => {
    cloud = await startWith(node('push'), node('reboot'), node('refresh'));
    cloud.fail('hang');
    post('push', { chipid, payload: 'slow' });
    await until(() => cloud.requests.length === 1, 'it is under way');
    post('refresh', { chipid });
    post('reboot', { chipid });
    await shows('reboot', 'status.waiting-2');
    await shows('refresh', 'status.waiting-1');
    post('reboot', { chipid: '10000002' });
    await shows('reboot', 'status.calling');
  });

  it('is not written again while nothing changes', async () => {
    await start();
    const messages = Array.from({ length: 20 }, (_, n) => ({ chipid, payload: n }));
    await Promise.all(messages.map((msg) => send('push', msg)));
    assert.deepEqual(statusesOf('push'), [CALLING, {}]);
  });
});
