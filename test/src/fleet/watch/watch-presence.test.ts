import assert from 'node:assert/strict';
import { World } from './watch-subject';
import { useClock } from '../../../support/clock';

const HUGE = '12345678901234567890';

describe('a watch: presence', () => {
  useClock();

  it('emits nothing for the state at the start, and then each change', () => {
    const world = new World();
    const subject = world.watch();
    world.read([1, 2]);
    assert.deepEqual(subject.emitted(), []);
    world.pass(60);
    world.read([2, HUGE]);
    assert.deepEqual(subject.emitted(), [`online ${HUGE}`]);
    world.pass(60);
    world.read([2, HUGE]);
    assert.deepEqual(subject.emitted(), ['offline 1']);
    world.pass(60);
    world.read([1, 2]);
    assert.deepEqual(subject.emitted(), ['online 1']);
    assert.deepEqual(subject.watch.counts(), { devices: 3, online: 3 });
  });

  it('includes since when, the name, and the last upload', () => {
    const world = new World();
    const subject = world.watch();
    world.read([{ chipid: 1, name: 'Greenhouse' }]);
    const uploaded = Date.now();
    world.upload('1');
    world.pass(60);
    const gone = Date.now();
    world.read([]);
    world.pass(60);
    world.read([]);
    assert.deepEqual(subject.events, [
      {
        event: 'offline',
        appid: '10001',
        chipid: '1',
        online: false,
        name: 'Greenhouse',
        since: gone,
        lastUpload: uploaded,
      },
    ]);
  });

  it('makes no device offline that uploads during a reading, or between two readings', () => {
    const world = new World();
    const subject = world.watch({ misses: 1 });
    world.read([1]);
    world.pass(60);
    const began = Date.now();
    world.upload('1');
    world.read([], true, began);
    assert.deepEqual(subject.emitted(), []);
    world.pass(60);
    world.read([]);
    assert.deepEqual(subject.emitted(), ['offline 1']);
    const flapping = world.watch({ misses: 2 });
    world.read([1]);
    for (let i = 0; i < 3; i++) {
      world.read([]);
      world.pass(30);
      world.upload('1');
      world.pass(30);
    }
    assert.deepEqual(flapping.emitted(), []);
  });

  it('counts a live upload as a sign that a device is online, but not a replayed one', () => {
    const world = new World();
    const subject = world.watch();
    world.read([]);
    world.registry.onEmitted({
      ...{ chipid: '7', appid: '10001', timestamp: 1, body: Buffer.from('x') },
      replayed: true,
      id: 5,
    });
    assert.deepEqual(subject.emitted(), []);
    world.upload('7');
    world.upload('7');
    assert.deepEqual(subject.emitted(), ['online 7']);
    for (let i = 0; i < 2; i++) {
      world.pass(60);
      world.read([]);
    }
    assert.deepEqual(subject.emitted(), ['offline 7']);
  });

  it('makes no device offline by failures: after three in a row all are unknown, once, and then known again', () => {
    const world = new World();
    const subject = world.watch({ misses: 1 });
    world.read([1]);
    world.fail(2);
    world.read([1]);
    world.fail(2);
    assert.deepEqual(subject.emitted(), []);
    world.pass(60);
    world.fail(5);
    const [unknown] = subject.events;
    assert.equal(unknown?.reason, 'UNREACHABLE');
    assert.deepEqual([unknown?.online, unknown?.name, unknown?.lastUpload], [null, null, null]);
    assert.deepEqual(subject.emitted(), ['unknown']);
    world.upload('2');
    assert.deepEqual(subject.emitted(), ['online 2']);
    world.pass(60);
    world.read([1, 2]);
    assert.deepEqual(subject.emitted(), ['known']);
  });

  it('watches only the devices of a given list', () => {
    const world = new World();
    const subject = world.watch({ chipids: [1, '007'] });
    world.read([1, 2]);
    world.upload('3');
    world.read([7, 2]);
    world.read([7, 2]);
    assert.deepEqual(subject.emitted(), ['online 7', 'offline 1']);
    assert.deepEqual(subject.watch.counts(), { devices: 2, online: 1 });
  });

  it('emits nothing of a group that was not requested, and nothing after it was closed', () => {
    const world = new World();
    const subject = world.watch({ events: ['recovery'] });
    world.read([1]);
    world.read([2]);
    world.registry.onRecovering('2');
    world.registry.onRecovered('2', 3, 0);
    assert.equal(subject.events[1]?.count, 3);
    assert.deepEqual(subject.emitted(), ['recovering 2', 'recovered 2']);
    subject.watch.close();
    world.registry.onRecovering('2');
    world.read([1]);
    assert.deepEqual(subject.emitted(), []);
  });

  it('continues if its listener throws, and ends if its listener closes it', () => {
    const world = new World();
    const emitted: string[] = [];
    const warnings = process.listenerCount('warning');
    const subject = world.watch({}, undefined, {
      onEvent: ({ chipid = '' }) => {
        emitted.push(chipid);
        if (chipid === '2') subject.watch.close();
        throw new Error('of the flow');
      },
    });
    world.read([]);
    world.read([1, 2, 3, 4]);
    assert.deepEqual(emitted, ['1', '2']);
    assert.equal(process.listenerCount('warning'), warnings);
  });
});

describe('a watch: hostile lists', () => {
  useClock();

  it('keeps at most 10,000 devices, forgets only offline ones, and repeats nothing', () => {
    const world = new World();
    const subject = world.watch({ misses: 1 });
    const many = Array.from({ length: 100_000 }, (_, index) => index);
    world.read([]);
    world.read(many);
    assert.equal(subject.emitted().length, 10_000);
    world.upload('99999');
    world.read(many);
    assert.deepEqual(subject.emitted(), []);
    assert.deepEqual(subject.watch.counts(), { devices: 10_000, online: 10_000 });
    world.pass(60);
    world.read(many.slice(0, 9_000));
    assert.equal(subject.emitted().length, 1_000);
    world.read(['a', 77777]);
    assert.equal(subject.emitted().at(-1), 'online 77777');
    assert.ok(subject.watch.counts().devices <= 10_000);
  });

  it('reads what it can of malformed records, and of names that are objects or huge', async () => {
    const world = new World();
    const subject = world.watch();
    world.read([]);
    world.read([
      { chipid: 1.5 },
      { chipid: { toString: () => '5' } },
      { chipid: -1 },
      {},
      { chipid: '../x' },
      { chipid: 1, name: { a: 1 } },
      { chipid: 2, name: 'n'.repeat(1_000_000) },
      { chipid: 3, name: 5 },
    ]);
    const names = subject.events.map(({ name }) => name);
    assert.deepEqual([names[0], names[1]?.length, names[2]], [null, 200, '5']);
    const kept = await subject.kept();
    assert.ok(JSON.stringify(kept.list('event:events:')).length < 1000);
  });
});

describe('a watch: other devices', () => {
  useClock();

  it('are followed: what it knows of those that stay is kept, what they have done so far, too', () => {
    const world = new World();
    const options = { silence: 60_000, settle: 10_000, events: ['presence', 'channel'] } as const;
    const subject = world.watch({ ...options, chipids: ['1', '2'] });
    world.channel('1', 'connected');
    world.channel('2', 'connected');
    world.channel('3', 'connected');
    world.read(['1', '2', '3']);
    world.read(['3']);
    world.pass(40);
    world.channel('2', 'disconnected');
    world.pass(6);
    subject.watch.follow(['2', '1', '3']);
    assert.deepEqual(subject.watch.counts(), { devices: 3, online: 3 });
    world.pass(5);
    assert.deepEqual(subject.emitted(), ['disconnected 2']);
    world.pass(10);
    assert.deepEqual(subject.emitted(), ['silent 1']);
    world.read(['3']);
    assert.deepEqual(subject.emitted(), ['offline 1', 'offline 2']);
    subject.watch.follow(['3']);
    world.read(['1', '2', '3']);
    world.channel('1', 'disconnected');
    world.pass(30);
    assert.deepEqual(subject.emitted(), []);
    assert.deepEqual(subject.watch.counts(), { devices: 1, online: 1 });
    assert.throws(() => subject.watch.follow(['x']), { code: 'INVALID_INPUT' });
  });

  it('have their state emitted once with `start: current`, when they are followed', () => {
    const world = new World();
    const subject = world.watch({ start: 'current', misses: 1, chipids: [] });
    world.read(['1']);
    subject.watch.follow(['1', '2']);
    assert.deepEqual(subject.emitted(), ['online 1']);
    world.read(['1']);
    assert.deepEqual(subject.emitted(), ['offline 2']);
    subject.watch.follow(['2', '1']);
    world.read(['1']);
    assert.deepEqual(subject.emitted(), []);
  });
});
