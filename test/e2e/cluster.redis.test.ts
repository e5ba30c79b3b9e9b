import assert from 'node:assert/strict';
import { SLOTS } from '../../src/cluster/slots';
import { startSimulator, type Simulator } from '../../src/simulator';
import { app, node, type FlowNode } from '../../tooling/node-red/nodes';
import { startNodeRed, type NodeRedProcess } from '../../tooling/node-red/process';
import { startRedis, type RedisProcess } from '../../tooling/servers/redis';
import { until } from '../../tooling/until';
import { redisCli } from '../src/cluster/redis-cli';
import { drive, type Message } from './harness/drive';
import { around, idOf } from './harness/flows';
import { userDirWithIoredis } from './harness/packed';

const DEVICES = Array.from({ length: 12 }, (_, index) => String(30_000_001 + index));

/** A Node-RED of the cluster, and what drives it. */
interface Process {
  red: NodeRedProcess;
  drive: ReturnType<typeof drive>;
}

const textsOf = (messages: Message[]): string[] => messages.map(({ payload }) => String(payload));

describe('two Node-RED processes with a cluster', () => {
  let simulator: Simulator;
  let redis: RedisProcess;
  const processes: Process[] = [];

  const flows = (): FlowNode[] =>
    [
      { ...node('cluster', { url: '${CLUSTER_URL}', lease: '${CLUSTER_LEASE}' }), id: 'cluster' },
      app(simulator, { cluster: 'cluster' }),
      ...around('listen', node('listen', { chipids: DEVICES })),
      ...around('push', node('push')),
      ...around('waits', node('push', { when: 'upload' })),
    ] as FlowNode[];

  const queueFlows = (): FlowNode[] => [
    ...flows().map((each) => (each.id === idOf('listen') ? { ...each, deliver: 'queue' } : each)),
    ...around('work', node('work', { acknowledge: 'ack', inFlight: '4' })).map((each) =>
      each.id === idOf('work') ? { ...each, wires: [['work-out', idOf('ack')]] } : each,
    ),
    ...around('ack', node('ack')),
  ];

  before(async () => {
    redis = await startRedis();
    simulator = await startSimulator({ interval: 0, answerDelay: 1 });
    for (const chipid of DEVICES) simulator.addDevice({ chipid, interval: 0 });
    for (const name of ['cluster-one', 'cluster-two']) {
      const userDir = await userDirWithIoredis(name);
      // Replicas often have no editor: all of it comes from the environment.
      const env = { CLUSTER_URL: `redis://127.0.0.1:${redis.port}`, CLUSTER_LEASE: '2' };
      const red = await startNodeRed({ userDir, env });
      processes.push({ red, drive: drive(red, red.url, {}) });
    }
    for (const each of processes) await each.drive.deploy(flows());
  });
  after(async () => {
    for (const { red } of processes) if (red.pid() !== undefined) await red.end();
    await simulator.close();
    await redis.end();
  });

  const living = (): Process[] => processes.filter(({ red }) => red.pid() !== undefined);
  /** What each of them has recorded under a name. */
  const recorded = (name: string): Promise<Message[][]> =>
    Promise.all(living().map((each) => each.drive.results(name, 'out')));

  const uploadAll = (text: string): void => {
    for (const chipid of DEVICES) simulator.upload(chipid, `${text} ${chipid}`);
  };
  const expected = (...texts: string[]): string[] =>
    texts.flatMap((text) => DEVICES.map((chipid) => `${text} ${chipid}`)).sort();

  it('have each device in one process, and show how many processes there are', async () => {
    for (const { drive: each } of processes) {
      await until(async () => {
        const statuses = await each.results('listen', 'status');
        return /^(?:[1-9]|1[01])\/12 · 2 processes$/.test(statuses.at(-1)?.status?.text ?? '');
      }, 'its listener shows both');
    }
    await until(() => simulator.channels() === DEVICES.length, 'each device has one channel');
    uploadAll('first');
    await until(async () => (await recorded('listen')).flat().length >= 12, 'all have arrived');
    const [one = [], two = []] = await recorded('listen');
    assert.deepEqual(textsOf([...one, ...two]).sort(), expected('first'));
    assert.ok(one.length > 0 && two.length > 0, `${one.length} and ${two.length}`);
  });

  it('send commands from each process to any device', async () => {
    for (const { drive: each } of processes) {
      const { error } = await each.ask('push', { chipid: DEVICES[0], payload: 'to it' });
      assert.equal(error, undefined);
    }
    assert.equal(simulator.device(DEVICES[0]!).received.length, 2);
  });

  it('process the queue in order per device, and acknowledge each upload', async () => {
    for (const { drive: each } of processes) {
      await each.deploy(queueFlows());
      await each.forget();
    }
    await until(() => simulator.channels() === DEVICES.length, 'each device has one channel');
    // While a part of the queue moves, an upload may be delivered twice.
    await until(async () => {
      const key = (await redisCli(redis.port, 'KEYS', '*:slots')).trim();
      const lines = (await redisCli(redis.port, 'HGETALL', key)).split('\n');
      const owners = lines.flatMap((slot, at) =>
        at % 2 === 0 && Number(slot) >= SLOTS ? [lines[at + 1]?.replace(/^\d+ /, '')] : [],
      );
      return new Set(owners).size === 2 && !owners.includes('');
    }, 'both have a share of the queue');
    const rounds = ['a', 'b', 'c', 'd'];
    for (const round of rounds) uploadAll(round);
    const total = rounds.length * DEVICES.length;
    await until(async () => (await recorded('ack')).flat().length >= total, 'all are handled');
    const work = await recorded('work');
    const all = work.flat();
    assert.deepEqual(textsOf(all).sort(), expected(...rounds));
    assert.deepEqual((await recorded('listen')).flat(), []);
    for (const chipid of DEVICES) {
      const by = work.map((messages) =>
        textsOf(messages.filter((each) => each['chipid'] === chipid)),
      );
      const order = by.flat().map((text) => text.split(' ')[0]);
      assert.deepEqual(order, rounds, `${chipid}: ${JSON.stringify(by)}`);
    }
  });

  it('take over the devices and the waiting commands of a process that is killed, and lose nothing', async () => {
    for (const { drive: each } of processes) {
      await each.deploy(flows());
      await each.forget();
    }
    await until(() => simulator.channels() === DEVICES.length, 'each device has one channel');
    uploadAll('before');
    await until(async () => (await recorded('listen')).flat().length >= 12, 'all have arrived');
    const waiting = (chipid: string) => simulator.device(chipid).received.map(({ text }) => text);
    const listed = async ({ red }: Process): Promise<unknown[]> => {
      const answer = await fetch(`${red.url}/device-cloud/apps/app/waiting`);
      return ((await answer.json()) as { commands: unknown[] }).commands;
    };
    const target = DEVICES[1]!;
    for (const [index, payload] of ['w1', 'w2', 'w3'].entries()) {
      await processes[index % 2]!.drive.inject('waits', {
        chipid: target,
        payload,
        topic: payload,
      });
      for (const each of processes)
        await until(async () => (await listed(each)).length === index + 1, 'both list it');
    }
    const [ofOne = []] = await recorded('listen');
    const [one, two] = processes as [Process, Process];
    await one.red.end('SIGKILL');
    uploadAll('meanwhile');
    const texts = async (): Promise<Set<string>> =>
      new Set([...textsOf(ofOne), ...textsOf(await two.drive.results('listen', 'out'))]);
    await until(async () => (await texts()).size === 24, 'the other one has them all');
    assert.deepEqual([...(await texts())].sort(), expected('before', 'meanwhile'));
    await until(() => simulator.channels() === DEVICES.length, 'it has all channels');
    uploadAll('after');
    await until(async () => (await texts()).size === 36, 'and goes on');
    let tries = 0;
    await until(async () => {
      simulator.upload(target, `awake ${tries++}`);
      return (await two.drive.results('waits', 'out')).length === 3;
    }, 'all of them are sent');
    assert.deepEqual(waiting(target), ['w1', 'w2', 'w3']);
    const sent = await two.drive.results('waits', 'out');
    assert.deepEqual(
      sent.map(({ topic }) => topic),
      ['w1', 'w2', 'w3'],
    );
  });
});
