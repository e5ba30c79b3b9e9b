import { cloudApp, deploy, load, node } from './support/flow';
import { call, post, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

describe('many redeploys', () => {
  useNodeRed();
  const chipid = '10000001';

  it('leave neither a timer nor a socket in the process once the flow is empty', async () => {
    const held = (): Map<string, number> => {
      const kinds = process.getActiveResourcesInfo().filter((kind) => /^(TCP|Timeout)/.test(kind));
      return new Map(kinds.map((kind) => [kind, kinds.filter((each) => each === kind).length]));
    };
    await load([]);
    const before = held();
    const cloud = await startCloud({ interval: 0 });
    const nodes = [
      cloudApp(cloud, { heartbeat: 1, ping: 1, deviceGap: 60_000 }),
      node('listen', { devices: 'online' }),
      node('push', { transport: 'channel' }),
      node('reboot'),
      node('events', { events: ['presence', 'channel'], refresh: 1, silence: 60 }),
      node('request', { match: 'pattern', pattern: 'never' }),
      node('push', { id: 'held', when: 'upload' }),
      node('latest'),
    ];
    await deploy(nodes);
    await call('push', { chipid, payload: 'x' });
    await call('reboot', { chipid: '10000002' });
    await until(() => cloud.channels() === 3, 'all is connected');
    cloud.fail('hang', { path: 'up_messages' });
    post('held', { chipid, payload: 'x' });
    post('request', { chipid: '10000003', payload: 'x' });
    post('latest', { chipid: '10000003' });
    await shows('held', 'status.awaiting-device');
    await shows('request', 'status.awaiting-reply');
    await deploy([]);
    await until(() => cloud.sockets() === 0, 'the connections end');
    await cloud.close();
    // Something of before may have ended meanwhile.
    const isMore = ([kind, count]: [string, number]): boolean => count > (before.get(kind) ?? 0);
    await until(() => ![...held()].some(isMore), 'no more is left than before');
  });
});
