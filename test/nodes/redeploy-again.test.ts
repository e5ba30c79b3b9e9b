import assert from 'node:assert/strict';
import { cloudApp, deploy, load, node, simulatorApp } from './support/flow';
import { journal } from './support/journal';
import { call, post, send } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../../tooling/until';

describe('many redeploys', () => {
  useNodeRed();
  const chipid = '10000001';

  it('leave neither a timer nor a socket in the process once the flow is empty', async () => {
    const held = (): string =>
      process.getActiveResourcesInfo().filter((kind) => /^(TCP|Timeout)/.test(kind)).sort().join(); // prettier-ignore
    await load([]);
    const before = held();
    const cloud = await startCloud({ interval: 0 });
    const nodes = [
      cloudApp(cloud, { heartbeat: 1, ping: 1, deviceGap: 60_000 }),
      node('listen', { devices: 'online' }),
      node('push', { transport: 'channel' }),
      node('reboot'),
    ];
    await deploy(nodes);
    await call('push', { chipid, payload: 'x' });
    await call('reboot', { chipid: '10000002' });
    await until(() => cloud.channels() === 3, 'all is connected');
    await deploy([]);
    await until(() => cloud.sockets() === 0, 'the connections end');
    await cloud.close();
    await until(() => held() === before, `only ${before} is left`);
  });

  it('do no harm under traffic, and no command runs twice', async () => {
    const cloud = await startCloud();
    const flow = (name: string) => [
      cloudApp(cloud, { name }),
      node('push'),
      node('listen', { chipids: [chipid, '10000002'] }),
    ];
    await load(flow('first'));
    for (let round = 0; round < 25; round++) {
      for (let n = 0; n < 5; n++) post('push', { chipid, payload: `${round}.${n}` });
      cloud.upload(chipid, 'x');
      await deploy(flow(String(round)));
    }
    const { error } = await send('push', { chipid, payload: 'last' });
    assert.equal(error, undefined);
    assert.equal(journal.endings.length, 25 * 5 + 1);
    await until(() => cloud.channels() === 2, 'the channels are those of the last flow');
    const texts = cloud.device(chipid).received.map(({ text }) => text);
    assert.equal(new Set(texts).size, texts.length, 'no command acted twice');
  });

  it('do not confuse the simulator while it starts and stops', async () => {
    const flow = (name: string) => [simulatorApp({ name }), node('push', { name })];
    await load(flow('first'));
    for (let round = 0; round < 10; round++) {
      post('push', { chipid, payload: round });
      await deploy(flow(String(round)));
    }
    assert.deepEqual((await call('push', { chipid, payload: 'x' })).payload, { msg: 'OK' });
  });
});
