import assert from 'node:assert/strict';
import { mock } from 'node:test';
import helper from 'node-red-node-test-helper';
import { cloudApp, load, node } from './support/flow';
import { journal } from './support/journal';
import { arrivedAt } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

const CHIPID = '10000001';

describe('a listener, when the flow after it throws', () => {
  useNodeRed();

  for (const recover of ['off', 'reconnect']) {
    it(`logs the error and emits later uploads: recover ${recover}`, async () => {
      const cloud = await startCloud();
      await load([cloudApp(cloud), node('listen', { chipids: [CHIPID], recover })]);
      await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
      const listener = helper.getNode('listen')!;
      // As Node-RED's clone does at a message that is too deep, out of `send`.
      const { mock: send } = mock.method(listener, 'send', () => {
        throw new RangeError('Maximum call stack size exceeded');
      });
      cloud.upload(CHIPID, 'spoilt');
      await until(() => send.callCount() === 1, 'it has been sent');
      send.restore();
      cloud.upload(CHIPID, 'good');
      await until(() => arrivedAt('out').length === 1, 'the next one is emitted');
      assert.equal(arrivedAt('out')[0]?.payload, 'good');
      const logged = journal.logs.filter(({ msg }) => /Maximum call stack/.test(String(msg)));
      assert.equal(logged.length, 1);
      assert.equal(cloud.requests.filter(({ path }) => path === '/noticed/peer').length, 1);
    });
  }
});
