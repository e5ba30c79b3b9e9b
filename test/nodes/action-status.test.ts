import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { NodeStatus } from 'node-red';
import { waitingStatus } from '../../nodes/common/status';
import { failureStatus, STATUS } from '../../nodes/common/status';
import { DeviceCloudError, ERROR_CODES } from '../../src/errors';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { call, fail, post, send, shows, statusesOf } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

const CALLING = { fill: 'blue', shape: 'dot', text: 'status.calling' };
const red = (key: string) => ({ fill: 'red', shape: 'ring', text: `status.${key}` });

describe('the status of an action node', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(): Promise<void> {
    cloud = await startCloud();
    await load([cloudApp(cloud), node('push')]);
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

  it('turns red at once for a message that leads to no request', async () => {
    await start();
    await fail('push', { chipid: 'x', payload: 'x' }, 'INVALID_INPUT');
    assert.deepEqual(statusesOf('push').at(-1), red('invalid-input'));
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
    cloud = await startCloud();
    await load([cloudApp(cloud), node('push'), node('reboot'), node('refresh')]);
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

describe('the texts of a status', () => {
  const read = (language: string): Record<string, string> => {
    const text = readFileSync(`dist/nodes/push/locales/${language}/push.json`, 'utf8');
    return (JSON.parse(text) as { status: Record<string, string> }).status;
  };
  const statuses: NodeStatus[] = [
    ...[0, 1, 50, 99, 100, 1000].map(waitingStatus),
    ...Object.values(STATUS),
    ...ERROR_CODES.map((code) => failureStatus(new DeviceCloudError(code, ''))),
    failureStatus(new Error('any other')),
  ];

  for (const language of ['en-US', 'zh-CN']) {
    it(`are all in the catalogue of ${language}, short enough to be seen`, () => {
      const texts = read(language);
      for (const status of statuses) {
        const key = (status as { text?: string }).text;
        if (key === undefined) continue;
        const text = texts[key.replace('status.', '')];
        assert.ok(text, `${key} is not in the catalogue`);
        assert.ok(text.length < 20, `${text} is too long`);
      }
    });
  }
});
