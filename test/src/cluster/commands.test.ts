import assert from 'node:assert/strict';
import type { CallProgress } from '../../../src/types';
import { hang, httpService, type HttpService } from '../../../tooling/servers/http-service';
import { settled, until } from '../../../tooling/until';
import { simulator } from '../support/client';
import { failure } from '../support/failure';
import { ProcessModel, Processes } from './processes';
import { MemoryStore } from './memory-store';

/** Processes whose store has settled: before that, no lock is granted. */
async function processes(baseUrl: string, options = {}): Promise<[ProcessModel, ProcessModel]> {
  const store = new MemoryStore();
  const [a, b] = [0, 1].map(() => new ProcessModel(store, { baseUrl }, options)) as [
    ProcessModel,
    ProcessModel,
  ];
  await until(() => [a, b].every(({ member }) => member.members.length === 2));
  await until(() => a.member.state === 'member');
  return [a, b];
}

describe('commands with a cluster', () => {
  it('from several processes to one device never overlap', async () => {
    let [running, most] = [0, 0];
    const service = await httpService((response) => {
      most = Math.max(most, ++running);
      setTimeout(() => {
        running--;
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end('{"msg":"OK","result":"01","status":"online"}');
      }, 3);
    });
    const clients = (await processes(service.baseUrl)).map(({ client }) => client);
    await Promise.all(
      clients.flatMap((client) =>
        Array.from({ length: 5 }, () => [
          client.push(1, 'x'),
          client.setGpioEdge(1, 2, 1),
          client.pulseGpio(1, 2, 1, { duration: 5 }),
          client.rtStatus(1, 'key'),
          client.gpioStatus(1),
          client.refresh(1),
          client.reboot(1),
        ]).flat(),
      ),
    );
    assert.deepEqual([most, service.requests.length], [1, 2 * 5 * 8]);
  });

  it('fail with UNREACHABLE, not sent, while the store is away, and are sent again once it is back', async () => {
    const world = await simulator();
    const [{ client, line }] = await processes(world.baseUrl);
    line.isCut = true;
    const error = await failure(client.push('10000001', 'x'), 'UNREACHABLE');
    assert.match(error.message, /Not sent: the cluster cannot be reached/);
    assert.equal(error.uncertain, false);
    await failure(client.reboot('10000001'), 'UNREACHABLE');
    assert.ok(!world.requests.some(({ method }) => method === 'POST'));
    line.isCut = false;
    await client.push('10000001', 'x');
  });

  it('show that they wait for another process, and can be aborted and closed meanwhile', async () => {
    const service: HttpService = await httpService(hang);
    const [a, b] = await processes(service.baseUrl);
    const first = failure(a.client.push(1, 'x'), 'CONNECTION_LOST');
    await until(() => service.requests.length === 1);
    const progress: string[] = [];
    const onProgress = ({ state }: CallProgress): unknown => progress.push(state);
    const abort = new AbortController();
    const aborted = failure(
      b.client.push(1, 'x', { onProgress, signal: abort.signal }),
      'UNREACHABLE',
    );
    await until(() => progress.includes('awaiting-cluster'));
    abort.abort('enough');
    assert.match((await aborted).message, /Not sent: enough/);
    const second = failure(b.client.push(1, 'x', { onProgress, timeout: 2000 }), 'TIMEOUT');
    await until(() => progress.filter((state) => state === 'awaiting-cluster').length === 2);
    await a.client.close();
    await Promise.all([first, second]);
    assert.deepEqual(progress.slice(2), ['calling', 'awaiting-cluster', 'calling']);
    const third = failure(b.client.push(2, 'x'), 'CONNECTION_LOST');
    await until(() => service.requests.length === 3);
    await b.client.close();
    await third;
    await settled();
  });

  it('hold their lock for the length of the gap', async () => {
    const world = new Processes(await simulator({ devices: 1 }), 2, { deviceGap: 50 });
    const [a, b] = world.all as [ProcessModel, ProcessModel];
    await until(() => a.member.state === 'member');
    await a.client.push('10000001', 'x');
    const progress: string[] = [];
    await b.client.push('10000001', 'y', { onProgress: ({ state }) => progress.push(state) });
    assert.ok(progress.includes('awaiting-cluster'));
  });
});
