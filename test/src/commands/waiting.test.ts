import assert from 'node:assert/strict';
import { failure, failures } from '../support/failure';
import { settled } from '../../tooling/until';
import { waitingWorld } from './waiting-world';
import { useClock } from '../../support/clock';

const states = ({ progress }: { progress: readonly { state: string }[] }): string =>
  progress.map(({ state }) => state).join(' ');

describe('a command that waits for its device', () => {
  useClock();

  it('with `online` is sent at once if the list has the device, without opening its channel', async () => {
    const world = waitingWorld();
    world.list.online = ['1'];
    const { promise } = world.run('a', 'online');
    await settled();
    assert.deepEqual(world.started, ['a']);
    assert.equal(world.channels.joins, 0);
    await world.answer('a');
    assert.equal(await promise, 'a');
    assert.deepEqual(world.left(), [0, 0, 0, 0]);
  });

  for (const [sign, show] of [
    ['is listed', (world) => world.list.refresh()],
    ['uploads', (world) => world.channels.upload('1')],
  ] satisfies [string, (world: ReturnType<typeof waitingWorld>) => void][])
    it(`with \`online\` goes when the device ${sign}; until then channel and list are watched`, async () => {
      const world = waitingWorld();
      const fate = world.run('a', 'online');
      await settled();
      world.list.refresh();
      assert.deepEqual(world.left().slice(0, 2), [1, 1]);
      world.list.online = ['1'];
      show(world);
      assert.deepEqual(world.started, ['a']);
      assert.deepEqual(world.left(), [0, 0, 0, 1]);
      await world.answer('a');
      assert.equal(states(fate), 'awaiting-device calling');
    });

  it('with `upload` is sent in the same turn as the next upload, and not because the device is listed', async () => {
    const world = waitingWorld();
    world.list.online = ['1'];
    world.run('a', 'upload');
    world.run('b', 'online', { device: '2' });
    await settled();
    world.list.refresh();
    assert.deepEqual(world.started, []);
    world.channels.upload('2');
    world.channels.upload('1');
    assert.deepEqual(world.started, ['b', 'a']);
  });

  it('keeps waiting while the list cannot be read, and notices uploads also while a reading hangs', async () => {
    const world = waitingWorld();
    world.list.isBroken = true;
    world.run('a', 'online');
    await settled();
    assert.deepEqual(world.left().slice(0, 2), [1, 1]);
    world.list.read = () => new Promise(() => undefined);
    world.run('b', 'online', { device: '2' });
    await settled();
    assert.equal(world.channels.listeners.has('2'), false);
    await world.pass(0.5);
    world.channels.upload('2');
    world.channels.upload('1');
    assert.deepEqual(world.started, ['b', 'a']);
  });

  for (const code of ['TIMEOUT', 'GATEWAY', 'CONNECTION_LOST', 'UNREACHABLE'] as const)
    it(`waits for the next sign of life after an earlier one ended with ${code}`, async () => {
      const world = waitingWorld();
      const fates = ['a', 'b', 'c'].map((name) => world.run(name, 'upload'));
      world.channels.upload('1');
      // During the call, so it may have been before the device fell asleep.
      world.channels.upload('1');
      await world.fail('a', code);
      await failure(fates[0]!.promise, code);
      assert.deepEqual(world.started, ['a']);
      assert.equal(states(fates[1]!), 'awaiting-device waiting awaiting-device');
      world.channels.upload('1');
      await world.answer('b', 'c');
      assert.deepEqual(world.started, ['a', 'b', 'c']);
    });

  it('is sent after an earlier one that the service refused, or that its caller aborted', async () => {
    const world = waitingWorld();
    const controller = new AbortController();
    world.run('a', 'upload');
    world.run('b', 'upload', { signal: controller.signal });
    world.run('c', 'upload');
    world.channels.upload('1');
    await world.fail('a', 'NOT_FOUND');
    controller.abort();
    await world.fail('b', 'CONNECTION_LOST');
    assert.deepEqual(world.started, ['a', 'b', 'c']);
  });

  it('expires as EXPIRED, also in the queue after its release, but not once its call has begun', async () => {
    const world = waitingWorld();
    world.run('now', 'now');
    const waiting = world.run('waiting', 'online', { expires: 10 });
    const queued = world.run('queued', 'upload', { expires: 20 });
    const called = world.run('called', 'upload', { expires: 30 });
    await world.pass(10);
    const { message } = await failure(waiting.promise, 'EXPIRED');
    assert.match(
      message,
      /^EXPIRED: Waited 10 s for the device\. The command to device 1 was not sent/,
    );
    world.channels.upload('1');
    await world.pass(10);
    await failure(queued.promise, 'EXPIRED');
    await world.answer('now');
    await world.pass(100);
    await world.answer('called');
    assert.equal(await called.promise, 'called');
    assert.deepEqual(world.started, ['now', 'called']);
    assert.deepEqual(world.left(), [0, 0, 0, 0]);
  });

  it('is not sent at an upload after its end, though the machine was suspended, whose clock stood still', async () => {
    const world = waitingWorld();
    world.clock.sawEvent(1000);
    const late = world.run('late', 'upload', { expires: 20 });
    world.run('in time', 'upload', { expires: 60 });
    world.channels.upload('1', 31_000);
    assert.deepEqual(world.started, ['in time']);
    await failure(late.promise, 'EXPIRED');
    world.close();
  });

  it('ends as UNREACHABLE if it is aborted, waiting or queued, without affecting others', async () => {
    const world = waitingWorld();
    const [first, second] = [new AbortController(), new AbortController()];
    const waiting = world.run('a', 'upload', { signal: first.signal });
    const queued = world.run('b', 'upload', { signal: second.signal });
    const kept = world.run('c', 'upload');
    first.abort('the node was closed');
    const { message } = await failure(waiting.promise, 'UNREACHABLE');
    assert.match(message, /Not sent: the node was closed\. The command to device 1 /);
    world.run('now', 'now');
    world.channels.upload('1');
    second.abort();
    await failure(queued.promise, 'UNREACHABLE');
    await world.answer('now', 'c');
    assert.equal(await kept.promise, 'c');
    await failure(world.run('d', 'upload', { signal: AbortSignal.abort() }).promise, 'UNREACHABLE');
    assert.deepEqual(world.started, ['now', 'c']);
    assert.deepEqual(world.left(), [0, 0, 0, 0]);
  });

  it('can wait with 99 others of a device, besides those in the queue; the next is QUEUE_FULL', async () => {
    const world = waitingWorld();
    const names = Array.from({ length: 100 }, (_, index) => `held ${index}`);
    const fates = names.map((name) => world.run(name, 'upload'));
    const { message } = await failure(world.run('one more', 'upload').promise, 'QUEUE_FULL');
    assert.match(message, /100 commands wait for this device/);
    const now = Array.from({ length: 101 }, (_, index) => `now ${index}`);
    for (const name of now) world.run(name, 'now');
    world.channels.upload('1');
    await failure(world.run('one more', 'now').promise, 'QUEUE_FULL');
    await world.answer(...now, ...names);
    assert.deepEqual(await Promise.all(fates.map(({ promise }) => promise)), names);
    assert.deepEqual(world.started, [...now, ...names]);
  });

  it('is refused where all commands of the application take 64 MiB, each at least 3 KiB', async () => {
    const world = waitingWorld();
    const large = 'x'.repeat(2 ** 20);
    const fates = Array.from({ length: 1400 }, (_, index) => {
      const device = String(index);
      const saved = world.calls.add('node', [device], () => (index < 60 ? large : ''));
      return world.run('held', 'upload', { device, expires: 1, saved });
    });
    const { message } = await failure(fates.at(-1)!.promise, 'QUEUE_FULL');
    assert.match(message, /take 64 MiB already/);
    await world.pass(1);
    const errors = fates.map(({ promise }) => promise.catch((error: unknown) => error));
    const codes = (await Promise.all(errors)).map((error) => (error as { code?: string }).code);
    const refused = codes.filter((code) => code === 'QUEUE_FULL').length;
    const first = codes.indexOf('QUEUE_FULL');
    assert.ok(first > 1000 && first === codes.length - refused, `${first}`);
    assert.deepEqual(world.left(), [0, 0, 0, 0]);
  });

  it('ends with the client, and later ones end at once', async () => {
    const world = waitingWorld();
    const fates = ['a', 'b'].map((name) => world.run(name, 'online'));
    world.run('now', 'now');
    fates.push(world.run('c', 'upload', { device: '2' }));
    world.channels.upload('1');
    world.close();
    fates.push(world.run('d', 'upload'));
    for (const { message } of await failures(
      fates.map(({ promise }) => promise),
      'UNREACHABLE',
    ))
      assert.match(message, /Not sent: the client was closed/);
    assert.deepEqual(world.started, ['now']);
    assert.deepEqual(world.left(), [0, 0, 0, 0]);
  });

  it('is kept as one that may have acted once it has begun, and not as one that was not sent', async () => {
    const world = waitingWorld();
    const saved = world.calls.add('node', ['1'], () => 'what');
    const fate = world.run('a', 'upload', { saved });
    await settled(20);
    world.channels.upload('1');
    await settled(20);
    assert.deepEqual(world.started, ['a']);
    await world.fail('a', 'TIMEOUT');
    await failure(fate.promise, 'TIMEOUT');
    const { isBegun, end } = saved.of('1') ?? {};
    assert.deepEqual([isBegun, end], [true, undefined]);
  });
});
