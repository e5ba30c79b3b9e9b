import assert from 'node:assert/strict';
import { until } from '../../../tooling/until';
import { Cluster, clusterOf } from '../../../src/cluster/cluster';
import { MemoryStore } from './memory-store';
import type { ClusterJob, Upload } from '../../../src/for-nodes';
import { atEnd } from '../../../tooling/servers/at-end';
import { clientOf, simulator } from '../support/client';
import { gone, resources } from '../support/resources';
import { thrown } from '../support/failure';
import { ProcessModel, Processes } from './processes';

const DEVICES = 12;

async function processes(count = 2): Promise<Processes> {
  return new Processes(await simulator({ devices: DEVICES }), count);
}

describe('listening with a cluster', () => {
  it('opens the channel of each device in one process, which alone emits', async () => {
    const world = await processes();
    world.listen();
    await world.served();
    assert.equal(world.simulator.channels(), DEVICES);
    world.uploadAll('1');
    await world.receivedAll(1);
    for (const chipid of world.chipids) {
      assert.deepEqual(world.texts(chipid), ['1']);
      assert.deepEqual(world.owner(chipid)?.received.get(chipid), ['1']);
    }
  });

  it('opens all channels in the processes that have a listener', async () => {
    const world = await processes(3);
    const [listening, pushing, idle] = world.all as [ProcessModel, ProcessModel, ProcessModel];
    for (const chipid of world.chipids) listening.listen(chipid);
    const [asked = ''] = world.chipids;
    const reply = pushing.client.request(asked, 'ask', { match: { property: 'id', equals: 7 } });
    await until(() => world.chipids.every((each) => listening.state(each) === 'connected'));
    assert.deepEqual(idle.client.cluster?.members.length, 3);
    world.uploadAll('1');
    await world.receivedAll(1);
    await until(() => world.simulator.requests.some(({ path }) => path.includes('push')));
    world.simulator.upload(asked, { id: 7 });
    assert.deepEqual((await reply).payload, { id: 7 });
  });

  it('passes the devices of a process that dies to the others, which lose and repeat nothing', async () => {
    const world = await processes(3);
    world.listen();
    await world.served();
    world.uploadAll('1');
    await world.receivedAll(1);
    const [dead, ...others] = world.all as [ProcessModel, ProcessModel, ProcessModel];
    await dead.kill();
    world.uploadAll('2');
    await until(() => world.chipids.every((chipid) => world.isServed(chipid, others)));
    world.uploadAll('3');
    await world.receivedAll(3);
    for (const chipid of world.chipids) assert.deepEqual(world.texts(chipid), ['1', '2', '3']);
  });

  it('passes the devices of a process that leaves to the others, and shares with one that joins', async () => {
    const world = await processes();
    world.listen();
    await world.served();
    world.uploadAll('1');
    await world.receivedAll(1);
    const [first, second] = world.all as [ProcessModel, ProcessModel];
    await first.client.close();
    await first.member.close();
    await until(() => world.chipids.every((chipid) => world.isServed(chipid, [second])));
    world.uploadAll('2');
    await world.receivedAll(2);
    const third = new ProcessModel(world.store, world.simulator);
    world.all.push(third);
    for (const chipid of world.chipids) third.listen(chipid);
    await world.served([second, third]);
    world.uploadAll('3');
    await world.receivedAll(3);
    for (const chipid of world.chipids) assert.deepEqual(world.texts(chipid), ['1', '2', '3']);
  });

  it('emits nothing while the store is away, keeps the channels, and then emits all of it once', async () => {
    const world = await processes();
    world.listen();
    await world.served();
    world.uploadAll('1');
    await world.receivedAll(1);
    const opened = world.simulator.requests.filter(({ path }) => path.includes('/noticed/')).length;
    for (const { line } of world.all) line.isCut = true;
    await until(() => world.all.every(({ member }) => member.state === 'awaiting'));
    world.uploadAll('2');
    world.uploadAll('3');
    await arrived(world, '3');
    assert.deepEqual(
      new Set(world.chipids.flatMap((chipid) => world.texts(chipid))),
      new Set(['1']),
    );
    assert.ok(world.chipids.every((chipid) => world.isServed(chipid)));
    for (const { line } of world.all) line.isCut = false;
    await world.receivedAll(3);
    world.uploadAll('4');
    await world.receivedAll(4);
    for (const chipid of world.chipids)
      assert.deepEqual(world.texts(chipid), ['1', '2', '3', '4'], chipid);
    const reopened = world.simulator.requests.filter(({ path }) => path.includes('/noticed/'));
    assert.equal(reopened.length, opened);
  });

  it('opens no channel while a process is cut off from the store, and takes them back once it is not', async () => {
    const world = await processes();
    world.listen();
    await world.served();
    const [cut, other] = world.all as [ProcessModel, ProcessModel];
    const chipid = world.chipids.find((each) => world.owner(each) === cut) ?? '';
    const states = listenStates(cut, chipid);
    cut.line.isCut = true;
    await until(() => world.chipids.every((each) => other.state(each) === 'connected'));
    assert.equal(cut.state(chipid), 'connected', 'keeps open what was open');
    // As a service does that closes the older channel of a device.
    for (const each of world.chipids) world.simulator.disconnect(each);
    await until(() => states.includes('disconnected CLUSTER'));
    await until(() => world.chipids.every((each) => other.state(each) === 'connected'));
    await until(() => world.simulator.channels() === DEVICES, 'only the other one has channels');
    assert.deepEqual(states.slice(states.indexOf('disconnected CLUSTER') + 1), []);
    cut.line.isCut = false;
    await world.served();
    world.uploadAll('2');
    await world.receivedAll(1);
    for (const each of world.chipids) assert.deepEqual(world.texts(each), ['2']);
  });

  it('opens what it could not open meanwhile, with a fresh back-off, once the store is back', async () => {
    const world = await processes(1);
    world.listen();
    await world.served();
    const [only] = world.all as [ProcessModel];
    only.line.isCut = true;
    await until(() => only.member.state === 'awaiting');
    const [chipid = ''] = world.chipids;
    const states = listenStates(only, chipid);
    for (const each of world.chipids) world.simulator.disconnect(each);
    await until(() => states.includes('disconnected CLUSTER'));
    await until(() => world.simulator.channels() === 0, 'all are closed');
    world.uploadAll('1');
    only.line.isCut = false;
    await world.receivedAll(1);
    assert.equal(world.simulator.channels(), DEVICES);
  });

  it('closes a channel that a push has kept open when its device moves', async () => {
    const world = await processes(1);
    world.listen();
    await world.served();
    const [first] = world.all as [ProcessModel];
    for (const chipid of world.chipids) await first.client.pushOverChannel(chipid, 'x');
    const second = new ProcessModel(world.store, world.simulator);
    world.all.push(second);
    for (const chipid of world.chipids) second.listen(chipid);
    await world.served();
    await until(() => world.simulator.channels() === DEVICES);
    assert.ok(world.chipids.every((chipid) => world.simulator.channels(chipid) === 1));
  });

  for (const [at, queue] of [
    ['missed 2', false],
    ['held 2', false],
    ['held 2', true],
  ] as const)
    it(`repeats nothing if the flow blocks the process at '${at}' of a batch${queue ? ', nor in the queue' : ''}`, async () => {
      const world = await processes(1);
      const [{ client, member }] = world.all as [ProcessModel];
      const [chipid = ''] = world.chipids;
      const texts: string[] = [];
      const queued: string[] = [];
      const onUpload = ({ body }: Upload): void => {
        const text = body.toString();
        texts.push(text);
        // Longer than a lease.
        if (text === at) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
      };
      const opened = (): number =>
        world.simulator.requests.filter(({ path }) => path.includes('/noticed/')).length;
      const { channel } = client.listen(chipid, { onUpload }, {});
      if (queue) {
        client.listen(chipid, {}, { deliver: 'queue' });
        member.work({
          deliver({ upload, token }) {
            queued.push(upload.body.toString());
            void member.acknowledge(token);
          },
        });
      }
      await until(() => channel.state === 'connected');
      world.simulator.upload(chipid, 'first');
      await until(() => texts.includes('first') && queued.includes('first') === queue);
      const lift = world.simulator.fail('server-error', { path: 'up_messages' });
      world.simulator.disconnect(chipid);
      for (const index of [1, 2, 3]) world.simulator.upload(chipid, `missed ${index}`);
      await until(() => opened() >= 2 && channel.state === 'connected');
      for (const index of [1, 2, 3]) world.simulator.upload(chipid, `held ${index}`);
      lift();
      const missed = ['missed 1', 'missed 2', 'missed 3'];
      const all = ['first', ...missed, 'held 1', 'held 2', 'held 3', 'last'];
      await until(() => texts.includes('held 3'));
      world.simulator.upload(chipid, 'last');
      await until(() => texts.includes('last') && queued.includes('last') === queue);
      assert.deepEqual(texts, all);
      assert.deepEqual(queued, queue ? all : []);
    });

  it('continues at the position with a new client on the same membership', async () => {
    const world = await processes(1);
    world.listen();
    await world.served();
    world.uploadAll('1');
    await world.receivedAll(1);
    const [before] = world.all as [ProcessModel];
    await before.client.close();
    world.uploadAll('2');
    const client = clientOf(world.simulator.baseUrl, { cluster: before.member });
    const texts: string[] = [];
    for (const chipid of world.chipids)
      client.listen(chipid, { onUpload: ({ body }) => texts.push(body.toString()) }, {});
    await until(() => texts.length === DEVICES);
    assert.deepEqual(new Set(texts), new Set(['2']));
  });

  it('has one position for all listeners of a device, and a copy of the bytes for each', async () => {
    const world = await processes(1);
    const [only] = world.all as [ProcessModel];
    const [chipid] = world.chipids as [string];
    const bodies: Buffer[] = [];
    for (let count = 0; count < 2; count++)
      only.client.listen(chipid, { onUpload: ({ body }) => bodies.push(body) }, {});
    await until(() => world.simulator.channels(chipid) === 1);
    world.simulator.upload(chipid, 'same');
    await until(() => bodies.length === 2);
    assert.deepEqual(bodies.map(String), ['same', 'same']);
    assert.notEqual(bodies[0], bodies[1]);
  });

  it('appends each upload to the queue instead, once and in order, also if a process dies', async () => {
    const world = await processes(2);
    const [dying, { member: workers }] = world.all as [ProcessModel, ProcessModel];
    const jobs: ClusterJob[] = [];
    workers.work({
      deliver(job) {
        jobs.push(job);
        void workers.acknowledge(job.token);
      },
    });
    world.listen({ deliver: 'queue' });
    await world.served();
    world.uploadAll('1');
    await until(() => jobs.length === DEVICES);
    await dying.kill();
    world.uploadAll('2');
    world.uploadAll('3');
    await until(() => jobs.length >= 3 * DEVICES);
    for (const chipid of world.chipids) {
      const texts = jobs
        .filter((job) => job.chipid === chipid)
        .map(({ upload }) => String(upload.body));
      assert.deepEqual(texts, ['1', '2', '3']);
    }
    assert.equal(world.chipids.flatMap((chipid) => world.texts(chipid)).length, 0);
  });

  it('leaves nothing open when client and membership are closed, whatever is under way', async () => {
    const service = await simulator({ devices: 2 });
    const before = resources();
    const world = new Processes(service, 2);
    world.listen();
    await until(() => service.channels() > 0);
    const ended = world.all.flatMap(({ client }) => {
      client.fleet.watch({ events: ['presence', 'channel'] }, { onEvent: () => undefined });
      return [
        client.request('10000001', 'x', { match: { property: 'x', equals: 1 } }),
        client.pushOverChannel('10000002', 'x'),
        client.push('10000001', 'x', { when: 'upload' }),
        client.fleet.findLatestAll(),
      ];
    });
    const settled = Promise.allSettled(ended);
    for (const { client } of world.all) await client.close();
    for (const { member } of world.all) await member.close();
    await settled;
    await gone(before);
  });

  it('needs the option recover, and a membership', async () => {
    const { baseUrl } = await simulator();
    const member = new Cluster({ store: new MemoryStore() });
    atEnd(() => member.close());
    const client = clientOf(baseUrl, { cluster: member });
    thrown(() => client.listen('1', {}), 'INVALID_INPUT');
    thrown(() => client.listen('1', {}, { zone: 'x' }), 'INVALID_INPUT');
    assert.equal(client.cluster, member);
    thrown(() => clientOf(baseUrl, { cluster: {} as typeof member }), 'NOT_CONFIGURED');
  });

  it('starts over, with one fault, if the position is malformed', async () => {
    const world = await processes(1);
    const [only] = world.all as [ProcessModel];
    const [chipid] = world.chipids as [string];
    clusterOf(only.member).claims.use('listens');
    await until(() => clusterOf(only.member).mayEmit(chipid));
    clusterOf(only.member).positions.save(chipid, '{"id":7}');
    only.listen(chipid);
    await until(() => only.state(chipid) === 'connected');
    world.simulator.upload(chipid, '1');
    await until(() => only.received.get(chipid)?.length === 1);
    assert.deepEqual(only.faults.length, 1);
  });
});

/** The states of a device's channel in a process from now on, with their reasons. */
function listenStates({ client }: ProcessModel, chipid: string): string[] {
  const states: string[] = [];
  client.listen(
    chipid,
    { onState: (state, reason) => states.push([state, reason].filter(Boolean).join(' ')) },
    {},
  );
  return states;
}

/** Waits until each upload has reached the process that has its device. */
const arrived = (world: Processes, text: string): Promise<void> =>
  until(() =>
    world.chipids.every(
      (chipid) => String(world.owner(chipid)?.client.fleet.latest(chipid)?.body) === text,
    ),
  );
