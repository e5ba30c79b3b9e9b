import assert from 'node:assert/strict';
import type { SharedWatch, WatchShare } from '../../../../src/fleet/watch/watch-types';
import { World } from './watch-subject';
import { useClock } from '../../../support/clock';

/** The watch's place among processes, of which a test says what this one may emit. */
class Share implements WatchShare {
  isAllowed = true;
  readonly emitsForAll = true;
  watch: SharedWatch | undefined;

  mayEmit(): boolean {
    return this.isAllowed;
  }

  join(watch: SharedWatch): ReturnType<WatchShare['join']> {
    this.watch = watch;
    return { changed: () => undefined, leave: () => undefined };
  }
}

/** A watch of a device that is silent after 100 seconds, and whose channel is connected. */
function silent() {
  const [world, share] = [new World(), new Share()];
  const { watch, ...subject } = world.watch({ silence: 100_000 }, {}, share);
  const emitted = (): string[] => subject.events.splice(0).map(({ event }) => event);
  world.read([1]);
  world.channel('1', 'connected');
  assert.deepEqual(emitted(), []);
  return { world, share, watch, emitted };
}

describe('a watch that runs in several processes', () => {
  useClock();

  it('counts no silence from the time before another process had the device', () => {
    const { world, share, emitted } = silent();
    world.pass(60);
    share.isAllowed = false;
    share.watch?.moved();
    world.registry.onClosed('1');
    world.pass(60);
    share.isAllowed = true;
    share.watch?.moved();
    world.channel('1', 'connected');
    world.pass(99);
    assert.deepEqual(emitted(), []);
    world.pass(1);
    assert.deepEqual(emitted(), ['silent']);
  });

  it('emits `silent` once it may, and no `heard` without a `silent` before it', () => {
    const { world, share, emitted } = silent();
    share.isAllowed = false;
    world.pass(101);
    share.isAllowed = true;
    share.watch?.moved();
    world.upload('1');
    assert.deepEqual(emitted(), []);
    world.pass(50);
    share.isAllowed = false;
    world.upload('1');
    share.isAllowed = true;
    world.pass(99);
    assert.deepEqual(emitted(), []);
    world.pass(1);
    world.upload('1');
    assert.deepEqual(emitted(), ['silent', 'heard']);
  });

  it('continues where another process has emitted `silent`', () => {
    const { world, share, emitted } = silent();
    share.isAllowed = false;
    share.watch?.moved();
    share.watch?.apply(['1', true, 1, true, null, null]);
    share.isAllowed = true;
    share.watch?.moved();
    world.pass(300);
    assert.deepEqual(emitted(), []);
    world.upload('1');
    assert.deepEqual(emitted(), ['heard']);
  });

  it('keeps what another process has emitted until the next start', () => {
    const [world, share] = [new World(), new Share()];
    let changes = 0;
    const { watch } = world.watch({ silence: 100_000 }, { onState: () => changes++ }, share);
    share.isAllowed = false;
    share.watch?.apply(['1', true, 1, true, null, 'Pump']);
    assert.equal(changes, 1);
    assert.deepEqual(Object.entries(watch.state()).at(-1), [
      'devices',
      [['1', true, 1, true, null, 'Pump']],
    ]);
  });
});
