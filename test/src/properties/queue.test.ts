import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DeviceCloudError } from '../../../src/errors';
import { holds } from '../support/fuzz';
import { createQueueModel } from './queue-model';
import { createQueueWorld, type QueueStep } from './queue-world';
import { useClock } from '../../support/clock';

const device = fc.constantFrom('1', '2', '3');
const step: fc.Arbitrary<QueueStep> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      device,
      count: fc.oneof(
        { weight: 12, arbitrary: fc.constant(1) },
        { weight: 1, arbitrary: fc.integer({ min: 90, max: 110 }) },
      ),
      throws: fc.boolean(),
      counted: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('end' as const), device, fails: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(200) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const) }) },
);
const steps = fc.array(step, { maxLength: 40, size: 'max' });

describe('the queue of a device, whatever is added, ends, fails and is aborted', () => {
  useClock();

  holds(
    'behaves as a model of it, step by step',
    150,
    fc.asyncProperty(steps, fc.constantFrom(0, 50), async (all, gap) => {
      const world = createQueueWorld(gap);
      const model = createQueueModel(gap);
      for (const each of all) {
        world.act(each);
        await world.settled();
        model.act(each);
        assert.deepEqual(world.view(), model.view());
      }
    }),
  );

  holds(
    'runs one command at a time and settles each once, also with simultaneous steps',
    150,
    fc.asyncProperty(steps, fc.constantFrom(0, 50), async (all, gap) => {
      const world = createQueueWorld(gap);
      // After a close the commands that run are no longer the queue's.
      for (const each of all.filter(({ kind }) => kind !== 'close')) {
        world.act(each);
        assert.ok(world.mostAtOnce() <= 1);
      }
      for (let round = 0; world.pending() > 0; round++) {
        assert.ok(round < 2000, 'some command is never settled');
        await world.settled();
        for (const each of ['1', '2', '3']) world.act({ kind: 'end', device: each, fails: false });
        world.act({ kind: 'wait' });
        assert.ok(world.mostAtOnce() <= 1);
      }
      await world.settled();
      world.act({ kind: 'wait' });
      assert.equal(world.view().size, 0);
      for (const starts of world.startsByDevice())
        assert.deepEqual(
          starts,
          starts.toSorted((a, b) => a - b),
        );
      for (const { times, how } of world.settlements()) {
        assert.equal(times, 1);
        if (how instanceof DeviceCloudError) assert.match(how.code, /^(QUEUE_FULL|UNREACHABLE)$/);
      }
    }),
  );
});
