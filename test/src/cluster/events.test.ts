import assert from 'node:assert/strict';
import { clusterOf } from '../../../src/cluster/cluster';
import type { Watch, WatchOptions } from '../../../src/for-nodes';
import { until } from '../../../tooling/until';
import { simulator } from '../support/client';
import { ProcessModel, Processes } from './processes';

const DEVICES = 6;

class WatchedWorld {
  readonly events: string[] = [];
  readonly watches = new Map<ProcessModel, Watch>();
  /** How often each process has read the list. */
  readonly readings = new Map<ProcessModel, number>();

  constructor(readonly world: Processes) {}

  watch(each: ProcessModel, options: WatchOptions = {}): void {
    const watch = each.client.fleet.watch(
      { refresh: 1000, misses: 1, ...options },
      {
        onEvent: ({ event, chipid = 'all' }) => this.events.push(`${event} ${chipid}`),
        onReading: () => this.readings.set(each, this.readingsOf(each) + 1),
      },
    );
    this.watches.set(each, watch);
  }

  readingsOf(each: ProcessModel): number {
    return this.readings.get(each) ?? 0;
  }

  /** Waits until every process has read its first list, in which nothing is an event. */
  known(): Promise<void> {
    return until(() => this.world.all.every((each) => this.readingsOf(each) > 0));
  }

  /** Waits until each of the processes has read the list anew. */
  async read(among = this.world.all.filter(({ line }) => !line.isCut)): Promise<void> {
    const before = new Map(this.readings);
    await until(() => among.every((each) => this.readingsOf(each) >= (before.get(each) ?? 0) + 2));
  }
}

async function watched(options: WatchOptions = {}): Promise<WatchedWorld> {
  const world = new Processes(await simulator({ devices: DEVICES }), 2);
  const subject = new WatchedWorld(world);
  for (const each of world.all) subject.watch(each, options);
  world.listen();
  await world.served();
  return subject;
}

const sorted = (event: string, chipids: readonly string[]): string[] =>
  chipids.map((chipid) => `${event} ${chipid}`).sort();

describe('the events of a client with a cluster', () => {
  it('are emitted once, by the owner of the device, also after the device has moved', async () => {
    const subject = await watched();
    const { world, events } = subject;
    await subject.known();
    for (const chipid of world.chipids) world.simulator.switchOff(chipid);
    await until(() => events.length >= DEVICES);
    await subject.read();
    assert.deepEqual(events.splice(0).sort(), sorted('offline', world.chipids));
    const [dead, other] = world.all as [ProcessModel, ProcessModel];
    await dead.kill();
    await until(() => world.chipids.every((chipid) => clusterOf(other.member).mayEmit(chipid)));
    for (const chipid of world.chipids) world.simulator.switchOn(chipid);
    await until(() => events.length >= DEVICES);
    await subject.read();
    assert.deepEqual(events.sort(), sorted('online', world.chipids));
  });

  it('of all devices are emitted by one process', async () => {
    const subject = await watched();
    const lift = subject.world.simulator.fail('server-error', { path: 'devices' });
    await until(() => subject.events.length > 0);
    lift();
    await until(() => subject.events.length > 1);
    await subject.read();
    assert.deepEqual(subject.events, ['unknown all', 'known all']);
  });

  it('repeat nothing in a process that was cut off while others emitted, once it has learned their state', async () => {
    const subject = await watched();
    const { world, events } = subject;
    await subject.known();
    const [cut, dying] = world.all as [ProcessModel, ProcessModel];
    cut.line.isCut = true;
    await until(() => cut.member.state === 'awaiting');
    await until(() => world.chipids.every((chipid) => clusterOf(dying.member).mayEmit(chipid)));
    for (const chipid of world.chipids) world.simulator.switchOff(chipid);
    await until(() => events.length >= DEVICES);
    const state = subject.watches.get(dying)?.state();
    await dying.kill();
    const back = new Promise<void>((resolve) => {
      cut.member.listen({
        onState(now) {
          if (now !== 'member') return;
          subject.watches.get(cut)?.learn(state);
          resolve();
        },
      });
    });
    cut.line.isCut = false;
    await back;
    await until(() => world.chipids.every((chipid) => clusterOf(cut.member).mayEmit(chipid)));
    await subject.read();
    assert.deepEqual(events.sort(), sorted('offline', world.chipids));
  });

  it('report a device that is new while no process may emit anything, once one may again', async () => {
    const subject = await watched();
    const { world, events } = subject;
    await subject.known();
    for (const { line } of world.all) line.isCut = true;
    await until(() => world.all.every(({ member }) => member.state === 'awaiting'));
    world.simulator.addDevice({ chipid: 77 });
    await subject.read(world.all);
    for (const { line } of world.all) line.isCut = false;
    await until(() => events.length > 0);
    await subject.read();
    assert.deepEqual(events, ['online 77']);
    for (const watch of subject.watches.values()) assert.equal(watch.counts().devices, DEVICES + 1);
  });

  it('with start: current, report each device once, also if a process joins later', async () => {
    const subject = await watched({ start: 'current' });
    const { world, events } = subject;
    await until(() => events.length >= DEVICES);
    const third = new ProcessModel(world.store, world.simulator);
    world.all.push(third);
    subject.watch(third, { start: 'current' });
    for (const chipid of world.chipids) third.listen(chipid);
    await until(() => world.chipids.some((chipid) => clusterOf(third.member).mayEmit(chipid)));
    await subject.read();
    assert.deepEqual(events.sort(), sorted('online', world.chipids));
  });
});
