import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createModel, type Step } from './model';

// Few different bodies, so that equal readings are the rule.
const body = fc.constantFrom('a', 'b', 'c');
const bodies = fc.array(body, { maxLength: 3 });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('upload' as const), body }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('connect' as const),
      duringRead: bodies,
      afterAnswer: bodies,
      fails: fc.nat(2),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('checkpoint' as const),
      duringRead: bodies,
      afterAnswer: bodies,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);

/** The end of every run: a connection that holds, and a look at the history with nothing under way. */
const QUIET: Step[] = [
  { kind: 'connect', duringRead: [], afterAnswer: [], fails: 0 },
  { kind: 'checkpoint', duringRead: [], afterAnswer: [] },
];

describe('recovery: the account of what was emitted', () => {
  it('emits each accepted upload once, whatever is dropped, read, failed and restarted', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const model = createModel();
        model.run({ kind: 'connect', duringRead: [], afterAnswer: [], fails: 0 });
        for (const each of [...steps, ...QUIET]) model.run(each);
        assert.deepEqual([...model.emitted].sort(), [...model.accepted].sort());
      }),
      { numRuns: 1000 },
    );
  });

  it('emits uploads in the order in which they were accepted, when each body is its own', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const model = createModel();
        let serial = 0;
        const own = (text: string): string => `${text}${serial++}`;
        model.run({ kind: 'connect', duringRead: [], afterAnswer: [], fails: 0 });
        for (const each of [...steps, ...QUIET]) {
          if (each.kind === 'upload') model.run({ ...each, body: own(each.body) });
          else if (each.kind === 'connect') {
            // Bodies of a failed reading's uploads would repeat in the next one.
            const duringRead = each.duringRead.map(own);
            model.run({ ...each, duringRead, afterAnswer: each.afterAnswer.map(own), fails: 0 });
          } else if (each.kind === 'checkpoint') {
            const duringRead = each.duringRead.map(own);
            model.run({ ...each, duringRead, afterAnswer: each.afterAnswer.map(own) });
          } else model.run(each);
        }
        assert.deepEqual(model.emitted, model.accepted);
      }),
      { numRuns: 1000 },
    );
  });
});
