import assert from 'node:assert/strict';
import { CONNECTIONS } from '../../src/http/pool';
import type { DeviceCloudClient } from '../../src/client';
import { clientOf, simulator } from './support/client';
import { failure, failures } from './support/failure';
import { hang, httpService, json } from '../tooling/servers/http-service';
import { CHIPID, listen } from './support/listener';
import { gone, resources } from './support/resources';
import { settled, until } from '../tooling/until';

describe('closing a client', () => {
  it('ends every call with one error: running, waiting for the device, for a connection, for a pause', async () => {
    const service = await httpService(hang);
    const broken = await httpService(json({}, 503));
    const before = resources();
    const client = clientOf(service.baseUrl, { deviceGap: 60_000 });
    const other = clientOf(broken.baseUrl, { random: () => 1e6 });
    const pausing = failure(other.uploadHistory(1), 'SERVER_ERROR');
    await until(() => broken.requests.length === 1);
    const histories = Array.from({ length: CONNECTIONS - 1 }, () => client.uploadHistory(1));
    const running = failures([client.push(1, 'x'), ...histories], 'CONNECTION_LOST');
    await until(() => service.requests.length === CONNECTIONS);
    const waiting = failures(
      [client.push(1, 'y'), client.push(2, 'z'), client.devices()],
      'UNREACHABLE',
    );
    await settled();
    await Promise.all([client.close(), other.close(), running, waiting, pausing]);
    await until(() => service.sockets() + broken.sockets() === 0, 'the end of all connections');
    assert.deepEqual([service.requests.length, broken.requests.length], [CONNECTIONS, 1]);
    await gone(before);
  });

  it('closes idle connections and channels, those of pushes too, and leaves nothing behind', async () => {
    const service = await simulator();
    const before = resources();
    const client = clientOf(service.baseUrl, { deviceGap: 60_000 });
    const listeners = [listen(client), listen(client, '10000002')];
    for (const listener of listeners) await listener.state('connected');
    await client.pushOverChannel('10000003', 'x');
    await Promise.all([client.devices(), client.app(), client.push(CHIPID, 'x')]);
    await client.close();
    await until(() => service.sockets() === 0, 'the end of all connections');
    await gone(before);
    assert.deepEqual(
      listeners.flatMap(({ changes }) => changes.map(({ state }) => state)),
      ['connected', 'connected'],
      'a listener is not called for an intended end',
    );
  });

  it('may be done twice, or before the first call', async () => {
    const client = clientOf('http://127.0.0.1:9');
    await client.close();
    await Promise.all([client.close(), client.close()]);
    await failure(client.devices(), 'UNREACHABLE');
  });

  it('is permanent: later calls and channels open nothing', async () => {
    const service = await simulator();
    const before = resources();
    const client = clientOf(service.baseUrl);
    await client.close();
    const calls: ((client: DeviceCloudClient) => Promise<unknown>)[] = [
      (closed) => closed.push(1, 'x'),
      (closed) => closed.devices(),
      (closed) => closed.serverDevices(),
    ];
    for (const call of calls) await failure(call(client), 'UNREACHABLE');
    await failure(client.pushOverChannel(CHIPID, 'x'), 'NOT_CONNECTED');
    const listener = listen(client);
    assert.equal(listener.subscription.channel.state, 'disconnected');
    await gone(before);
    await settled(50);
    assert.deepEqual([service.sockets(), service.requests.length], [0, 0]);
    listener.subscription.release();
  });
});

describe('the end of a block', () => {
  it('releases what it uses: a listener, and the client', async () => {
    const cloud = await simulator({ devices: 1 });
    {
      await using client = clientOf(cloud.baseUrl);
      {
        using subscription = client.listen(CHIPID, {});
        await until(() => subscription.channel.state === 'connected');
        assert.equal(cloud.channels(), 1);
      }
      await until(() => cloud.channels() === 0, 'the channel is closed');
      client.listen(CHIPID, {});
      await until(() => cloud.channels() === 1);
    }
    await until(() => cloud.channels() === 0, 'the client has closed its channel');
  });
});
