import assert from 'node:assert/strict';
import nodeRed from '@node-red/util';
import { Redis } from 'ioredis';
import { DEFAULTS } from '../../nodes/history/history.config';
import { readKept } from '../../nodes/common/device-call';
import { action } from '../../nodes/history/history.runtime';
import type { Simulator } from '../../src/simulator';
import type { FlowNode } from '../tooling/node-red/nodes';
import { atEnd } from '../tooling/servers/at-end';
import { startRedis } from '../tooling/servers/redis';
import { until } from '../tooling/until';
import { describeOnRedis } from '../support/redis';
import { cloudApp, load, node } from './support/flow';
import { journal } from './support/journal';
import { call, fail, logged, shows, statusesOf } from './support/messages';
import { ask } from './support/routes';
import { startCloud, useNodeRed } from './support/node-red';

const CHIPID = '10000001';

const cluster = (properties: object = {}): FlowNode => ({
  ...{ id: 'cluster', type: 'device-cloud-cluster', url: 'redis://127.0.0.1:1', lease: 2 },
  ...properties,
});
const shared = (cloud: Simulator, properties: object = {}): FlowNode =>
  cloudApp(cloud, { cluster: 'cluster', ...properties });

/** What is wrong, as properties of the cluster, and what the error says. */
const WRONG: Record<string, [properties: object, text: RegExp]> = {
  'no address': [{ url: '' }, /needs a url/],
  'an address of something else': [{ url: 'http://localhost' }, /begin with redis:\/\//],
  'a path in the address': [{ url: 'redis://localhost/a/b' }, /number of a database/],
  'a variable that is not set': [{ url: '${DEVICE_CLOUD_TEST_UNSET}' }, /TEST_UNSET is not set/],
  'both kinds of address': [{ sentinels: 'a:1' }, /both a url and sentinels/],
  'Sentinels without a name': [{ url: '', sentinels: 'a:1' }, /name of the master/],
  'a Sentinel that is no host': [{ url: '', sentinels: 'a:1,b:x', master: 'm' }, /host and a port/],
  'a short lease': [{ lease: 1 }, /lease of the cluster must be/],
  'an object for a text': [{ url: {} }, /"url" must be text/],
  'a TLS configuration that is gone': [{ tls: 'gone' }, /TLS configuration is missing/],
  'a cluster that is gone': [{ id: 'other' }, /cluster configuration .* missing or disabled/],
};

describe('a cluster', () => {
  useNodeRed();

  for (const [what, [properties, text]] of Object.entries(WRONG))
    it(`says what is wrong: ${what}`, async () => {
      const cloud = await startCloud();
      await load([shared(cloud), cluster(properties), node('push')]);
      await shows('push', 'status.not-configured');
      const { error } = await fail('push', { chipid: CHIPID, payload: 'x' }, 'NOT_CONFIGURED');
      assert.match(error.message, text);
      assert.equal(cloud.requests.length, 0);
    });

  it('is of no use to the built-in simulator, which is of one process', async () => {
    await load([
      { id: 'app', type: 'device-cloud-app', service: 'simulator', cluster: 'cluster' },
      cluster(),
      node('push'),
    ]);
    await call('push', { chipid: CHIPID, payload: 'x' });
  });

  it('needs listeners that recover', async () => {
    const cloud = await startCloud();
    await load([shared(cloud), cluster(), node('listen', { chipids: [CHIPID], recover: 'off' })]);
    await shows('listen', 'status.invalid-input');
    assert.equal(logged(/"Recover" must not be "off"/).length, 1);
  });

  it('is said to be away: nothing is sent', async () => {
    const cloud = await startCloud();
    await load([
      shared(cloud),
      cluster(),
      node('listen', { chipids: [CHIPID] }),
      node('push', { timeout: 1 }),
      node('events', { devices: 'all' }),
    ]);
    for (const id of ['listen', 'events']) await shows(id, 'status.awaiting-cluster');
    const { error } = await fail('push', { chipid: CHIPID, payload: 'x' }, 'UNREACHABLE');
    assert.match(error.message, /Nothing was sent/);
    assert.ok(logged(/engine of the cluster cannot be used: .*ECONNREFUSED/).length > 0);
    assert.equal(cloud.device(CHIPID).received.length, 0);
  });
});

describe('a command that was given back to its node', () => {
  it('is left to the process that has its device by then: it is not made again', async () => {
    let isLetGo = false;
    const kept = { chipids: [CHIPID], of: () => undefined, letGo: () => (isLetGo = true) };
    const { goOn } = readKept({ plan: { call: 'push', args: ['x'] }, isMany: false, msg: {} });
    const client = { push: () => assert.fail('it is made again'), fleet: {} };
    const call = { client, node: { id: 'push' }, msg: {} };
    const given = goOn(...([call, kept] as unknown as Parameters<typeof goOn>));
    await assert.rejects(given, { code: 'UNREACHABLE' });
    assert.equal(isLetGo, true);
  });
});

describe('a history for new records only, in a cluster', () => {
  it('gives the marks back if what it has read cannot be emitted', async () => {
    let isBack = false;
    const lent = {
      get: () => assert.fail('nothing can be read of it'),
      giveBack: () => Promise.resolve(void (isBack = true)),
    };
    const call = {
      app: { cluster: () => ({ lend: () => Promise.resolve(lent) }), charset: 'utf-8' },
      client: {
        appHistory: () => Promise.resolve({ statusCode: 200, body: [{ id: 1, chipid: CHIPID }] }),
      },
      config: { ...DEFAULTS, operation: 'sync', incremental: true },
      ...{ inputs: { begin: '20260101', end: '20260102' }, msg: {}, node: { id: 'history' } },
    };
    const reading = action.perform(call as unknown as Parameters<typeof action.perform>[0]);
    await assert.rejects(Promise.resolve(reading), /nothing can be read of it/);
    assert.equal(isBack, true);
  });
});

describeOnRedis('a cluster of one', () => {
  useNodeRed();

  it('keeps what was seen of a device before it had any, for whoever has it next', async () => {
    const cloud = await startCloud();
    const redis = await startRedis();
    atEnd(() => redis.end());
    const engine = new Redis(redis.url);
    atEnd(() => engine.disconnect());
    await load([
      shared(cloud),
      cluster({ url: redis.url }),
      node('events', { devices: 'all', start: 'none' }),
    ]);
    await until(async () => {
      const shares = await engine.keys('{dc:*:s:*');
      const fields = await Promise.all(shares.map((share) => engine.hkeys(share)));
      const kept = fields.flat();
      return kept.includes('event:events:list') && kept.includes(`event:events:${CHIPID}`);
    }, 'the states of the list and of the device are kept');
    const { text } = await ask('metrics');
    assert.match(text, /^device_cloud_shares_owned\{application="app"\} 64$/m);
  });

  it('shows that something has to be changed as long as that is so, and says once what', async () => {
    const cloud = await startCloud();
    const redis = await startRedis({ config: ['requirepass secret'] });
    atEnd(() => redis.end());
    await load([
      shared(cloud),
      cluster({ url: redis.url }),
      node('listen', { chipids: [CHIPID] }),
      node('events', { devices: 'all' }),
      node('push', { timeout: 1 }),
    ]);
    for (const id of ['listen', 'events']) await shows(id, 'status.check-cluster');
    const { error } = await fail('push', { chipid: CHIPID, payload: 'x' }, 'UNREACHABLE');
    assert.match(error.message, /refuses the user or the password\. Nothing was sent/);
    const errors = journal.logs.filter(({ level }) => level === nodeRed.log.ERROR);
    assert.match(errors.map(({ msg }) => String(msg)).join('\n'), /^[^\n]*the password\.$/);
    const engine = new Redis(redis.url, { password: 'secret' });
    atEnd(() => engine.disconnect());
    await engine.config('SET', 'requirepass', '');
    for (const id of ['listen', 'events'])
      await until(() => statusesOf(id).at(-1)?.text !== 'status.check-cluster', 'it is over');
  });

  it('has one configuration of an application: nodes of a second one would miss uploads', async () => {
    const cloud = await startCloud();
    const redis = await startRedis();
    atEnd(() => redis.end());
    await load([
      shared(cloud),
      { ...shared(cloud), id: 'app2' },
      cluster({ url: redis.url }),
      node('listen', { chipids: [CHIPID] }),
      { ...node('push'), app: 'app2' },
    ]);
    await shows('listen', 'status.connected');
    const { error } = await fail('push', { chipid: CHIPID, payload: 'x' }, 'NOT_CONFIGURED');
    assert.match(error.message, /"app" is of the same application/);
  });
});
