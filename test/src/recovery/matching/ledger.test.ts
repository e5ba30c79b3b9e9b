import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Ledger } from '../../../../src/recovery/matching/ledger';
import type { Recorded } from '../../../../src/recovery/records/recorded';
import type { Upload } from '../../../../src/types';
import { holds } from '../../support/fuzz';
import { createModel, type Step } from '../model';

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

const uploadOf = (key: string): Upload => ({
  ...{ chipid: '1', appid: '1', timestamp: 0 },
  body: Buffer.from(key),
});
const recordsOf = (...keys: string[]): Recorded[] =>
  keys.map((key, index) => ({
    ...{ id: BigInt(index), key },
    upload: () => ({ ...uploadOf(key), replayed: true }),
  }));
const due = (ledger: Ledger, ...keys: string[]): string[] =>
  ledger.settle(recordsOf(...keys)).due.map((each) => each.upload().body.toString());

describe('recovery: the ledger of emitted uploads', () => {
  holds(
    'emits each accepted upload once, whatever is dropped, read, failed and restarted',
    1000,
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const model = createModel();
      model.run({ kind: 'connect', duringRead: [], afterAnswer: [], fails: 0 });
      for (const each of [...steps, ...QUIET]) model.run(each);
      assert.deepEqual([...model.emitted].sort(), [...model.accepted].sort());
    }),
  );

  holds(
    'emits uploads in the order in which they were accepted if all bodies differ',
    1000,
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
  );

  it('keeps nothing of held-back uploads that are left to the history', () => {
    const ledger = new Ledger({ id: '0', live: 0 });
    for (const key of ['a', 'b', 'c']) ledger.add(key, 0, uploadOf(key));
    ledger.drop();
    assert.equal(ledger.size, 0);
    assert.deepEqual(ledger.release(), []);
  });
});

describe('recovery: something unreadable after the history has answered', () => {
  it('is not counted among the uploads that the next run may skip', () => {
    const ledger = new Ledger({ id: '0', live: 0 });
    ledger.mark();
    ledger.gap();
    assert.deepEqual(due(ledger), []);
    ledger.add('a', 0);
    const next = new Ledger(ledger.position());
    next.mark();
    assert.deepEqual(due(next, 'before', 'unreadable', 'a'), ['unreadable']);
  });
});

describe('recovery: a history that lags behind the channel', () => {
  it('does not cause an upload to be emitted again that it contains only later', () => {
    const ledger = new Ledger({ id: '0', live: 0 });
    ledger.add('a', 0);
    ledger.mark();
    assert.deepEqual(due(ledger, 'before'), []);
    ledger.mark();
    assert.deepEqual(due(ledger, 'before', 'a'), []);
  });

  it('does not hold back indefinitely an upload that it lacks', () => {
    const ledger = new Ledger({ id: '0', live: 0 });
    ledger.add('a', 0, uploadOf('a'));
    ledger.mark();
    assert.deepEqual(due(ledger, 'before', 'missed'), ['missed', 'a']);
    ledger.mark();
    assert.deepEqual(due(ledger, 'before', 'missed', 'a'), []);
  });
});
