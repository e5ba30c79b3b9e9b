import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { AppNode } from '../../nodes/app/deployed';
import type { DeviceRecord } from '../../src/types';
import { ALWAYS_ONLINE, cloudApp, deploy, load, node, simulatorApp } from './support/flow';
import { arrivedAt, call, logged, send, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

/** Servers of this process that listen: the test helper's own, and simulators. */
const servers = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap').length;

describe('an application with the simulator as its service', () => {
  useNodeRed();
  const chipid = '10000001';

  it('needs no further settings: every node works', async () => {
    await load([
      simulatorApp(),
      node('push'),
      node('gpio', { pin: '5', pinType: 'num' }),
      node('devices'),
      node('server'),
      node('listen', { chipids: [chipid] }),
    ]);
    assert.deepEqual((await call('push', { chipid, payload: 'x' })).payload, { msg: 'OK' });
    assert.deepEqual((await call('gpio', { chipid, payload: 1 })).payload, { result: 'OK' });
    const devices = (await call('devices', {})).payload as DeviceRecord[];
    const listed = devices.map((device) => String(device.chipid));
    assert.deepEqual(listed.slice(0, ALWAYS_ONLINE.length), ALWAYS_ONLINE);
    assert.equal((await call('server', {}))['statusCode'], 200);
    await shows('listen', 'status.connected');
    await until(
      () => arrivedAt('out').some(({ topic }) => topic === chipid),
      'a living device uploads',
    );
    const reading = arrivedAt('out').find(({ topic }) => topic === chipid)?.payload as object;
    assert.deepEqual(Object.keys(reading), ['temperature', 'humidity']);
  });

  it('is started by its first user, shared by all, and stopped with the last', async () => {
    const before = servers();
    const two = [simulatorApp(), simulatorApp({ id: 'app2' })];
    await load(two);
    assert.equal(servers(), before, 'a config node that nobody uses starts nothing');
    const gpio = { pin: '7', pinType: 'num' };
    const one = node('gpio', { ...gpio, name: 'sets' });
    const other = node('gpio', { ...gpio, id: 'read', app: 'app2', operation: 'read' });
    await deploy([...two, one, other]);
    await call('gpio', { chipid, payload: 1 });
    assert.equal((await call('read', { chipid })).payload, 1, 'both see the same device');
    assert.equal(servers(), before + 1);

    await deploy([...two, other], 'nodes');
    assert.equal((await call('read', { chipid })).payload, 1, 'it runs on for the other');
    await deploy(two, 'nodes');
    await until(() => servers() === before, 'it has stopped');

    await deploy([...two, other], 'nodes');
    assert.equal((await call('read', { chipid })).payload, 1, 'another one goes on with it');
    assert.equal(servers(), before + 1);
  });

  it('accepts messages while it starts, in order', async () => {
    await load([simulatorApp(), node('push'), node('history', { operation: 'pushes' })]);
    const texts = Array.from({ length: 10 }, (_, n) => `${n}`);
    const ends = await Promise.all(texts.map((payload) => send('push', { chipid, payload })));
    assert.ok(ends.every(({ error }) => error === undefined));
    const { payload } = await call('history', { chipid });
    const bodies = (payload as { body: string }[]).map(({ body }) => body);
    assert.deepEqual(bodies, texts);
  });

  it('stops even while it is still starting', async () => {
    const before = servers();
    await load([simulatorApp(), node('push'), node('listen', { devices: 'online' })]);
    await deploy([]);
    await until(() => servers() === before, 'it has stopped');
  });
});

describe('an application', () => {
  useNodeRed();
  const chipid = '10000001';
  const app = () => helper.getNode('app') as AppNode;

  it('knows the nodes that use it, so that its errors and status reach them', async () => {
    const cloud = await startCloud();
    const users = [node('push'), node('server'), node('listen')];
    await load([cloudApp(cloud), ...users]);
    assert.deepEqual(Object.keys(app().users).sort(), ['listen', 'push', 'server']);
    assert.equal(app().users['push'], helper.getNode('push'));
    await deploy([cloudApp(cloud), node('server')], 'nodes');
    assert.deepEqual(Object.keys(app().users), ['server']);
    await deploy([cloudApp(cloud), node('server', { name: 'changed' })], 'nodes');
    assert.equal(app().users['server'], helper.getNode('server'));
  });

  it('says if another one is of the same application, once', async () => {
    const cloud = await startCloud();
    const nodes = [node('push'), node('push', { id: 'push2', app: 'app2' })];
    await load([cloudApp(cloud), cloudApp(cloud, { id: 'app2' }), ...nodes]);
    await call('push', { chipid, payload: 'one' });
    await call('push2', { chipid, payload: 'two' });
    assert.equal(logged(/is of the same application/).length, 1);
  });
});
