import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { FaultName, Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { journal } from './support/journal';
import { arrivedAt, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../../tooling/until';

describe('listen, when something goes wrong', () => {
  useNodeRed();
  let cloud: Simulator;
  const one = '10000001';

  async function start(): Promise<void> {
    cloud = await startCloud();
    await load([cloudApp(cloud), node('listen', { chipids: [one] })]);
  }
  const connected = (chipid: string): Promise<void> =>
    until(() => cloud.channels(chipid) === 1, `the channel of ${chipid} is open`);
  const payloads = (): unknown[] => arrivedAt('out').map(({ payload }) => payload);
  const emitted = (payload: string): Promise<void> =>
    until(() => payloads().includes(payload), `${payload} is emitted`);

  it('reconnects by itself, however the channel ended', async () => {
    await start();
    for (const end of [{ code: 1011 }, { terminate: true }]) {
      await connected(one);
      cloud.disconnect(one, end);
      await until(() => cloud.channels(one) === 0, 'the channel is closed');
      await connected(one);
      cloud.upload(one, JSON.stringify(end).slice(1, -1));
      await emitted(JSON.stringify(end).slice(1, -1));
    }
    const stamps = cloud.requests
      .filter(({ path }) => path === '/noticed/peer')
      .map(({ query }) => new URLSearchParams(query));
    assert.equal(stamps.length, 3);
    assert.equal(new Set(stamps.map((query) => query.get('sign'))).size, 3);
    assert.match(stamps[0]!.get('timestamp') ?? '', /^\d{13}$/);
  });

  it('waits for a service that is not there yet', async () => {
    cloud = await startCloud();
    const heal = cloud.fail('reset-upgrade');
    await load([cloudApp(cloud), node('listen', { chipids: [one] })]);
    await shows('listen', 'status.disconnected');
    heal();
    await connected(one);
    cloud.upload(one, 'at last');
    await emitted('at last');
  });

  it('logs what happens to many devices as one line, and the remaining count when it closes', async () => {
    const devices = 20;
    cloud = await startCloud({ devices });
    const chipids = [...cloud.devices.keys()];
    await load([cloudApp(cloud), node('listen', { chipids, recover: 'reconnect' })]);
    await until(() => cloud.channels() === devices, 'the channels are open');
    cloud.fail('server-error', { path: 'up_messages' });
    cloud.disconnect(undefined, { code: 1011 });
    const failed = (): number =>
      cloud.requests.filter(({ path, status }) => path.includes('up_messages') && status === 500).length; // prettier-ignore
    await until(() => failed() > devices, 'several histories have failed');
    const lines = (): string[] =>
      journal.logs.filter(({ id }) => id === 'listen').map(({ msg }) => String(msg));
    const down = (): string[] => lines().filter((line) => line.includes('is down'));
    const unread = (): string[] =>
      lines().filter((line) => line.includes('could not be recovered'));
    assert.deepEqual([down().length, unread().length], [1, 1], lines().join('\n'));
    assert.match(down()[0]!, /^Device \d+: /);
    await helper.unload();
    assert.match(down()[1]!, /^19 more of this kind/);
  });

  const ODD: FaultName[] = [
    ...(['bad-json', 'not-an-object', 'bad-base64', 'other-chipid', 'missing-fields'] as const),
    ...(['unknown-type', 'binary'] as const),
  ];
  for (const fault of ODD) {
    it(`skips an event that is malformed (${fault}), and goes on`, async () => {
      await start();
      await connected(one);
      cloud.fail(fault, { times: 1 });
      cloud.upload(one, 'odd');
      cloud.upload(one, 'good');
      await emitted('good');
      assert.deepEqual(payloads(), ['good']);
      assert.equal(cloud.requests.filter(({ path }) => path === '/noticed/peer').length, 1);
    });
  }
});
