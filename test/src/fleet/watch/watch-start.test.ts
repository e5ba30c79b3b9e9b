import assert from 'node:assert/strict';
import type { WatchOptions } from '../../../../src/fleet/watch/watch-types';
import { MEMORY, Store } from '../../../../src/store/store';
import { type Watched, World } from './watch-subject';
import { useClock } from '../../../support/clock';

/** Ends a watch and starts another one, perhaps of another world, with the state it had, as JSON. */
async function restart(subject: Watched, options: WatchOptions = {}, world = new World()) {
  const store = await subject.kept();
  subject.watch.close();
  return { world, subject: world.watch(options, store) };
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

describe('a watch: start and restart', () => {
  useClock();

  it('with 5,000 devices of which 3 changed emits 3 events', async () => {
    const before = new World();
    const first = before.watch({ misses: 2 });
    before.read(range(0, 5000));
    const { world, subject } = await restart(first);
    world.read(range(2, 5001));
    assert.deepEqual(subject.emitted(), ['online 5000']);
    world.pass(60);
    world.read(range(2, 5001));
    assert.deepEqual(subject.emitted(), ['offline 0', 'offline 1']);
  });

  it('remembers names, since when, and that the list could not be read', async () => {
    const before = new World();
    const first = before.watch();
    before.read([]);
    const since = Date.now();
    before.read([{ chipid: 1, name: 'Cold store' }, 2]);
    before.fail(3);
    const { world, subject } = await restart(first);
    world.pass(60);
    world.fail(3);
    assert.deepEqual(subject.emitted(), []);
    world.read([2]);
    assert.deepEqual(subject.emitted(), ['known']);
    world.read([2]);
    const [offline] = subject.events;
    assert.equal(offline?.name, 'Cold store');
    assert.ok((offline?.since ?? 0) > since);
  });

  it('emits nothing for an upload before the first reading, unless it is a change', async () => {
    const world = new World();
    const fresh = world.watch();
    world.upload('1');
    world.read([1]);
    assert.deepEqual(fresh.emitted(), []);
    const again = await restart(fresh);
    again.world.upload('1');
    again.world.upload('2');
    assert.deepEqual(again.subject.emitted(), ['online 2']);
  });

  it('with current emits each state once, after the first reading', async () => {
    const before = new World();
    const first = before.watch({ start: 'current' });
    before.upload('3');
    assert.deepEqual(first.emitted(), []);
    before.read([1, 2]);
    assert.deepEqual(first.emitted().sort(), ['online 1', 'online 2', 'online 3']);
    before.read([1, 3]);
    before.read([1, 3]);
    assert.deepEqual(first.emitted(), ['offline 2']);
    const { world, subject } = await restart(first, { start: 'current' });
    world.upload('1');
    assert.deepEqual(subject.emitted(), []);
    world.read([1, 3]);
    assert.deepEqual(subject.emitted().sort(), ['offline 2', 'online 1', 'online 3']);
    world.read([1, 2, 3]);
    assert.deepEqual(subject.emitted(), ['online 2']);
  });

  it('with current emits the state of chosen devices that are not listed', () => {
    const world = new World();
    const subject = world.watch({ chipids: ['1', '2'], start: 'current' });
    world.read([1], false);
    assert.deepEqual(subject.emitted(), ['online 1', 'offline 2']);
  });

  it('with current waits no longer than until the list is unknown', () => {
    const world = new World();
    const subject = world.watch({ start: 'current', events: ['presence', 'channel'] });
    world.channel('1', 'connected');
    world.fail(3);
    world.upload('1');
    assert.deepEqual(subject.emitted(), ['unknown', 'connected 1', 'online 1']);
    world.read([1, 2]);
    assert.deepEqual(subject.emitted(), ['known', 'online 2']);
  });

  it('ignores what is invalid of a saved state', () => {
    const garbage = [[], null, ['x', true], ['1', 'yes', '2', 1, 1, {}], 5, ['2', true, NaN]];
    for (const list of [{ complete: 'yes', unknown: 1 }, 'state', null, []]) {
      const world = new World();
      const store = new Store(MEMORY);
      store.update('event:events:list', list);
      for (const [index, value] of garbage.entries()) store.update(`event:events:${index}`, value);
      const subject = world.watch({}, store);
      world.read([1, 2, 3]);
      assert.deepEqual(subject.emitted(), []);
    }
  });

  it('refuses invalid options', () => {
    const world = new World();
    for (const [options, message] of [
      [{ misses: 1.5 }, /misses must be a whole number/],
      [{ refresh: 500 }, /refresh must be a number from 1000/],
      [{ silence: -1 }, /silence must be/],
      [{ chipids: ['x'] }, /chip number/],
      [{ chipids: 5 as never }, /chipids must be an array/],
      [
        { events: ['all' as never] },
        /Each of events must be presence, alarm, channel or recovery,/,
      ],
      [{ start: 'now' as never }, /start must be none or current,/],
    ] as const) {
      assert.throws(() => world.watch(options), message);
    }
  });
});

describe('a watch: silence', () => {
  useClock();

  it('reports a device that has not uploaded for some time on a connected channel, and when it uploads again', () => {
    const world = new World();
    const subject = world.watch({ silence: 60_000 });
    world.read([1, 2]);
    world.channel('1', 'connected');
    world.pass(50);
    world.upload('1');
    world.pass(59);
    assert.deepEqual(subject.emitted(), []);
    world.pass(1);
    assert.deepEqual(subject.emitted(), ['silent 1']);
    world.channel('1', 'disconnected');
    world.channel('1', 'connected');
    world.pass(600);
    assert.deepEqual(subject.emitted(), []);
    world.upload('1');
    assert.deepEqual(subject.emitted(), ['heard 1']);
    world.pass(60);
    assert.deepEqual(subject.emitted(), ['silent 1']);
  });

  for (const years of [2, -2])
    it(`is no other for a clock that is set by ${years} years, and back`, () => {
      const world = new World();
      const subject = world.watch({ silence: 300_000, misses: 2 });
      world.channel('1', 'connected');
      world.read([1, 2]);
      world.upload('1');
      subject.emitted();
      const step = years * 365 * 86_400_000;
      for (const by of [step, -step]) {
        world.ahead += by;
        for (let minutes = 0; minutes < 4; minutes++) {
          world.pass(60);
          world.read([1, 2]);
        }
        assert.deepEqual(subject.emitted(), [], 'the last upload was four minutes ago');
        world.pass(60);
        world.read([1, 2]);
        assert.deepEqual(subject.emitted(), ['silent 1'], 'five minutes ago');
        world.upload('1');
        world.read([1]);
        assert.deepEqual(subject.emitted(), ['heard 1'], 'missed once');
        world.read([1]);
        assert.deepEqual(subject.emitted(), ['offline 2'], 'missed twice');
        world.read([1, 2]);
        assert.deepEqual(subject.emitted(), ['online 2']);
      }
    });

  it('does not count time without a channel as silence', () => {
    const world = new World();
    const subject = world.watch({ silence: 60_000 });
    world.read([1]);
    world.channel('1', 'connecting');
    world.pass(600);
    world.channel('1', 'connected');
    world.pass(40);
    world.channel('1', 'disconnected');
    world.pass(600);
    world.channel('1', 'connected');
    world.pass(19);
    assert.deepEqual(subject.emitted(), []);
    world.registry.onClosed('1');
    world.pass(600);
    world.channel('1', 'connected');
    world.pass(1);
    assert.deepEqual(subject.emitted(), ['silent 1']);
  });

  it('of 5,000 devices needs one timer', () => {
    const world = new World();
    const before = process.getActiveResourcesInfo().length;
    const subject = world.watch({ silence: 60_000, events: ['presence', 'channel'] });
    for (let i = 0; i < 5000; i++) world.channel(String(i), 'connected');
    assert.ok(process.getActiveResourcesInfo().length - before <= 1);
    world.read([]);
    world.pass(60);
    assert.equal(subject.emitted().length, 5000);
  });
});

describe('a watch: channels', () => {
  useClock();
  const options = { events: ['channel' as const], settle: 10_000 };

  it('reports one that stays down, with the reason, and that it is back', () => {
    const world = new World();
    const subject = world.watch(options);
    world.channel('1', 'connecting');
    world.channel('1', 'connected');
    assert.deepEqual(subject.emitted(), []);
    world.channel('1', 'disconnected', '1001');
    world.pass(5);
    world.channel('1', 'connecting', '1001');
    world.channel('1', 'disconnected', 'ECONNREFUSED');
    world.pass(4);
    assert.deepEqual(subject.emitted(), []);
    world.pass(1);
    assert.equal(subject.events[0]?.reason, 'ECONNREFUSED');
    world.channel('1', 'connected');
    assert.equal(subject.events[1]?.reason, undefined);
    assert.deepEqual(subject.emitted(), ['disconnected 1', 'connected 1']);
    world.channel('1', 'disconnected');
    world.pass(9);
    world.channel('1', 'connected');
    world.pass(60);
    assert.deepEqual(subject.emitted(), []);
  });

  it('reports nothing of one that is no longer needed, or that waits for its first attempt', () => {
    const world = new World();
    const subject = world.watch(options);
    world.channel('1', 'connected');
    world.channel('1', 'disconnected');
    world.registry.onClosed('1');
    world.channel('2', 'connecting');
    world.pass(60);
    world.channel('2', 'connected');
    assert.deepEqual(subject.emitted(), []);
  });

  it('repeats nothing after a restart, but reports what has changed', async () => {
    const before = new World();
    const first = before.watch(options);
    for (const chipid of ['1', '2']) before.channel(chipid, 'connected');
    before.channel('2', 'disconnected');
    before.pass(10);
    first.emitted();
    const world = new World();
    world.channel('1', 'connecting');
    world.channel('2', 'connecting');
    const subject = world.watch(options, await first.kept());
    world.channel('1', 'connected');
    world.channel('2', 'connected');
    assert.deepEqual(subject.emitted(), ['connected 2']);
  });

  it('with current reports the state of each once, after the first reading', () => {
    const world = new World();
    world.channel('1', 'connected');
    const subject = world.watch({ ...options, start: 'current' });
    world.channel('2', 'disconnected');
    world.pass(10);
    assert.deepEqual(subject.emitted(), []);
    world.read([1]);
    assert.deepEqual(subject.emitted(), ['connected 1', 'disconnected 2']);
    world.channel('2', 'connected');
    world.channel('3', 'connected');
    assert.deepEqual(subject.emitted(), ['connected 2', 'connected 3']);
  });
});
