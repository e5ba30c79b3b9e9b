import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { SavedCall } from '../../../src/commands/saved-call';
import { failure } from '../support/failure';
import { manual } from '../support/manual';
import { settled } from '../../tooling/until';
import { waitingWorld } from './waiting-world';
import { useClock } from '../../support/clock';

const edge = (pin: number, level: number) => ({ kind: 'gpio', pin, level }) as const;

describe('commands that wait for their devices', () => {
  useClock(1000);

  it('are listed by what they do, since when, until when and whose they are, in their order', async () => {
    const world = waitingWorld();
    world.run('a', 'upload', { what: edge(5, 1), node: 'n1', expires: 60 });
    await world.pass(1);
    world.run('b', 'online', { what: { kind: 'push' } });
    world.run('c', 'upload', { device: '2' });
    const [a, b, ...rest] = world.commands.list('01');
    assert.deepEqual(rest, []);
    assert.ok(a && b && a.id !== b.id);
    const { id: _a, ...first } = a;
    const { id: _b, ...second } = b;
    assert.deepEqual(first, {
      ...{ chipid: '1', kind: 'gpio', pin: 5, level: 1, when: 'upload', node: 'n1' },
      ...{ since: 1000, until: 61_000 },
    });
    assert.deepEqual(second, {
      ...{ chipid: '1', kind: 'push', when: 'online', since: 2000, until: 3_602_000 },
    });
    assert.deepEqual(
      world.commands.list().map(({ chipid }) => chipid),
      ['1', '1', '2'],
    );
    world.close();
  });

  it('are cancelled by their ids, by their devices or all, those of one node alone if that is said', async () => {
    const world = waitingWorld();
    const fates = [
      world.run('a', 'upload', { node: 'n1' }),
      world.run('b', 'upload', { node: 'n2' }),
      world.run('c', 'upload', { node: 'n1', device: '2' }),
      world.run('d', 'upload', { node: 'n2', device: '3' }),
    ];
    await settled();
    const [first] = world.commands.list('1');
    assert.equal(await world.commands.cancel({ ids: [first!.id, 'unknown'] }), 1);
    assert.equal(await world.commands.cancel({ ids: [first!.id] }), 0);
    assert.equal(await world.commands.cancel({ chipids: [1, '2'] }, { node: 'n1' }), 1);
    assert.equal(await world.commands.cancel({ all: true }, { node: 'n3' }), 0);
    assert.equal(await world.commands.cancel({ all: true }), 2);
    for (const { promise } of fates) {
      const { message, uncertain } = await failure(promise, 'CANCELLED');
      assert.match(message, /^CANCELLED: .*was not sent/);
      assert.equal(uncertain, false);
    }
    assert.deepEqual(world.started, []);
    assert.deepEqual(world.left(), [0, 0, 0, 0]);
  });

  it('are not cancelled once they have begun; those behind them in the queue are', async () => {
    const world = waitingWorld();
    const begun = world.run('a', 'upload');
    const queued = world.run('b', 'upload');
    world.channels.upload('1');
    assert.equal(await world.commands.cancel({ all: true }), 1);
    await failure(queued.promise, 'CANCELLED');
    await world.answer('a');
    assert.equal(await begun.promise, 'a');
  });

  it('are chosen by exactly one of the three', async () => {
    const world = waitingWorld();
    const wrong = [
      ...[undefined, null, 'all', {}, { all: false }, { all: true, ids: [] }, { ids: 'x' }],
      ...[{ ids: [1] }, { chipids: 'all' }, { chipids: ['x'] }, { chipids: ['1', '1.5'] }],
    ];
    for (const each of wrong) {
      const cancelled = world.commands.cancel(each as never);
      await failure(cancelled, 'INVALID_INPUT');
    }
    assert.throws(() => world.commands.list('1.5'), { code: 'INVALID_INPUT' });
  });

  it('make room for a newer one of their kind to the device, for pins to the same pin', async () => {
    const world = waitingWorld();
    const what = edge(5, 1);
    const old = world.run('old', 'upload', { what });
    for (const [name, other] of [
      ['another pin', edge(4, 1)],
      ['another kind', { kind: 'pulse', pin: 5, level: 1 }],
      ['a push', { kind: 'push' }],
    ] as const)
      world.run(name, 'upload', { what: other });
    world.run('another device', 'upload', { what, device: '2' });
    world.run('new', 'upload', { what: edge(5, 0), replace: true });
    assert.match((await failure(old.promise, 'CANCELLED')).message, /Replaced by a newer command/);
    world.channels.upload('1');
    await world.answer('another pin', 'another kind', 'a push', 'new');
    assert.deepEqual(world.started, ['another pin', 'another kind', 'a push', 'new']);
    world.close();
  });

  it('make room once the newer one is written, are not sent until then, and stay if it is refused', async () => {
    const world = waitingWorld();
    const write = world.port.write.bind(world.port);
    const run = (name: string, message = name) => {
      const saved = world.calls.add('node', ['1'], () => message);
      return world.run(name, 'upload', { replace: true, saved });
    };
    const old = run('old');
    await settled();
    const huge = run('huge', 'x'.repeat(65 * 2 ** 20));
    await failure(huge.promise, 'QUEUE_FULL');
    const writing = manual();
    world.port.write = (...all) => writing.promise.then(() => write(...all));
    run('new');
    await settled();
    assert.equal(world.commands.list().length, 1);
    world.channels.upload('1');
    writing.resolve();
    await failure(old.promise, 'CANCELLED');
    await settled();
    await world.answer('new');
    assert.deepEqual(world.started, ['new']);
    world.close();
  });

  it('of an earlier process are all sent after the upload that tells the time', async () => {
    const world = waitingWorld();
    const saved = {
      node: 'x',
      what: 'what',
      left: 60_000,
      at: 500,
      process: 'another',
      ran: 0,
    };
    for (const order of [1, 2]) await world.store.set(`command:1:${order}`, { ...saved, order });
    for (const call of world.calls.take()) world.run(call.id, 'upload', { saved: call });
    await settled();
    // As a channel does with an upload.
    world.clock.sawEvent(1000);
    world.channels.upload('1');
    await settled();
    await world.answer('1');
    await settled();
    assert.deepEqual(world.started, ['1', '2']);
    world.close();
  });

  describe('many at a time', () => {
    const { now } = performance;
    let time = 0;
    beforeEach(() => {
      // Whatever is done takes a millisecond.
      performance.now = () => time++;
    });
    afterEach(() => {
      performance.now = now;
    });

    /** The number of turns that pass until something is done. */
    async function turnsUntil(done: Promise<unknown>): Promise<number> {
      let [turns, isDone] = [0, false];
      void done.then(() => (isDone = true));
      while (!isDone) {
        await setImmediate();
        turns++;
      }
      return turns;
    }

    const COUNT = 200;
    const several = (world: ReturnType<typeof waitingWorld>, saved?: SavedCall) =>
      Array.from({ length: COUNT }, (_, n) =>
        world.run(`${n}`, 'upload', { device: `${n}`, node: 'x', ...(saved && { saved }) }),
      );
    const LEAST = COUNT / 20;

    for (const [what, end] of [
      ['are cancelled', ({ commands }) => commands.cancel({ all: true })],
      ['end with their node', ({ commands }) => commands.closeNode('x', true)],
      ['are left to the next of their node', ({ commands }) => commands.closeNode('x', false)],
      ['end with their client', ({ commands }) => commands.close()],
    ] satisfies [string, (world: ReturnType<typeof waitingWorld>) => Promise<unknown>][]) {
      it(`${what} in several turns of the event loop`, async () => {
        const world = waitingWorld();
        const fates = several(world);
        for (const { promise } of fates) promise.catch(() => undefined);
        const turns = await turnsUntil(end(world));
        assert.ok(turns >= LEAST, `${turns} turns`);
        assert.deepEqual([world.commands.list(), world.channels.listeners.size], [[], 0]);
        world.close();
      });
    }

    it('are sent in several turns if one list shows all their devices', async () => {
      const world = waitingWorld();
      for (let n = 0; n < COUNT; n++) world.run(`${n}`, 'online', { device: `${n}` });
      await settled();
      world.list.online = Array.from({ length: COUNT }, (_, n) => `${n}`);
      world.list.refresh();
      assert.ok(world.started.length < COUNT, `${world.started.length} are sent at once`);
      while (world.started.length < COUNT) await setImmediate();
      world.close();
    });

    it('of one call are let go once, not once for each of them', async () => {
      const world = waitingWorld();
      const chipids = Array.from({ length: COUNT }, (_, n) => `${n}`);
      const saved = world.calls.add('x', chipids, () => 'what');
      several(world, saved);
      await setImmediate();
      const { mock: releases } = mock.method(world.calls, 'release');
      await turnsUntil(world.commands.close());
      assert.equal(releases.callCount(), COUNT);
      assert.equal(world.calls.take().length, COUNT);
    });

    it('end with their node though its application closes meanwhile', async () => {
      const world = waitingWorld();
      const fates = several(world);
      const ends = Promise.all(fates.map(({ promise }) => failure(promise, 'CANCELLED')));
      await Promise.all([world.commands.closeNode('x', true), world.commands.close(), ends]);
    });
  });
});
