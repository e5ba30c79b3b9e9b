import assert from 'node:assert/strict';
import { DeviceCloudClient } from '../../../src/index';
import type { AckOptions, AckSubscription, WaitingUpload } from '../../../src/recovery/options';
import { LIMITS } from '../../../src/recovery/limits';
import { writeToken } from '../../../src/recovery/token';
import { startSimulator, type Simulator } from '../../../src/simulator';
import { MEMORY, Store } from '../../../src/store/store';
import { GUARD } from '../../../src/util/guard';
import { heldTimers } from '../../support/held-timers';
import { currentDialect } from '../../tooling/dialect';
import { settled, until } from '../../tooling/until';

const [FIRST, SECOND] = ['10000001', '10000002'] as const;
const NODE = 'a1b2';

/** What processes leave on a disk. */
class Disk {
  readonly entries = new Map<string, string>();

  entry(chipid: string = FIRST): { tries?: number } {
    return JSON.parse(this.entries.get(`position:${NODE}:${chipid}`) ?? '{}') as { tries?: number };
  }

  change(change: object, chipid: string = FIRST): void {
    const entry = JSON.stringify({ ...this.entry(chipid), ...change });
    this.entries.set(`position:${NODE}:${chipid}`, entry);
  }
}

interface Settings extends Partial<AckOptions> {
  /** In a cluster. */
  isShared?: boolean;
  chipids?: readonly string[];
  onUpload?: (upload: WaitingUpload) => void;
}

/** A process that listens: what it was given, and ways to end it. */
class Process {
  readonly uploads: WaitingUpload[] = [];
  readonly faults: string[] = [];
  readonly client: DeviceCloudClient;
  readonly subscriptions: AckSubscription[] = [];
  readonly store: Store;
  /** Whether writes fail. */
  isAway = false;
  #isDead = false;

  constructor(simulator: Simulator, disk: Disk, isShared = false) {
    this.store = new Store({
      load: () =>
        Promise.resolve(
          [...disk.entries].map(([key, text]): [string, unknown] => [key, JSON.parse(text)]),
        ),
      unitOf: (key) => key,
      write: (_, changes) => {
        if (this.isAway) return Promise.reject(new Error('the engine is away'));
        if (!this.#isDead)
          for (const [key, value] of changes) disk.entries.set(key, JSON.stringify(value));
        return Promise.resolve(true);
      },
    });
    this.client = new DeviceCloudClient({
      ...{ baseUrl: simulator.baseUrl, appid: simulator.appid, appkey: simulator.appkey },
      ...{ random: () => 0.01, proxy: false, timeout: 30_000, ping: 1000, store: this.store },
      ...(isShared && { [GUARD]: { mayEmit: () => true, send: (_chipid, _ms, send) => send() } }),
    });
  }

  listen({ chipids = [FIRST], onUpload, ...options }: Settings = {}): void {
    for (const chipid of chipids) {
      const listener = {
        onUpload: (upload: WaitingUpload) => {
          this.uploads.push(upload);
          onUpload?.(upload);
        },
        onFault: (fault: string) => void this.faults.push(fault),
      };
      this.subscriptions.push(
        this.client.acknowledged.listen(chipid, listener, {
          ...{ node: NODE, redeliver: 60_000, attempts: 5 },
          ...options,
        }),
      );
    }
  }

  get bodies(): string[] {
    return this.uploads.map(({ body }) => body.toString());
  }

  async has(count: number): Promise<void> {
    await until(() => this.uploads.length >= count, `${count} uploads have come`);
  }

  ack(place = -1): boolean | Promise<boolean> {
    return this.client.acknowledged.acknowledge(this.uploads.at(place)?.ack);
  }

  /** Its channels are open, and the histories are read. */
  async ready(): Promise<void> {
    const isReady = ({ hasPosition, channel }: AckSubscription): boolean =>
      hasPosition && channel.state === 'connected';
    await until(() => this.subscriptions.every(isReady), 'the histories are read');
  }

  /** Ends it as a stop of Node-RED does. */
  async stop(): Promise<void> {
    for (const subscription of this.subscriptions) subscription.release();
    await this.client.close();
    await this.store.close();
  }

  /** Nothing is written any more. */
  kill(): Promise<void> {
    this.#isDead = true;
    return this.stop();
  }
}

describe('acknowledged uploads', () => {
  let simulator: Simulator;
  let disk: Disk;
  const running: Process[] = [];

  async function start(settings?: Settings): Promise<Process> {
    const started = new Process(simulator, disk, settings?.isShared);
    running.push(started);
    await started.store.loaded;
    started.listen(settings);
    return started;
  }

  beforeEach(async () => {
    simulator = await startSimulator({ interval: 0, devices: 2, dialect: currentDialect() });
    disk = new Disk();
  });
  afterEach(async () => {
    for (const each of running.splice(0)) await each.kill();
    await simulator.close();
  });

  /** One upload waits, and each process that is given it is killed. @returns its first token */
  async function killed(body: string, times = 1): Promise<string> {
    let ack = '';
    for (let time = 0; time < times; time++) {
      const process = await start();
      await process.ready();
      if (time === 0) {
        await until(() => process.store.isWritten(`position:${NODE}:${FIRST}`), 'it is written');
        simulator.upload(FIRST, body);
      }
      await process.has(1);
      ack ||= process.uploads[0]?.ack ?? '';
      await process.kill();
    }
    return ack;
  }

  /** Each of two devices has an upload that has been emitted twice, in processes that were killed. */
  async function suspects(): Promise<readonly string[]> {
    const chipids = [FIRST, SECOND];
    const first = await start({ chipids });
    await first.ready();
    for (const chipid of chipids) simulator.upload(chipid, `of ${chipid}`);
    await first.has(2);
    await first.kill();
    for (const chipid of chipids) disk.change({ tries: 2 }, chipid);
    return chipids;
  }

  it('come one at a time of each device', async () => {
    const process = await start({ chipids: [FIRST, SECOND] });
    await process.ready();
    for (const body of ['a', 'b', 'c']) simulator.upload(FIRST, body);
    await process.has(1);
    simulator.upload(SECOND, 'other');
    await process.has(2);
    assert.deepEqual(process.bodies, ['a', 'other']);
    assert.equal(process.client.fleet.metrics().unacknowledged.count, 2);
    assert.ok(process.ack(0));
    await process.has(3);
    assert.ok(process.ack());
    await process.has(4);
    assert.ok(process.ack());
    assert.deepEqual(process.bodies, ['a', 'other', 'b', 'c']);
    const isMarked = ({ redelivered, replayed }: WaitingUpload): boolean =>
      redelivered === true || replayed === true;
    assert.deepEqual(process.uploads.filter(isMarked), []);
    assert.equal(process.client.fleet.metrics().unacknowledged.count, 1);
    assert.equal(process.ack(0), false, 'it is over');
  });

  it('come again if they are not acknowledged in time, with the bytes as they were', async () => {
    const seen: string[] = [];
    const process = await start({
      ...{ redeliver: 20, attempts: 1000 },
      onUpload: ({ body }) => {
        seen.push(body.toString());
        body.fill(0);
      },
    });
    await process.ready();
    simulator.upload(FIRST, 'a');
    simulator.upload(FIRST, 'b');
    await process.has(3);
    assert.deepEqual(seen.slice(0, 3), ['a', 'a', 'a']);
    assert.deepEqual(
      process.uploads.slice(0, 3).map(({ redelivered }) => redelivered),
      [undefined, true, true],
    );
    assert.ok(process.ack(0), 'the token of the first attempt');
    await until(() => seen.includes('b'), 'the next one follows');
    assert.ok(process.ack());
  });

  it('come again in their own time, not in that of the one before, and the token of any attempt is good', async () => {
    const redeliver = 54_321;
    const expire = heldTimers(redeliver);
    const process = await start({ redeliver });
    await process.ready();
    for (const body of ['a', 'b', 'c']) simulator.upload(FIRST, body);
    await process.has(1);
    assert.ok(process.ack());
    await process.has(2);
    expire();
    await process.has(3);
    await settled();
    assert.deepEqual(process.bodies, ['a', 'b', 'b']);
    assert.ok(process.ack());
    await process.has(4);
    assert.deepEqual(process.bodies, ['a', 'b', 'b', 'c']);
  });

  it('are given up after all attempts, and the next one follows', async () => {
    const process = await start({ redeliver: 10, attempts: 3 });
    await process.ready();
    simulator.upload(FIRST, 'a');
    simulator.upload(FIRST, 'b');
    await process.has(5);
    assert.deepEqual(process.bodies.slice(0, 5), ['a', 'a', 'a', 'a', 'b']);
    assert.deepEqual(
      process.uploads.slice(0, 5).map(({ isGivenUp }) => isGivenUp),
      [undefined, undefined, undefined, true, undefined],
    );
    assert.equal(process.ack(0), false);
  });

  it('come again after a kill, marked, and the token of before is good', async () => {
    const ack = await killed('a');
    simulator.upload(FIRST, 'b');
    const process = await start();
    await process.has(1);
    const [again] = process.uploads;
    assert.deepEqual(
      [again?.body.toString(), again?.redelivered, again?.replayed],
      ['a', true, true],
    );
    assert.equal(disk.entry().tries, 2, 'the attempt is on the disk');
    assert.ok(process.client.acknowledged.acknowledge(ack));
    await process.has(2);
    assert.deepEqual([process.bodies[1], process.uploads[1]?.redelivered], ['b', undefined]);
    assert.equal(process.client.acknowledged.acknowledge(ack), false);
  });

  it('need not come again if the token of before comes before they do', async () => {
    const ack = await killed('a');
    const process = await start();
    assert.equal(process.client.acknowledged.acknowledge(ack), false);
    await process.ready();
    simulator.upload(FIRST, 'b');
    await process.has(1);
    assert.deepEqual(process.bodies, ['b']);
  });

  it('that were acknowledged do not come again, whenever the process is killed', async () => {
    const process = await start();
    await process.ready();
    for (const body of ['a', 'b', 'c', 'd']) simulator.upload(FIRST, body);
    for (let count = 1; count <= 3; count++) {
      await process.has(count);
      assert.ok(process.ack());
    }
    await process.has(4);
    await process.kill();
    const next = await start();
    await next.has(1);
    assert.deepEqual([next.bodies[0], next.uploads[0]?.redelivered], ['d', true]);
  });

  it('that end the process each time are given up after all attempts', async () => {
    await killed('a', 5);
    simulator.upload(FIRST, 'b');
    const process = await start();
    await process.has(2);
    assert.deepEqual(process.bodies, ['a', 'b']);
    assert.deepEqual(
      process.uploads.map(({ isGivenUp }) => isGivenUp),
      [true, undefined],
    );
  });

  it('that were missed while nothing waited are not marked until they are emitted', async () => {
    const process = await start();
    await process.ready();
    simulator.upload(FIRST, 'a');
    await process.has(1);
    assert.ok(process.ack());
    await process.stop();
    simulator.upload(FIRST, 'b');
    for (const redelivered of [undefined, true]) {
      const next = await start();
      await next.has(1);
      const [missed] = next.uploads;
      assert.deepEqual([missed?.body.toString(), missed?.replayed], ['b', true]);
      assert.equal(missed?.redelivered, redelivered);
      await next.kill();
    }
  });

  it('that came live after a stop with nothing waiting are marked after a kill', async () => {
    const process = await start();
    await process.ready();
    simulator.upload(FIRST, 'a');
    await process.has(1);
    assert.ok(process.ack());
    await process.stop();
    const next = await start();
    await next.ready();
    await until(() => next.store.isWritten(`position:${NODE}:${FIRST}`), 'it is written');
    simulator.upload(FIRST, 'b');
    await next.has(1);
    assert.deepEqual(
      [next.uploads[0]?.replayed, next.uploads[0]?.redelivered],
      [undefined, undefined],
    );
    await next.kill();
    const last = await start();
    await last.has(1);
    assert.deepEqual([last.bodies[0], last.uploads[0]?.redelivered], ['b', true]);
  });

  it('are emitted alone from the third attempt on, so that one does not use up those of others', async () => {
    const chipids = await suspects();
    const process = await start({ chipids });
    await process.has(1);
    await process.ready();
    const [one] = process.uploads;
    const other = chipids.find((chipid) => chipid !== one?.chipid);
    await until(() => process.client.fleet.metrics().heldBytes > 500, 'the other one waits');
    assert.deepEqual([disk.entry(one?.chipid).tries, disk.entry(other).tries], [3, 2]);
    assert.equal(process.uploads.length, 1);
    assert.ok(process.ack());
    await process.has(2);
    assert.equal(process.uploads[1]?.chipid, other);
    assert.equal(disk.entry(other).tries, 3);
  });

  it('do not wait long for one of another device that is never acknowledged', async () => {
    const chipids = await suspects();
    const process = await start({ chipids, redeliver: 50, attempts: 1000 });
    const both = (): boolean => new Set(process.uploads.map(({ chipid }) => chipid)).size === 2;
    await until(both, 'both have come');
  });

  it('that do not fit into memory are read from the history', async () => {
    const process = await start();
    await process.ready();
    const count = LIMITS.held + 20;
    const bodies = Array.from({ length: count }, (_, n) => `v=${n}`);
    for (const body of bodies) simulator.upload(FIRST, body);
    const { fleet } = process.client;
    await until(() => fleet.metrics().uploads === count, 'all have arrived');
    const states = new Set<string | undefined>();
    for (let place = 1; place <= count; place++) {
      while (process.uploads.length < place) await settled(1);
      assert.ok(process.ack(), `${place}`);
      states.add(process.subscriptions[0]?.channel.state);
    }
    assert.deepEqual(process.bodies, bodies);
    assert.equal(
      process.uploads.findIndex(({ replayed }) => replayed),
      LIMITS.held,
    );
    assert.deepEqual([[...states], process.faults], [['connected'], []]);
    simulator.upload(FIRST, 'later');
    await process.has(count + 1);
    assert.equal(process.bodies.at(-1), 'later');
    await process.stop();
    assert.equal(process.client.fleet.metrics().heldBytes, 0);
  });

  it('may be acknowledged at once', async () => {
    const process: Process = await start({
      onUpload: ({ ack }) => assert.ok(process.client.acknowledged.acknowledge(ack)),
    });
    await process.ready();
    for (let n = 0; n < 50; n++) simulator.upload(FIRST, `v=${n}`);
    await process.has(50);
    assert.deepEqual(process.faults, []);
    assert.equal(process.client.fleet.metrics().unacknowledged.count, 0);
    await process.stop();
    simulator.upload(FIRST, 'later');
    const next = await start();
    await next.has(1);
    assert.deepEqual([next.bodies, next.uploads[0]?.redelivered], [['later'], undefined]);
  });

  it('of the transparent serial mode need no acknowledgement', async () => {
    const process = await start();
    await process.ready();
    simulator.upload(FIRST, 'a');
    simulator.upload(FIRST, 'serial', { type: 'uart_trans' });
    await process.has(2);
    assert.deepEqual(
      process.uploads.map(({ type, ack }) => [type, typeof ack]).sort(),
      [
        [undefined, 'string'],
        ['uart_trans', 'undefined'],
      ].sort(),
    );
  });

  it('wait for their own token, of this application', async () => {
    const process = await start();
    await process.ready();
    simulator.upload(FIRST, 'a');
    simulator.upload(FIRST, 'b');
    await process.has(1);
    const { acknowledged } = process.client;
    for (const none of [undefined, '', 'abc', 5, {}, '%', 'bnVsbA', 'WzFd'])
      assert.throws(() => acknowledged.acknowledge(none), /INVALID_INPUT: msg\.ack must be/);
    const [upload] = process.uploads;
    assert.ok(upload);
    const { appid } = simulator;
    const own = { appid, node: NODE, run: 1, serial: 1 };
    assert.throws(
      () => acknowledged.acknowledge(writeToken(upload, { ...own, appid: '99' })),
      /INVALID_INPUT: .*application 99/,
    );
    for (const of of [own, { ...own, node: 'other' }])
      assert.equal(acknowledged.acknowledge(writeToken(upload, of)), false);
    assert.equal(process.uploads.length, 1);
    assert.ok(process.ack());
  });

  it('go on where they were if their position is kept in memory, over clients', async () => {
    const memory = new Store(MEMORY);
    const first = await start({ memory });
    await first.ready();
    simulator.upload(FIRST, 'a');
    await first.has(1);
    first.subscriptions[0]?.release();
    first.listen({ memory });
    await first.has(2);
    await first.stop();
    const second = await start({ memory });
    await second.has(1);
    assert.deepEqual([...first.bodies, ...second.bodies], ['a', 'a', 'a']);
    assert.ok(second.uploads[0]?.redelivered);
    assert.equal(disk.entries.has(`position:${NODE}:${FIRST}`), false);
  });

  it('are acknowledged by any client of their application', async () => {
    const [listener, other] = [await start(), await start({ chipids: [] })];
    await listener.ready();
    simulator.upload(FIRST, 'a');
    simulator.upload(FIRST, 'b');
    await listener.has(1);
    const elsewhere = await startSimulator({ interval: 0, devices: 2, dialect: currentDialect() });
    const stranger = new Process(elsewhere, new Disk());
    running.push(stranger);
    const [upload] = listener.uploads;
    assert.equal(stranger.client.acknowledged.acknowledge(upload?.ack), false);
    assert.ok(other.client.acknowledged.acknowledge(upload?.ack));
    await listener.has(2);
    assert.deepEqual(listener.bodies, ['a', 'b']);
    await elsewhere.close();
  });

  it('are not emitted by one of several processes before the attempt is written', async () => {
    const first = await start({ isShared: true });
    await first.ready();
    simulator.upload(FIRST, 'first');
    await first.has(1);
    simulator.upload(FIRST, 'second');
    first.isAway = true;
    await first.ack();
    await until(() => first.store.problem !== undefined, 'it cannot be written');
    assert.deepEqual(first.bodies, ['first']);
    first.isAway = false;
    await first.has(2);
    assert.deepEqual(first.bodies, ['first', 'second']);
    assert.equal(first.uploads.at(-1)?.redelivered, undefined);
    // Whoever has the device next emits the second one again, marked.
    await first.kill();
    const second = await start({ isShared: true });
    await second.has(1);
    const [again] = second.uploads;
    assert.deepEqual([again?.body.toString(), again?.redelivered], ['second', true]);
  });
});
