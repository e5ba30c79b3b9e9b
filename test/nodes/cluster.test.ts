import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { ClusterTestResult } from '../../nodes/cluster/cluster.config';
import type { FlowNode } from '../../tooling/node-red/nodes';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { journal } from './support/journal';
import { fail, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { CANARIES, PROXY_CANARIES, TYPED_CANARIES } from './support/secrets';

const NOWHERE = 'redis://127.0.0.1:1';
const STORED = { user: PROXY_CANARIES.username, password: PROXY_CANARIES.password };

const cluster = (properties: object = {}): FlowNode => ({
  id: 'cluster',
  type: 'device-cloud-cluster',
  url: NOWHERE,
  ...properties,
});

/** Starts a flow whose cluster has stored credentials. */
const start = (nodes: FlowNode[], credentials: object = STORED): Promise<void> =>
  load(nodes, { app: { ...CANARIES }, cluster: credentials });

describe('an application whose cluster is misconfigured or unavailable', () => {
  useNodeRed();
  let cloud: Simulator;
  beforeEach(async () => {
    cloud = await startCloud();
  });

  const CASES: readonly [what: string, nodes: () => FlowNode[], message: RegExp][] = [
    ['missing', () => [], /cluster of the application is missing or disabled/],
    ['without an address', () => [cluster({ url: '' })], /needs a url/],
    ['at no address of Redis', () => [cluster({ url: 'http://x' })], /redis:\/\/ or rediss:\/\//],
    ['with a lease that is too short', () => [cluster({ lease: '1' })], /lease.*from 2 to 60/],
    ['with a lease that is no number', () => [cluster({ lease: 'abc' })], /from 2 to 60.*"abc"/],
    [
      'with an address and Sentinels',
      () => [cluster({ sentinels: '127.0.0.1:1', master: 'm' })],
      /both a url and sentinels/,
    ],
    ['at a variable that is not set', () => [cluster({ url: '${TEST_NOT_SET}' })], /TEST_NOT_SET/],
    [
      'at an address with a variable that is not set',
      () => [cluster({ url: 'redis://${TEST_NOT_SET}:6379' })],
      /TEST_NOT_SET is not set/,
    ],
    [
      'with Sentinels and no name of the primary',
      () => [cluster({ url: '', sentinels: '127.0.0.1:1' })],
      /name of the master/,
    ],
  ];
  for (const [what, nodes, message] of CASES) {
    it(`is not configured: ${what}`, async () => {
      await start([...nodes(), cloudApp(cloud, { cluster: 'cluster' }), node('push')]);
      await shows('push', 'status.not-configured');
      const caught = await fail('push', { chipid: '10000001', payload: 'x' }, 'NOT_CONFIGURED');
      assert.match(caught.error.message, message);
      assert.equal(cloud.requests.length, 0);
    });
  }

  for (const [property, value] of [
    ['recover', 'off'],
    ['shard', '0/2'],
  ] as const) {
    it(`reports its listeners as not configured with ${property} ${value}`, async () => {
      const listen = node('listen', { chipids: ['10000001'], [property]: value });
      await start([cluster(), cloudApp(cloud, { cluster: 'cluster' }), listen]);
      await shows('listen', 'status.not-configured');
      assert.equal(cloud.channels(), 0);
    });
  }

  it('waits for a server that is not running, and sends nothing', async () => {
    const listen = node('listen', { chipids: ['10000001'] });
    await start([cluster(), cloudApp(cloud, { cluster: 'cluster' }), listen, node('push')]);
    await shows('listen', 'status.awaiting-cluster');
    await fail('push', { chipid: '10000001', payload: 'x' }, 'UNREACHABLE');
    assert.equal(cloud.requests.length, 0);
  });
});

describe('the test of a cluster', () => {
  useNodeRed();

  async function test(settings: object): Promise<ClusterTestResult> {
    const answer = await helper.request().post('/device-cloud/clusters/test').send(settings);
    journal.answers.push(answer.text);
    assert.equal(answer.status, 200, answer.text);
    return answer.body as ClusterTestResult;
  }

  it('refuses anything but an object of texts', async () => {
    await start([cluster()]);
    for (const body of ['[]', '{"url":{}}', '{"credentials":7}']) {
      const request = helper.request().post('/device-cloud/clusters/test');
      const answer = await request.set('content-type', 'application/json').send(body);
      assert.equal(answer.status, 400, body);
    }
  });

  it('names the setting that is wrong, without secrets', async () => {
    await start([cluster()]);
    const url = `redis://user:${TYPED_CANARIES.appkey}@host/x`;
    const result = await test({ url });
    assert.deepEqual([result.ok, result.code], [false, 'NOT_CONFIGURED']);
  });

  it('uses stored credentials only against the address that they were deployed with', async () => {
    await start([cluster()]);
    const elsewhere = await test({ id: 'cluster', url: 'redis://127.0.0.1:2' });
    assert.deepEqual([elsewhere.reason, elsewhere.settings], ['retype', ['user', 'password']]);
    const half = await test({
      ...{ id: 'cluster', url: 'redis://127.0.0.1:2' },
      credentials: { user: '' },
    });
    assert.deepEqual([half.reason, half.settings], ['retype', ['password']]);
  });
});
