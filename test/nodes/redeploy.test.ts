import assert from 'node:assert/strict';
import flows from '@node-red/runtime/lib/flows';
import { cloudApp, deploy, load, node, watchSinks } from './support/flow';
import { journal } from './support/journal';
import { arrivedAt, call, emitted, fail, post, send, shows, statusesOf } from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

// That every message ended in one `done`, that no node spoke after its close and that no connection
// was left is checked after each test, of these as of all others.

const codes = (): unknown[] =>
  journal.endings.map(({ error }) => (error as { code?: string } | undefined)?.code);

describe('a redeploy', () => {
  useNodeRed();
  const chipid = '10000001';

  it('ends the calls that are still queued, which are never sent', async () => {
    const cloud = await startWith(node('push'), node('reboot'));
    cloud.fail('hang');
    for (let n = 0; n < 50; n++) post('push', { chipid, payload: n });
    post('reboot', { chipid });
    await until(() => cloud.requests.length === 1, 'the first is under way');
    const statuses = statusesOf('push');
    await deploy([cloudApp(cloud), node('reboot')], 'nodes');
    assert.equal(journal.endings.length, 50);
    assert.deepEqual(statusesOf('push'), statuses, 'a node that is gone shows no status');
    for (const { error } of journal.endings) assert.match(String(error), /device 10000001/);
    assert.deepEqual(new Set(codes()), new Set(['CONNECTION_LOST', 'UNREACHABLE']));
    assert.equal(codes().filter((code) => code === 'UNREACHABLE').length, 49);
    const lines = journal.logs.filter(({ id }) => id === 'push').map(({ msg }) => msg);
    assert.deepEqual(
      lines,
      journal.endings.map(({ error }) => error),
      'the log says each once',
    );
    await until(() => cloud.requests.length === 2, "another node's command has its turn");
    assert.equal(cloud.requests[1]?.path, `/openapi/reboot/dev/${chipid}/`);
  });

  it('of the application ends all calls of its nodes, and new ones go to the new address', async () => {
    const [first, second] = [await startCloud(), await startCloud()];
    await load([cloudApp(first), node('push'), node('listen', { chipids: [chipid] })]);
    await shows('listen', 'status.connected');
    first.fail('hang');
    for (let n = 0; n < 5; n++) post('push', { chipid, payload: n });
    await until(
      () => first.requests.some(({ path }) => path.includes('push')),
      'the first is under way',
    );
    await deploy([cloudApp(second), node('push'), node('listen', { chipids: [chipid] })], 'nodes');
    assert.equal(journal.endings.length, 5);
    await until(() => first.sockets() === 0, 'the old connections end');
    await call('push', { chipid, payload: 'to the second' });
    assert.equal(second.device(chipid).received[0]?.text, 'to the second');
    await until(() => second.channels(chipid) === 1, 'the new channel opens');
  });

  it('without the application turns its nodes red, and with it they work again', async () => {
    const cloud = await startWith(node('push'), node('listen', { chipids: [chipid] }));
    await shows('listen', 'status.connected');
    const disabled = cloudApp(cloud, { d: true });
    await deploy([disabled, node('push'), node('listen', { chipids: [chipid] })], 'nodes');
    await shows('listen', 'status.not-configured');
    await fail('push', { chipid, payload: 'x' }, 'NOT_CONFIGURED');
    await until(() => cloud.sockets() === 0, 'the connections end');
    await deploy([cloudApp(cloud), node('push'), node('listen', { chipids: [chipid] })], 'nodes');
    await call('push', { chipid, payload: 'x' });
    await shows('listen', 'status.connected');
  });

  it('keeps a channel that another node still listens on', async () => {
    const cloud = await startCloud();
    const listen = { chipids: [chipid] };
    const other = node('listen', { ...listen, id: 'other' });
    await load([cloudApp(cloud), node('listen', listen), other]);
    await shows('other', 'status.connected');
    await deploy([cloudApp(cloud), other], 'nodes');
    cloud.upload(chipid, 'still here');
    await until(() => arrivedAt('out').length === 1, 'it is emitted');
    assert.equal(cloud.requests.filter(({ path }) => path === '/noticed/peer').length, 1);
  });

  it('that only stops and starts the flow ends the connections, and both nodes work again', async () => {
    const cloud = await startWith(node('push'), node('listen', { chipids: [chipid] }));
    await shows('listen', 'status.connected');
    await flows.stopFlows();
    await until(() => cloud.sockets() === 0, 'nothing is open');
    await flows.startFlows();
    await until(() => cloud.channels(chipid) === 1, 'the channel is open');
    const { error } = await send('push', { chipid, payload: 'x' });
    assert.equal(error, undefined);
    watchSinks();
    cloud.upload(chipid, 'good');
    await emitted('good');
  });
});
