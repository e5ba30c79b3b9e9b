import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { startSimulator, type Simulator } from '../../src/simulator';
import { app, node, type FlowNode } from '../tooling/node-red/nodes';
import { makeUserDir } from '../tooling/node-red/user-dir';
import { startRedis, type RedisProcess } from '../tooling/servers/redis';
import { temporaryFolder } from '../tooling/temporary-folder';
import { until } from '../tooling/until';
import { describeOnRedis } from '../support/redis';
import { around } from './harness/flows';
import { startNodeRed, type Message, type NodeRed } from './harness/node-red';

const LEASE = 2;
const DEVICES = Array.from({ length: 12 }, (_, index) => String(10_000_001 + index));

describeOnRedis('several Node-REDs that share an application', () => {
  let redis: RedisProcess;
  let engine: Redis;
  let simulator: Simulator;
  let running: NodeRed[] = [];
  let count = 0;

  const flows = (): FlowNode[] => [
    app(simulator, { cluster: 'cluster' }),
    { id: 'cluster', type: 'device-cloud-cluster', url: redis.url, lease: LEASE },
    ...around('listen', node('listen', { devices: 'list', chipids: DEVICES, recover: 'restart' })),
    ...around('dynamic', { ...node('listen', { devices: 'dynamic' }), inputs: 1 }),
    ...around('acked', node('listen', { chipids: DEVICES.slice(0, 3), acknowledge: 'ack' })),
    ...around('ack', node('ack')),
    ...around('push', node('push', { when: 'upload' })),
    ...around('now', node('push')),
    ...around('events', node('events', { devices: 'all', refresh: 1, start: 'none' })),
    ...around('history', node('history', { incremental: true })),
  ];

  async function start(): Promise<NodeRed> {
    // Beside this package ioredis is installed.
    const userDir = makeUserDir(temporaryFolder('cluster'));
    const red = await startNodeRed({ userDir, flows: flows(), env: {} });
    running.push(red);
    return red;
  }

  /** Each device has exactly one channel. */
  const isShared = (): Promise<void> =>
    until(() => DEVICES.every((chipid) => simulator.channels(chipid) === 1), 'all are listened to');

  const kill = async (red: NodeRed): Promise<void> => {
    running = running.filter((each) => each !== red);
    process.kill(red.pid()!, 'SIGKILL');
    await until(() => red.pid() === undefined, 'it is gone');
  };

  const all = async (name: string, kind: 'out' | 'error'): Promise<Message[]> =>
    (await Promise.all(running.map((red) => red.results(name, kind)))).flat();

  /** The process that has a device: what it uploads leaves there. */
  async function ownerOf(chipid: string): Promise<NodeRed> {
    const body = `whose ${++count}`;
    simulator.upload(chipid, body);
    const found = await until(async () => {
      for (const red of running) {
        const out = await red.results('listen', 'out');
        if (out.some(({ payload }) => payload === body)) return red;
      }
      return undefined;
    }, `${chipid} has an owner`);
    return found;
  }

  /** How many entries of a kind the engine has. */
  async function keysOf(kind: string): Promise<number> {
    const keys = (await engine.keys('*:s:*')).filter((key) => key.startsWith('{dc:'));
    const fields = await Promise.all(keys.map((key) => engine.hkeys(key)));
    return fields.flat().filter((field) => field.startsWith(`${kind}:`)).length;
  }

  before(async () => {
    redis = await startRedis();
    engine = new Redis(redis.url);
    simulator = await startSimulator({ interval: 0, answerDelay: 1, devices: DEVICES.length });
    await Promise.all([start(), start()]);
    await isShared();
    // Of each listener: what comes before the first reading of a history is lost with its process.
    await until(async () => (await keysOf('position')) >= DEVICES.length + 3, 'all are read');
    // One that joins later is given its share later.
    await until(
      async () => new Set(await Promise.all(DEVICES.map(ownerOf))).size === running.length,
      'each process has a share',
    );
  });
  after(async () => {
    await Promise.all(running.map((red) => red.stop()));
    await simulator.close();
    engine.disconnect();
    await redis.end();
  });

  /** A device of one process, and another process. */
  async function pair(chipid: string): Promise<{ owner: NodeRed; other: NodeRed }> {
    const owner = await ownerOf(chipid);
    return { owner, other: running.find((red) => red !== owner)! };
  }
  const texts = (chipid: string) => simulator.device(chipid).received.map(({ text }) => text);

  it('hand over what waits: its result comes back to its message', async () => {
    const chipid = DEVICES[1]!;
    const { owner, other } = await pair(chipid);
    for (const payload of ['first', 'second'])
      await other.inject('push', { chipid, payload, topic: payload });
    await until(async () => (await keysOf('command')) === 2, 'both are written down');
    simulator.upload(chipid, 'awake');
    const sent = await other.waitFor('push', 'out', 2);
    assert.deepEqual(
      sent.map(({ topic }) => topic),
      ['first', 'second'],
    );
    assert.deepEqual(texts(chipid), ['first', 'second']);
    assert.deepEqual(await owner.results('push', 'out'), []);
    await until(async () => (await keysOf('command')) === 0, 'nothing is left');
  });

  it('cancel what waits elsewhere', async () => {
    const chipid = DEVICES[1]!;
    const { other } = await pair(chipid);
    await other.inject('push', { chipid, payload: 'never', topic: 'never' });
    await until(async () => (await keysOf('command')) === 1, 'it is written down');
    const { sent } = await other.ask('push', { cancel: 'all' });
    assert.deepEqual(sent[0]?.payload, 1);
    const [error] = await other.waitFor('push', 'error');
    assert.deepEqual([error?.error?.code, error?.['topic']], ['CANCELLED', 'never']);
  });

  it('have a waiting result leave at the owner, if a deploy has ended its message', async () => {
    const chipid = DEVICES[8]!;
    const { owner, other } = await pair(chipid);
    await other.inject('push', { chipid, payload: 'deployed', topic: 'deployed' });
    await until(async () => (await keysOf('command')) === 1, 'it is written down');
    await other.deploy(flows(), 'full');
    await isShared();
    const whose = await ownerOf(chipid);
    const topics = (await all('push', 'out')).map(({ topic }) => topic);
    if (!topics.includes('deployed')) simulator.upload(chipid, 'awake');
    await until(
      async () => (await all('push', 'out')).some(({ topic }) => topic === 'deployed'),
      'its result leaves',
    );
    assert.deepEqual(texts(chipid), ['deployed']);
    assert.ok([owner, other].includes(whose));
  });

  it('emit each event once', async () => {
    const chipid = DEVICES[2]!;
    await pair(chipid);
    simulator.sleep(chipid);
    const count = async (event: string, of = chipid): Promise<number> => {
      const out = await all('events', 'out');
      return out.filter((each) => each['event'] === event && each['chipid'] === of).length;
    };
    await until(async () => (await count('offline')) > 0, 'it is offline');
    simulator.wake(chipid);
    await until(async () => (await count('online')) > 0, 'it is online');
    // Each process has some of the others: by the time they are offline, it has read a later list.
    const others = DEVICES.filter((each) => each !== chipid);
    for (const other of others) simulator.sleep(other);
    for (const other of others)
      await until(async () => (await count('offline', other)) > 0, 'the others are offline');
    assert.deepEqual([await count('offline'), await count('online')], [1, 1]);
    for (const other of others) simulator.wake(other);
  });

  it('acknowledge uploads of others', async () => {
    const chipid = DEVICES[0]!;
    const { owner, other } = await pair(chipid);
    const bodies = async (): Promise<unknown[]> =>
      (await owner.results('acked', 'out')).map(({ payload }) => payload);
    await until(async () => (await bodies()).length > 0, 'the first one waits');
    for (let at = 0; (await bodies()).at(-1) !== 'the last'; at++) {
      if (at === 0) simulator.upload(chipid, 'the last');
      const out = await owner.results('acked', 'out');
      const { ack } = out.at(-1)!;
      await other.ask('ack', { ack });
      await owner.waitFor('acked', 'out', out.length + 1);
    }
  });

  it('subscribe everywhere', async () => {
    const [one, two] = [DEVICES[4]!, DEVICES[5]!];
    const { other } = await pair(one);
    await other.ask('dynamic', { action: 'subscribe', chipid: [one, two] });
    const { sent } = await other.ask('dynamic', { action: 'list' });
    assert.deepEqual([...(sent[0]!.payload as string[])].sort(), [one, two]);
    await until(() => simulator.channels(one) === 1, 'one channel');
    simulator.upload(one, 'subscribed');
    await until(
      async () => (await all('dynamic', 'out')).some(({ payload }) => payload === 'subscribed'),
      'it came',
    );
    await other.ask('dynamic', { action: 'unsubscribe', chipid: [one, two] });
    assert.deepEqual((await other.ask('dynamic', { action: 'list' })).sent[0]?.payload, []);
  });

  it('read a history once', async () => {
    const chipid = DEVICES[6]!;
    const { owner, other } = await pair(chipid);
    const first = (await owner.ask('history', { chipid })).sent[0]?.payload as unknown[];
    assert.notEqual(first.length, 0);
    assert.deepEqual((await other.ask('history', { chipid })).sent[0]?.payload, []);
    simulator.upload(chipid, 'new');
    const news = (await other.ask('history', { chipid })).sent[0]?.payload as unknown[];
    assert.equal(news.length, 1);
    assert.deepEqual((await owner.ask('history', { chipid })).sent[0]?.payload, []);
  });

  it('have the result of what was under way leave at the owner, if its process is killed', async () => {
    const chipid = DEVICES[9]!;
    const { owner, other } = await pair(chipid);
    simulator.delay(chipid, 4000);
    await other.inject('now', { chipid, payload: 'under way', topic: 'under way' });
    await until(() => texts(chipid).length === 1, 'it has reached the device');
    await kill(other);
    const [sent] = await owner.waitFor('now', 'out');
    assert.deepEqual([sent?.['topic'], sent?.['chipid']], ['under way', chipid]);
    simulator.delay(chipid, 0);
    await start();
    await until(async () => (await keysOf('command')) === 0, 'nothing is left');
    await isShared();
  });

  it('go on with what waits if its owner is killed; if its message is gone, the owner has the result', async () => {
    const chipid = DEVICES[7]!;
    const { owner, other } = await pair(chipid);
    for (const payload of ['of the other', 'of the owner']) {
      const from = payload === 'of the owner' ? owner : other;
      await from.inject('push', { chipid, payload, topic: payload });
    }
    await until(async () => (await keysOf('command')) === 2, 'both are written down');
    await kill(owner);
    simulator.upload(chipid, 'missed');
    await isShared();
    await until(
      async () => (await all('listen', 'out')).some(({ payload }) => payload === 'missed'),
      'what was missed has come',
    );
    simulator.upload(chipid, 'awake');
    await until(
      async () => (await all('push', 'out')).filter(({ chipid: of }) => of === chipid).length === 2,
      'both results have come',
    );
    assert.deepEqual(texts(chipid).sort(), ['of the other', 'of the owner']);
  });
});
