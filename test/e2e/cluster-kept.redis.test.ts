import assert from 'node:assert/strict';
import { startSimulator, type Simulator } from '../../src/simulator';
import { app, node, type FlowNode } from '../../tooling/node-red/nodes';
import { startNodeRed, type NodeRedProcess } from '../../tooling/node-red/process';
import { startRedis, type RedisProcess } from '../../tooling/servers/redis';
import { until } from '../../tooling/until';
import { redisCli } from '../src/cluster/redis-cli';
import { drive } from './harness/drive';
import { around } from './harness/flows';
import { userDirWithIoredis } from './harness/packed';

const [ONE, TWO, THREE] = ['30000001', '30000002', '30000003'] as const;

type Process = { red: NodeRedProcess } & ReturnType<typeof drive>;

describe('what two Node-RED processes with a cluster keep', () => {
  let simulator: Simulator;
  let redis: RedisProcess;
  const running = new Set<NodeRedProcess>();

  const flows = (): FlowNode[] =>
    [
      { ...node('cluster', { url: '${CLUSTER_URL}', lease: '2' }), id: 'cluster' },
      app(simulator, { cluster: 'cluster' }),
      ...around('history', node('history', { incremental: true })),
      ...around('events', node('events', { refresh: '1', misses: '1' })),
      ...around('listen', node('listen', { devices: 'online', refresh: '1' })),
    ] as FlowNode[];

  /** A process on a machine of its own. */
  async function start(name: string): Promise<Process> {
    const userDir = await userDirWithIoredis(name);
    const env = { CLUSTER_URL: `redis://127.0.0.1:${redis.port}` };
    const red = await startNodeRed({ userDir, env });
    running.add(red);
    const process = { red, ...drive(red, red.url, {}) };
    await process.deploy(flows());
    return process;
  }
  const kill = async ({ red }: Process): Promise<void> => {
    running.delete(red);
    await red.end('SIGKILL');
  };

  before(async () => {
    redis = await startRedis();
    const devices = [ONE, TWO, THREE].map((chipid) => ({ chipid }));
    simulator = await startSimulator({ devices, interval: 0, answerDelay: 1 });
  });
  after(async () => {
    for (const red of running) await red.end();
    await simulator.close();
    await redis.end();
  });

  const bodiesRead = async (process: Process): Promise<unknown[]> => {
    const { sent } = await process.ask('history', { chipid: ONE });
    return (sent[0]!.payload as { body: string }[]).map(({ body }) => body);
  };
  const eventsOf = async (process: Process): Promise<string[]> =>
    (await process.results('events', 'out')).map((each) => `${each['event']} ${each['chipid']}`);
  const shows = (process: Process, name: string, text: RegExp): Promise<void> =>
    until(async () => {
      const statuses = await process.results(name, 'status');
      return text.test(statuses.at(-1)?.status?.text ?? '');
    }, `${name} shows ${text}`);
  /** The engine has a field of what a node keeps. */
  const kept = (value: string, field: string, text: string): Promise<void> =>
    until(async () => {
      const [key = ''] = (await redisCli(redis.port, 'KEYS', `*:value:${value}`)).split('\n');
      return (await redisCli(redis.port, 'HGET', key, field)).includes(text);
    }, `${field} of ${value} has ${text}`);

  it('is known to both, to the one that is left when the other is killed, and to the next after both', async () => {
    const [one, two] = [await start('kept-one'), await start('kept-two')];
    for (const each of [one, two]) {
      await shows(each, 'listen', /\/3 · 2 processes$/);
      await shows(each, 'events', /^3\/3$/);
    }
    simulator.upload(ONE, 'a');
    assert.deepEqual(await bodiesRead(one), ['a']);
    simulator.sleep(TWO);
    const both = async (): Promise<string[]> => [
      ...(await eventsOf(one)),
      ...(await eventsOf(two)),
    ];
    await until(async () => (await both()).length === 1, 'it is emitted that a device has gone');
    await kept('history-positions-node-history', `/uploads:${ONE}`, '|1"');
    await kept('events-state-node-events', `devices/${TWO}`, `"${TWO}",false`);
    await kept('listen-seen-node-listen', `seen/${TWO}`, TWO);
    assert.deepEqual(await bodiesRead(two), []);
    assert.deepEqual(await both(), [`offline ${TWO}`]);

    await two.forget();
    await kill(one);
    simulator.upload(ONE, 'b');
    await shows(two, 'listen', /^3\/3 · 1 process$/);
    simulator.sleep(THREE);
    await until(async () => (await eventsOf(two)).length > 0, 'the next event is emitted');
    assert.deepEqual(await eventsOf(two), [`offline ${THREE}`]);
    assert.deepEqual(await bodiesRead(two), ['b']);
    await kept('history-positions-node-history', `/uploads:${ONE}`, '|2"');
    await kept('events-state-node-events', `devices/${THREE}`, `"${THREE}",false`);

    await kill(two);
    simulator.upload(ONE, 'c');
    simulator.wake(TWO);
    const next = await start('kept-next');
    await until(async () => (await eventsOf(next)).length > 0, 'what has changed is emitted');
    assert.deepEqual(await eventsOf(next), [`online ${TWO}`]);
    assert.deepEqual(await bodiesRead(next), ['c']);
    // It is not in the list.
    await until(() => simulator.channels(THREE) === 1, 'the device that sleeps is listened to');
  });
});
