import assert from 'node:assert/strict';
import { clusterOf } from '../../../src/cluster/cluster';
import { until } from '../../../tooling/until';
import { simulator } from '../support/client';
import { failure } from '../support/failure';
import type { ProcessModel } from './processes';
import { Processes } from './processes';

const CHIPID = '10000001';

/** Two processes, the one that has the device and the other one. */
async function processes(isListening = false): Promise<{
  world: Processes;
  owner: ProcessModel;
  other: ProcessModel;
}> {
  const world = new Processes(await simulator({ devices: 6 }), 2);
  if (isListening) world.listen();
  // Otherwise no process claims the devices before something waits for their uploads.
  for (const { member } of world.all) clusterOf(member).claims.use('follows');
  const owns = ({ member }: ProcessModel): boolean => clusterOf(member).mayEmit(CHIPID);
  const isShared = ({ member }: ProcessModel): boolean =>
    world.chipids.some((chipid) => clusterOf(member).mayEmit(chipid));
  await until(() => world.all.every(isShared) && world.all.some(owns));
  if (isListening) await world.served();
  const [owner, other] = [...world.all].sort((a, b) => Number(owns(b)) - Number(owns(a)));
  return { world, owner: owner as ProcessModel, other: other as ProcessModel };
}

const pushes = ({ simulator: { requests } }: Processes): number =>
  requests.filter(({ path }) => path.includes('push')).length;

describe('the messages between the processes of a cluster', () => {
  for (const isListening of [false, true])
    it(`bring a request its reply if another process holds the device, ${isListening ? 'with' : 'without'} listeners`, async () => {
      const { world, owner, other } = await processes(isListening);
      for (const { client } of [other, owner]) {
        const before = pushes(world);
        const reply = client.request(CHIPID, 'ask', { match: { property: 'id', equals: before } });
        await until(() => pushes(world) > before);
        world.simulator.upload(CHIPID, { id: -1 });
        world.simulator.upload(CHIPID, { id: before });
        const { payload, uncertain } = await reply;
        assert.deepEqual([payload, uncertain], [{ id: before }, undefined]);
      }
      assert.equal(world.simulator.channels(CHIPID), 1);
    });

  it('bring a request its reply although the owner dies meanwhile', async () => {
    const { world, owner, other } = await processes(true);
    world.simulator.upload(CHIPID, { id: 0 });
    await until(() => world.texts(CHIPID).length === 1);
    const reply = other.client.request(CHIPID, 'ask', { match: { property: 'id', equals: 7 } });
    await until(() => pushes(world) === 1);
    await owner.kill();
    world.simulator.upload(CHIPID, { id: 7 });
    assert.deepEqual((await reply).payload, { id: 7 });
  });

  it('let a command be sent after the next live upload if another process holds the device', async () => {
    const { world, other } = await processes();
    const waiting = other.client.push(CHIPID, 'x', { when: 'upload' });
    await until(() => world.simulator.channels(CHIPID) === 1);
    await until(() => other.client.fleet.device(CHIPID)?.waiting === 1);
    await until(() => {
      world.simulator.upload(CHIPID, 'awake');
      return pushes(world) === 1;
    });
    await waiting;
  });

  it('carry a push to the channel of another process, once, or it is NOT_CONNECTED without an answer', async () => {
    const { world, owner, other } = await processes();
    const frames = (): number =>
      world.simulator.frames.filter(({ text }) => text.includes('msgpush')).length;
    await Promise.all([
      other.client.pushOverChannel(CHIPID, 'from afar'),
      owner.client.pushOverChannel(CHIPID, 'from here'),
    ]);
    await until(() => frames() === 2);
    assert.equal(world.simulator.channels(CHIPID), 1);
    owner.line.isCut = true;
    const elsewhere = world.chipids.find(
      (chipid) => chipid !== CHIPID && clusterOf(owner.member).owns(chipid),
    );
    const late = other.client.pushOverChannel(elsewhere ?? CHIPID, 'x', { timeout: 200 });
    const error = await failure(late, elsewhere === undefined ? 'TIMEOUT' : 'NOT_CONNECTED');
    assert.equal(error.uncertain, elsewhere === undefined);
  });

  it('bring the latest uploads that other processes have received', async () => {
    const { world, owner, other } = await processes(true);
    world.uploadAll('1');
    await world.receivedAll(1);
    for (const { client } of [owner, other]) {
      assert.equal(String((await client.fleet.findLatest(CHIPID))?.body), '1');
      const all = [...(await client.fleet.findLatestAll())];
      assert.deepEqual(all.map(({ chipid }) => chipid).sort(), world.chipids.sort());
    }
    assert.equal(await other.client.fleet.findLatest('5'), undefined);
    owner.line.isCut = true;
    assert.equal(await other.client.fleet.findLatest(CHIPID), undefined);
  });

  it('are ignored if they are malformed, with one fault for each kind', async () => {
    const { world, owner } = await processes();
    const { store } = world;
    const send = async (kind: string, data: unknown): Promise<void> =>
      store.publish('members', JSON.stringify({ from: 'x', kind, data }));
    await store.publish('members', '{'.repeat(100_000));
    await store.publish('members', '[]');
    await send('want', []);
    await send('want', { devices: 'x' });
    await send('want', { devices: [[7], ['./x', true], null] });
    await send('state', { states: [{ chipid: CHIPID, state: 'x', epoch: 1 }, 7] });
    await send('push', { id: 7 });
    await send('push', { id: '7', chipid: CHIPID, body: '?', seconds: 1 });
    await send('upload', { chipid: CHIPID, upload: '{}' });
    await send('answer', { id: '1', uploads: [{}] });
    await send('latest', { id: 7 });
    await send('later version', {});
    assert.equal(new Set(owner.faults).size, owner.faults.length);
    assert.equal(owner.faults.length, 2);
    assert.equal(world.simulator.channels(), 0);
  });
});
