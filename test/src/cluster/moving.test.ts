import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { clusterOf } from '../../../src/cluster/cluster';
import { WANTED } from '../../../src/cluster/messages';
import { atEnd } from '../../../tooling/servers/at-end';
import { until } from '../../../tooling/until';
import { simulator } from '../support/client';
import { ProcessModel, Processes } from './processes';

const DEVICES = 12;

/** Timers that repeat in this time never expire. */
function heldIntervals(ms: number): void {
  const set = globalThis.setInterval;
  const hold = (callback: () => void, after?: number): NodeJS.Timeout =>
    set(callback, after === ms ? 3_600_000 : after);
  const { mock: held } = mock.method(globalThis, 'setInterval', hold);
  atEnd(() => held.restore());
}

/** Processes that listen to all devices, each of which has uploaded once. */
async function processes(count: number): Promise<Processes> {
  const world = new Processes(await simulator({ devices: DEVICES }), count);
  world.listen();
  await world.served();
  world.uploadAll('1');
  await world.receivedAll(1);
  return world;
}

const ownerOf = (world: Processes, chipid: string): ProcessModel | undefined =>
  world.all.find(({ line, member }) => !line.isCut && clusterOf(member).mayEmit(chipid));

const pushes = ({ simulator: { requests } }: Processes): number =>
  requests.filter(({ path }) => path.includes('push')).length;

/** Lets another process join, which listens as well. */
function join(world: Processes): ProcessModel {
  const joined = new ProcessModel(world.store, world.simulator);
  world.all.push(joined);
  for (const chipid of world.chipids) joined.listen(chipid);
  return joined;
}

describe('while devices move from one process to another', () => {
  it('a redeploy loses and repeats nothing, with a new client or only new listeners', async () => {
    const world = await processes(3);
    const [dead, first, second] = world.all as [ProcessModel, ProcessModel, ProcessModel];
    await dead.kill();
    world.uploadAll('2');
    const texts = ['1', '2'];
    const taken = (): boolean =>
      world.chipids.every((chipid) => world.isServed(chipid, [first, second]));
    for (let count = 3; !taken(); count++) {
      await first.redeploy();
      for (const chipid of world.chipids.slice(0, DEVICES / 2)) second.unlisten(chipid);
      world.uploadAll(`${count}`);
      texts.push(`${count}`);
      for (const chipid of world.chipids.slice(0, DEVICES / 2)) second.listen(chipid);
      const before = performance.now();
      await until(() => performance.now() > before + 100 || taken());
    }
    world.uploadAll('last');
    await until(() => world.chipids.every((chipid) => world.texts(chipid).includes('last')));
    for (const chipid of world.chipids)
      assert.deepEqual(world.texts(chipid).sort(), [...texts, 'last'].sort(), chipid);
  });

  it('listeners that emit and listeners that append to the queue both get each upload once', async () => {
    const world = new Processes(await simulator({ devices: DEVICES }), 2);
    const [dying, other] = world.all as [ProcessModel, ProcessModel];
    const queued: string[] = [];
    other.member.work({
      deliver({ chipid, upload, token }) {
        queued.push(`${chipid} ${String(upload.body)}`);
        void other.member.acknowledge(token);
      },
    });
    world.listen();
    for (const { client } of world.all)
      for (const chipid of world.chipids) client.listen(chipid, {}, { deliver: 'queue' });
    await world.served();
    world.uploadAll('1');
    await world.receivedAll(1);
    await until(() => queued.length === DEVICES);
    world.uploadAll('2');
    await dying.kill();
    world.uploadAll('3');
    await until(() => queued.length >= 3 * DEVICES);
    await world.receivedAll(3);
    const all = world.chipids.flatMap((chipid) => ['1', '2', '3'].map((n) => `${chipid} ${n}`));
    assert.deepEqual([...queued].sort(), all.sort());
    for (const chipid of world.chipids) {
      const inOrder = queued.filter((each) => each.startsWith(chipid));
      assert.deepEqual(inOrder, [...inOrder].sort());
    }
  });

  for (const change of ['another process joins', 'its owner leaves'] as const)
    it(`each request gets its reply although ${change}, without waiting for a periodic renewal`, async () => {
      heldIntervals(WANTED.again);
      const world = await processes(2);
      const [asking, leaving] = world.all as [ProcessModel, ProcessModel];
      const replies = world.chipids.map((chipid) =>
        asking.client.request(chipid, 'ask', { match: { property: 'id', equals: chipid } }),
      );
      await until(() => pushes(world) === DEVICES);
      const before = world.chipids.map((chipid) => ownerOf(world, chipid));
      if (change === 'another process joins') join(world);
      else {
        await leaving.client.close();
        await leaving.member.close();
      }
      const moved = (): boolean =>
        world.chipids.some((chipid, index) => {
          const owner = ownerOf(world, chipid);
          return owner !== undefined && owner !== before[index];
        });
      await until(moved);
      for (const chipid of world.chipids) world.simulator.upload(chipid, { id: chipid });
      const payloads = (await Promise.all(replies)).map(({ payload }) => payload);
      assert.deepEqual(
        payloads,
        world.chipids.map((chipid) => ({ id: chipid })),
      );
    });

  it('commands that wait for an upload are sent once, whichever process holds the device by then', async () => {
    const world = await processes(3);
    const [waiting, dying] = world.all as [ProcessModel, ProcessModel];
    const sent = world.chipids.map((chipid) =>
      waiting.client.push(chipid, 'x', { when: 'upload' }),
    );
    await until(() =>
      world.chipids.every((chipid) => waiting.client.fleet.device(chipid)?.waiting === 1),
    );
    await dying.kill();
    let count = 1;
    const done = Promise.all(sent).then(() => true);
    await until(async () => {
      world.uploadAll(`${++count}`);
      return Promise.race([done, new Promise<false>((resolve) => setTimeout(resolve, 50, false))]);
    });
    assert.equal(pushes(world), DEVICES);
  });
});
