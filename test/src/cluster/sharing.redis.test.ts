import assert from 'node:assert/strict';
import { startRedis, type RedisProcess } from '../../../tooling/servers/redis';
import { until } from '../../../tooling/until';
import { processesOn, type Processes, type ProcessModel } from './processes';

describe('clients that share devices through a real server', () => {
  let redis: RedisProcess;
  let world: Processes;

  beforeEach(async () => {
    redis = await startRedis();
    world = await processesOn(redis.port);
    world.uploadAll('1');
    await world.receivedAll(1);
  });
  afterEach(() => redis.end());

  it('lose and repeat nothing when one dies, and exchange uploads, pushes and latest uploads', async () => {
    const [dying, other] = world.all as [ProcessModel, ProcessModel];
    const chipid = world.chipids.find((each) => world.owner(each) === dying) ?? '';
    const requests = (): number =>
      world.simulator.requests.filter(({ path }) => path.includes('push')).length;
    const reply = other.client.request(chipid, 'ask', { match: { property: 'id', equals: 7 } });
    await until(() => requests() === 1);
    world.simulator.upload(chipid, { id: 7 });
    assert.deepEqual((await reply).payload, { id: 7 });
    await until(() => world.texts(chipid).length === 2);
    await other.client.pushOverChannel(chipid, 'x');
    assert.equal(String((await other.client.fleet.findLatest(chipid))?.body), '{"id":7}');
    await dying.kill();
    world.uploadAll('2');
    await until(() => world.chipids.every((each) => world.isServed(each, [other])));
    world.uploadAll('3');
    await until(() => world.chipids.every((each) => world.texts(each).at(-1) === '3'));
    for (const each of world.chipids) {
      const expected = each === chipid ? ['1', '{"id":7}', '2', '3'] : ['1', '2', '3'];
      assert.deepEqual(world.texts(each), expected);
    }
  });
});
