import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import type { ClusterTestResult } from '../../nodes/cluster/cluster.config';
import { atEnd } from '../../tooling/servers/at-end';
import { ENGINE, startRedis, type RedisProcess } from '../../tooling/servers/redis';
import { settled, until } from '../../tooling/until';
import { heldTimers } from '../support/held-timers';
import { redisCli } from '../src/cluster/redis-cli';
import { ALWAYS_ONLINE, cloudApp, deploy, load, node, simulatorApp } from './support/flow';
import { journal } from './support/journal';
import { arrivedAt, call, fail, send, shows, statusesOf } from './support/messages';
import { isKept, startCloud, useNodeRed } from './support/node-red';
import { CANARIES, PROXY_CANARIES } from './support/secrets';
import type { FlowNode } from '../../tooling/node-red/nodes';

const [one, two] = ['10000001', '10000002'] as const;

describe('an application with a cluster', () => {
  useNodeRed();
  let cloud: Simulator;
  let redis: RedisProcess;
  before(async () => {
    redis = await startRedis();
  });
  beforeEach(async () => {
    await redisCli(redis.port, 'FLUSHALL');
    cloud = await startCloud();
  });
  after(() => redis.end());

  const clusterNode = (properties: object = {}): FlowNode => ({
    id: 'cluster',
    type: 'device-cloud-cluster',
    url: `redis://127.0.0.1:${redis.port}`,
    lease: '2',
    ...properties,
  });
  const flow = (...nodes: FlowNode[]): FlowNode[] => [
    clusterNode(),
    cloudApp(cloud, { cluster: 'cluster' }),
    ...nodes,
  ];
  const members = async (): Promise<string[]> => {
    const text = await redisCli(redis.port, 'KEYS', '*:members');
    const keys = text.split('\n').filter((key) => key !== '');
    const found = await Promise.all(keys.map((key) => redisCli(redis.port, 'HKEYS', key)));
    return found.flatMap((each) => each.split('\n').filter((member) => member !== ''));
  };

  it('shows how many processes share the devices', async () => {
    await load(flow(node('listen', { chipids: [one, two] })));
    await shows('listen', '2/2 · 1 process');
    cloud.upload(one, 'hello');
    await until(() => arrivedAt('out').length === 1, 'an upload is emitted');
  });

  it('shows in red that the engine refuses the password, and why in the sidebar, until it is changed', async () => {
    const locked = await startRedis({ config: ['requirepass right'] });
    atEnd(() => locked.end());
    const url = `redis://:wrong-secret@127.0.0.1:${locked.port}`;
    const app = cloudApp(cloud, { cluster: 'cluster' });
    await load([clusterNode({ url }), app, node('listen', { chipids: [one] })]);
    await shows('listen', 'status.cluster-password');
    assert.equal(statusesOf('listen').at(-1)?.fill, 'red');
    interface Answer {
      cluster: { problem?: { setting: string; message: string } };
    }
    let body: Answer | undefined;
    // An attempt that ends in another way, since the machine is busy, says nothing of the password.
    await until(async () => {
      ({ body } = (await helper.request().get('/device-cloud/apps/app/fleet')) as { body: Answer });
      return body.cluster.problem?.setting === 'password';
    }, 'the answer for the sidebar says why');
    assert.match(body?.cluster.problem?.message ?? '', /WRONGPASS/);
    assert.ok(!JSON.stringify(body).includes('wrong-secret'));
    const open = { port: locked.port, password: 'right' };
    await redisCli(open, 'CONFIG', 'SET', 'requirepass', 'wrong-secret');
    await shows('listen', '1/1 · 1 process');
  });

  it('says that the built-in simulator is shared with no other process', async () => {
    const app = simulatorApp({ cluster: 'cluster' });
    await load([clusterNode(), app, node('listen', { chipids: ALWAYS_ONLINE.slice(0, 1) })]);
    await shows('listen', '1/1 · 1 process');
    const lines = journal.logs.filter(({ msg }) => String(msg).includes('simulator of its own'));
    assert.equal(lines.length, 1);
  });

  it('keeps its membership over a deploy, and leaves at once when flows stop', async () => {
    await load(flow(node('listen', { chipids: [one] })));
    await shows('listen', '1/1 · 1 process');
    const before = await members();
    assert.equal(before.length, 1);
    await deploy(flow(node('listen', { chipids: [one, two] })));
    await shows('listen', '2/2 · 1 process');
    assert.deepEqual(await members(), before);
    await helper.unload();
    assert.deepEqual(await members(), []);
  });

  it('has one membership and one channel for two applications with the same address and App ID', async () => {
    const twin = { ...cloudApp(cloud, { cluster: 'cluster' }), id: 'app2' };
    const other = node('listen', { id: 'other', app: 'app2', chipids: [one, two] });
    const both = flow(node('listen', { chipids: [one] }), twin, other);
    await load(both);
    await shows('listen', '1/1 · 1 process');
    await shows('other', '2/2 · 1 process');
    assert.equal((await members()).length, 1);
    cloud.upload(one, 'hello');
    await until(() => arrivedAt('out').length === 2, 'both emit it');
    assert.equal(cloud.channels(one), 1);
    // The other one goes on without it.
    await deploy([clusterNode(), twin, other], 'nodes');
    await shows('other', '2/2 · 1 process');
    cloud.upload(one, 'again');
    await until(() => arrivedAt('out').length === 3, 'it is emitted');
  });

  it('refuses a second application with the same App ID and other settings, which would open channels twice', async () => {
    const twin = { ...cloudApp(cloud, { cluster: 'cluster', deviceGap: '5' }), id: 'app2' };
    const other = node('listen', { id: 'other', app: 'app2', chipids: [one] });
    const both = flow(node('listen', { chipids: [one] }), twin, other);
    await load(both);
    await shows('listen', '1/1 · 1 process');
    await shows('other', 'status.not-configured');
    const line = journal.logs.find(({ id }) => id === 'other');
    assert.match(String(line?.msg), /has other settings or keys\. Choose one/);
    assert.equal(cloud.channels(one), 1);
  });

  it('keeps waiting commands and pins in the cluster, over a deploy, until their node is removed', async () => {
    const nodes = [
      node('listen', { chipids: [one] }),
      node('push', { when: 'upload' }),
      node('gpio', { operation: 'keep' }),
    ];
    await load(flow(...nodes));
    await shows('listen', '1/1 · 1 process');
    void send('push', { chipid: one, payload: 'later' });
    void send('gpio', { chipid: one, pin: 5, payload: 1 });
    const stored = async (name: string): Promise<string> => {
      const key = (await redisCli(redis.port, 'KEYS', `*:${name}`)).trim();
      return key === '' ? '' : redisCli(redis.port, 'HVALS', key);
    };
    await until(async () => (await stored('pins')).includes('"state":"kept"'), 'the pin is kept');
    await until(async () => (await stored('whats')).includes('later'), 'the command waits');
    await deploy(flow(...nodes));
    await shows('gpio', 'status.pins-kept');
    const waiting = async (): Promise<number> => {
      const { body } = await helper.request().get('/device-cloud/apps/app/waiting');
      return (body as { commands: unknown[] }).commands.length;
    };
    await until(async () => (await waiting()) === 1, 'it still waits');
    await deploy(flow(nodes[0]!));
    await until(async () => (await stored('pins')) === '', 'the pin is kept no more');
    await until(async () => (await stored('whats')) === '', 'the command has ended');
    assert.equal(cloud.device(one).received.length, 0);
  });

  it('cancels a waiting command that was given back to it after its node was removed', async () => {
    const nodes = [node('listen', { chipids: [one] }), node('push', { when: 'upload' })];
    await load(flow(...nodes));
    await shows('listen', '1/1 · 1 process');
    void send('push', { chipid: one, payload: 'later' });
    await shows('push', 'status.awaiting-device');
    const key = (await redisCli(redis.port, 'KEYS', '*:calls')).trim();
    const [id = '', ...text] = (await redisCli(redis.port, 'HGETALL', key)).trim().split('\n');
    // Of a node that was removed while the engine was slow.
    const moved = text.join('\n').replace('"node":"push"', '"node":"removed"');
    await redisCli(redis.port, 'HSET', key, id, moved);
    await deploy(flow(...nodes));
    await until(async () => (await redisCli(redis.port, 'EXISTS', key)).trim() === '0', 'it ends');
    const cancelled = /^CANCELLED: the node removed was removed/;
    assert.ok(journal.logs.some(({ msg }) => cancelled.test(String(msg))));
  });

  it('keeps a pin no more once its node is set to another operation, and not when it is set back', async () => {
    const keep = (operation: string): FlowNode[] =>
      flow(node('listen', { chipids: [one] }), node('gpio', { operation }));
    await load(keep('keep'));
    await shows('listen', '1/1 · 1 process');
    void send('gpio', { chipid: one, pin: 5, payload: 1 });
    await shows('gpio', 'status.pins-kept');
    const key = (await redisCli(redis.port, 'KEYS', '*:pins')).trim();
    await deploy(keep('set'));
    await until(
      async () => (await redisCli(redis.port, 'EXISTS', key)).trim() === '0',
      'its wish has ended',
    );
    cloud.setPin(one, 5, 0);
    await deploy(keep('keep'));
    void send('gpio', { chipid: one, pin: 4, payload: 1 });
    await shows('gpio', 'status.pins-kept');
    assert.equal(cloud.device(one).levels.slice(4, 6), '10');
    assert.equal((await redisCli(redis.port, 'HKEYS', key)).trim(), `${one}/4`);
  });

  it('shows which process holds a device', async () => {
    await load(flow(node('listen', { chipids: [one] })));
    await shows('listen', '1/1 · 1 process');
    const { body } = await helper.request().get('/device-cloud/apps/app/fleet');
    const { devices } = body as { devices: { chipid: string; process?: string }[] };
    const held = devices.find(({ chipid }) => chipid === one);
    assert.deepEqual([held?.process], await members());
  });

  it('shows the devices of another process as elsewhere, and the length of the queue', async () => {
    const listener = node('listen', { chipids: [one, two], deliver: 'queue' });
    await load(flow(listener));
    await shows('listen', '2/2 · 1 process');
    const [prefix = ''] = (await redisCli(redis.port, 'KEYS', '*:members')).split(':members');
    cloud.upload(one, 'waits');
    const fleet = async () => {
      const { body } = await helper.request().get('/device-cloud/apps/app/fleet');
      return body as {
        devices: { chipid: string; channel: { state: string } | null }[];
        cluster: { processes: number; queue?: { length: number; deadLetters: number } };
      };
    };
    await until(async () => (await fleet()).cluster.queue?.length === 1, 'the queue is shown');
    assert.equal((await fleet()).cluster.processes, 1);
    const { body } = await helper.request().get('/device-cloud/diagnostics');
    const { apps } = body as { apps: { counts: Record<string, number> }[] };
    assert.deepEqual([apps[0]?.counts['queued'], apps[0]?.counts['deadLetters']], [1, 0]);
    // Another process, which never answers.
    await redisCli(redis.port, 'HSET', `${prefix}:members`, 'other', '1 d 60000');
    await until(async () => {
      const owned = await redisCli(redis.port, 'HGETALL', `${prefix}:slots`);
      const mine = owned.split('\n').filter((each) => each.includes(' ') && !each.endsWith(' '));
      return mine.length < 256;
    }, 'slots are released');
    for (let slot = 0; slot < 256; slot++)
      await redisCli(redis.port, 'HSET', `${prefix}:slots`, String(slot), '100000 other');
    await until(async () => {
      const { devices } = await fleet();
      return devices.every(({ channel }) => channel?.state === 'elsewhere');
    }, 'both devices are elsewhere');
  });

  it('has a test that shows the server, settings that lose positions, processes and clock', async () => {
    await redisCli(redis.port, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await load(flow(node('listen', { chipids: [one] })));
    await shows('listen', '1/1 · 1 process');
    const settings = { id: 'cluster', url: `redis://127.0.0.1:${redis.port}`, lease: '2' };
    const answer = await helper.request().post('/device-cloud/clusters/test').send(settings);
    await redisCli(redis.port, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    const { version, clockSkew, apps, ...rest } = answer.body as ClusterTestResult;
    assert.deepEqual(rest, {
      ...{ ok: true, product: ENGINE, persistence: 'none', eviction: 'allkeys-lru' },
    });
    assert.match(version ?? '', /^\d+\.\d+/);
    assert.ok(Math.abs(clockSkew ?? NaN) < 5);
    const here = await members();
    assert.deepEqual(apps, [{ name: cloud.appid, members: here }]);
    // The test itself has not joined.
    assert.equal(here.length, 1);
  });

  it('has a test that shows the rights that its user lacks, which are also logged', async () => {
    const { password } = PROXY_CANARIES;
    const rights = ['allkeys', 'allchannels', '+@all', '-@dangerous', '-publish'];
    await redisCli(redis.port, 'ACL', 'SETUSER', 'few', 'reset', 'on', `>${password}`, ...rights);
    const stored = { app: { ...CANARIES }, cluster: { user: 'few', password } };
    const listen = node('listen', { chipids: [one] });
    await load(flow(listen, { ...listen, id: 'other' }), stored);
    const settings = { id: 'cluster', url: `redis://127.0.0.1:${redis.port}` };
    const answer = await helper.request().post('/device-cloud/clusters/test').send(settings);
    journal.answers.push(answer.text);
    const { ok, forbidden, version } = answer.body as ClusterTestResult;
    assert.deepEqual([ok, forbidden, version], [true, ['+info', '+publish'], '']);
    await shows('listen', 'status.awaiting-cluster');
    const logged = (): unknown[] =>
      journal.logs
        .filter(({ msg }) => /missing in its ACL: \+info \+publish\.$/.test(String(msg)))
        .map(({ id }) => id);
    await until(() => logged().length > 0, 'the log names them');
    await helper.unload();
    // Once for the application, whichever nodes use it.
    assert.deepEqual(logged(), ['app']);
    await load(flow(node('push')), stored);
    await until(() => logged().length === 2, 'the log names them without a listener, too');
    assert.deepEqual(logged(), ['app', 'app']);
  });

  it('shows no password, whether the server accepts it or not', async () => {
    const { username: user, password } = PROXY_CANARIES;
    const stored = { app: { ...CANARIES }, cluster: { password } };
    const settings = { id: 'cluster', url: `redis://127.0.0.1:${redis.port}` };
    const test = async (credentials: object): Promise<ClusterTestResult> => {
      const route = helper.request().post('/device-cloud/clusters/test');
      const { text, body } = await route.send({ ...settings, credentials });
      journal.answers.push(text);
      return body as ClusterTestResult;
    };
    await redisCli(redis.port, 'CONFIG', 'SET', 'requirepass', password);
    try {
      await load(flow(node('listen', { chipids: [one] })), stored);
      await shows('listen', '1/1 · 1 process');
      assert.equal((await test({})).ok, true);
      assert.equal((await test({ user, password })).code, 'UNREACHABLE');
    } finally {
      await redisCli({ port: redis.port, password }, 'CONFIG', 'SET', 'requirepass', '');
    }
  });

  it('appends uploads to the queue, from which a worker receives them in order', async () => {
    await load(
      flow(
        node('listen', { chipids: [one], deliver: 'queue', wires: [['caught']] }),
        node('work', { wires: [['out']] }),
      ),
    );
    await shows('work', 'status.connected');
    await shows('listen', '1/1 · 1 process');
    for (const text of ['a', 'b', 'c']) cloud.upload(one, text);
    await until(() => arrivedAt('out').length === 3, 'all are worked on');
    assert.deepEqual(
      arrivedAt('out').map(({ topic, payload, ack }) => [topic, payload, ack]),
      ['a', 'b', 'c'].map((text) => [one, text, undefined]),
    );
    assert.deepEqual(arrivedAt('caught'), []);
  });

  it('delivers the next upload of a device when the one before is acknowledged', async () => {
    await load(
      flow(
        node('listen', { chipids: [one], deliver: 'queue', wires: [[]] }),
        node('work', { acknowledge: 'ack', redeliver: 1, wires: [['out']] }),
        node('ack', { wires: [[]] }),
      ),
    );
    await shows('listen', '1/1 · 1 process');
    cloud.upload(one, 'first');
    cloud.upload(one, 'second');
    const seen = (text: string, again?: true) => () =>
      arrivedAt('out').some(
        ({ payload, redelivered }) => payload === text && redelivered === again,
      );
    await until(seen('first'), 'the first is delivered');
    await until(seen('first', true), 'it is delivered again, since nobody acknowledges it');
    assert.equal(seen('second')(), false);
    const [{ ack } = {}] = arrivedAt('out') as { ack?: unknown }[];
    assert.equal(typeof ack, 'string');
    // The second time, it has been acknowledged.
    const ends = [await send('ack', { ack }), await send('ack', { ack })];
    assert.deepEqual(
      ends.map(({ error }) => error),
      [undefined, undefined],
    );
    await until(seen('second'), 'the second follows');
    await fail('ack', { ack: 'nonsense' }, 'INVALID_INPUT');
    await fail('ack', {}, 'INVALID_INPUT');
  });

  it('gives an upload up that is not acknowledged, which the log says, and emits the next one', async () => {
    await load(
      flow(
        node('listen', { chipids: [one], deliver: 'queue', wires: [[]] }),
        node('work', { acknowledge: 'ack', redeliver: 1, attempts: 2, wires: [['out']] }),
      ),
    );
    await shows('listen', '1/1 · 1 process');
    for (const text of ['first', 'second']) cloud.upload(one, text);
    await until(() => arrivedAt('out').length >= 3, 'the second is delivered');
    assert.deepEqual(
      arrivedAt('out')
        .slice(0, 3)
        .map(({ payload, redelivered }) => [payload, redelivered]),
      [
        ['first', undefined],
        ['first', true],
        ['second', undefined],
      ],
    );
    const line = (): boolean =>
      journal.logs.some(({ msg }) => /device 10000001 .* 2 times .* dead letter/.test(String(msg)));
    await until(line, 'it is logged');
  });

  it('lets a second work node start as soon as the first is removed', async () => {
    const queued = node('listen', { chipids: [one], deliver: 'queue', wires: [[]] });
    const second = node('work', { id: 'second' });
    await load(flow(queued, node('work', { wires: [[]] })));
    await shows('work', 'status.connected');
    const expire = heldTimers(1000);
    await deploy(flow(queued, node('work', { wires: [[]] }), second), 'nodes');
    await shows('second', 'status.not-configured');
    await deploy(flow(queued, second), 'nodes');
    expire();
    await settled();
    assert.equal(statusesOf('second').at(-1)?.text, 'status.connected');
    cloud.upload(one, 'hello');
    await until(() => {
      // How often the queue is looked at is a timer of the same length, held as well.
      expire();
      return arrivedAt('out').length === 1;
    }, 'it is worked on');
  });

  it('keeps the marks of histories, also of a node that is removed; none is emitted that cannot be marked', async () => {
    const history = node('history', { incremental: true });
    const read = async (): Promise<unknown[]> => {
      const { payload } = await call('history', { chipid: one });
      return (payload as { body: unknown }[]).map(({ body }) => body);
    };
    await load(flow(history));
    cloud.upload(one, 'a');
    assert.deepEqual(await read(), ['a']);
    await deploy(flow());
    await deploy(flow(history));
    cloud.upload(one, 'b');
    assert.deepEqual(await read(), ['b']);
    redis.stop();
    await fail('history', { chipid: one }, 'UNREACHABLE');
    redis.cont();
    cloud.upload(one, 'c');
    await until(async () => {
      const { error } = await send('history', { chipid: one });
      return error === undefined;
    }, 'it is read again');
    await until(() => arrivedAt('out').length === 3, 'it has arrived');
    const bodies = arrivedAt('out').flatMap(({ payload }) =>
      (payload as { body: unknown }[]).map(({ body }) => body),
    );
    assert.deepEqual(bodies, ['a', 'b', 'c']);
    assert.ok(!isKept('history-positions-history'));
  });

  it('shows that it waits for the cluster while the server is away', async () => {
    await load(flow(node('listen', { chipids: [one] }), node('work', { wires: [[]] })));
    await shows('listen', '1/1 · 1 process');
    redis.stop();
    await shows('listen', 'status.awaiting-cluster');
    await shows('work', 'status.awaiting-cluster');
    redis.cont();
    await shows('listen', '1/1 · 1 process');
    await shows('work', 'status.connected');
  });
});
