import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DeviceCloudError } from '../../../src/errors';
import { holds } from '../support/fuzz';
import { OUTCOMES, ReplyWorld, type Step } from './reply-world';

const key = fc.nat(2);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), key: fc.oneof(key, fc.constant('next' as const)) }) }, // prettier-ignore
  { weight: 4, arbitrary: fc.record({ do: fc.constant('answer' as const), outcome: fc.constantFrom(...OUTCOMES) }) }, // prettier-ignore
  { weight: 5, arbitrary: fc.record({ do: fc.constant('upload' as const), keys: fc.array(key, { minLength: 1, maxLength: 4 }) }) }, // prettier-ignore
  { weight: 2, arbitrary: fc.constant({ do: 'down' as const }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('up' as const), recovers: fc.boolean() }) },
  { weight: 3, arbitrary: fc.constant({ do: 'recover' as const }) },
);

/** A request that is made before an older gap is recovered, and answered in another gap. */
const ASKED_BETWEEN_GAPS: Step[] = [
  { do: 'ask', key: 0 },
  { do: 'answer', outcome: 'accepted' },
  { do: 'down' },
  { do: 'up', recovers: false },
  { do: 'ask', key: 1 },
  { do: 'answer', outcome: 'accepted' },
  { do: 'recover' },
  { do: 'down' },
  { do: 'upload', keys: [1] },
  { do: 'up', recovers: true },
];

describe('an upload', () => {
  holds(
    'settles one request, the oldest that it matches, in any order of requests, answers, uploads and gaps',
    300,
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const world = new ReplyWorld();
      for (const each of steps) await world.step(each);
      await world.end();
      for (const { result, expected, outcome } of world.asked) {
        if (expected !== undefined && outcome !== 'failed') {
          assert.ok(result && !(result instanceof DeviceCloudError), String(result));
          const { number } = result.payload as { number: number };
          assert.deepEqual([number, result.uncertain ?? false], [expected, outcome === 'unknown']);
          continue;
        }
        assert.ok(result instanceof DeviceCloudError, 'it has ended');
        const code =
          outcome === undefined ? 'UNREACHABLE' : { accepted: 'CONNECTION_LOST', unknown: 'TIMEOUT', failed: 'NOT_FOUND' }[outcome]; // prettier-ignore
        assert.equal(result.code, code);
      }
      const used = world.asked.flatMap(({ result }) =>
        result instanceof DeviceCloudError ? [] : [(result!.payload as { number: number }).number],
      );
      assert.equal(new Set(used).size, used.length);
    }),
    { examples: [[ASKED_BETWEEN_GAPS]] },
  );
});
