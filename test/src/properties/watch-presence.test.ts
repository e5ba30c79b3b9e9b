import assert from 'node:assert/strict';
import fc from 'fast-check';
import { World, type Watched } from '../fleet/watch/watch-subject';
import { holds } from '../support/fuzz';
import { useClock } from '../../support/clock';

const DEVICES = ['1', '2', '12345678901234567890'];

/** What may happen to a fleet, in any order. */
type Step =
  | { kind: 'comes' | 'goes' | 'uploads' | 'drops' | 'connects'; device: string }
  | { kind: 'read' | 'read-late' | 'read-on-demand' | 'fail' | 'restart' | 'later' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('comes', 'goes', 'uploads', 'drops', 'connects'),
    device: fc.constantFrom(...DEVICES),
  }),
  fc.record({
    kind: fc.constantFrom(
      'read',
      'read',
      'read-late',
      'read-on-demand',
      'fail',
      'restart',
      'later',
    ),
  }),
);

/** Carries the steps out. @returns what was emitted for each device, with its state before the first event */
function run(steps: readonly Step[], misses: number, settle: number) {
  const options = {
    misses,
    settle: settle * 1000,
    silence: 30_000,
    events: ['presence', 'channel'] as const,
  };
  const world = new World();
  const listed = new Set<string>();
  const emitted: string[] = [];
  let subject: Watched = world.watch(options);
  const read = (polled: boolean, at = Date.now()): void => world.read([...listed], polled, at);

  const happen = (each: Step): void => {
    if (each.kind === 'comes') listed.add(each.device);
    else if (each.kind === 'goes') listed.delete(each.device);
    else if (each.kind === 'uploads') world.upload(each.device);
    else if (each.kind === 'drops') world.channel(each.device, 'disconnected');
    else if (each.kind === 'connects') world.channel(each.device, 'connected');
    else if (each.kind === 'read') read(true);
    else if (each.kind === 'read-late') read(true, Date.now() - 20);
    else if (each.kind === 'read-on-demand') read(false);
    else if (each.kind === 'fail') world.fail();
    else if (each.kind === 'later') world.pass(20);
    else {
      const state: unknown = JSON.parse(JSON.stringify(subject.watch.state()));
      subject.watch.close();
      emitted.push(...subject.emitted());
      subject = world.watch({ ...options, state });
    }
    world.pass(0.01);
  };
  for (const each of steps) happen(each);
  // All faults end: the channels open, and the list is read as often as necessary.
  for (const device of DEVICES) world.channel(device, 'connected');
  for (let reading = 0; reading <= misses; reading++) {
    world.pass(settle);
    read(true);
  }
  const online = new Set(subject.watch.state().devices.flatMap(([id, on]) => (on ? [id] : [])));
  subject.watch.close();
  return { emitted: [...emitted, ...subject.emitted()], online, listed };
}

/** Fails unless two words alternate in what was emitted for a device. @returns the last of them */
function alternates(emitted: readonly string[], device: string, words: readonly string[]) {
  const own = emitted.filter((each) => words.some((word) => each === `${word} ${device}`));
  for (const [index, each] of own.entries()) assert.notEqual(each, own[index - 1], own.join(', '));
  return own.at(-1)?.split(' ')[0];
}

describe('a watch of the fleet', () => {
  useClock();

  holds(
    'alternates online and offline, and ends in the true state once all faults are gone',
    300,
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom(0.05, 15),
      (steps, misses, settle) => {
        const { emitted, online, listed } = run(steps, misses, settle);
        assert.deepEqual(online, listed);
        for (const device of DEVICES) {
          const last = alternates(emitted, device, ['online', 'offline']);
          if (last) assert.equal(last, listed.has(device) ? 'online' : 'offline');
          const channel = alternates(emitted, device, ['connected', 'disconnected']);
          if (channel) assert.equal(channel, 'connected');
          alternates(emitted, device, ['silent', 'heard']);
        }
      },
    ),
  );
});
