import assert from 'node:assert/strict';
import { PatternBudget, PatternFailed } from '../../../src/util/bounded-pattern';
import { watchRuns } from '../../support/watched-runs';

const HOSTILE = `${'a'.repeat(50)}!`;

/** What a budget finds, or why it finds nothing. */
function find(budget: PatternBudget, pattern: RegExp, text = HOSTILE): unknown {
  try {
    return budget.find(pattern, text).map(([match]) => match);
  } catch (thrown) {
    return thrown;
  }
}

describe('the time of the patterns that judge one upload', () => {
  let runs: ReturnType<typeof watchRuns>;
  beforeEach(() => (runs = watchRuns()));
  afterEach(() => runs.restore());

  it('is spent once for a pattern that backtracks, however often it is asked for', () => {
    const budget = new PatternBudget();
    const first = find(budget, /^(a+)+$/);
    assert.ok(first instanceof PatternFailed);
    for (let time = 0; time < 100; time++) assert.equal(find(budget, /^(a+)+$/), first);
    assert.equal(runs.limits.length, 1);
  });

  it('is bounded for all patterns together, and leaves some for those after the first', () => {
    const budget = new PatternBudget();
    const results: unknown[] = [];
    for (let count = 1; count <= 100; count++)
      results.push(find(budget, new RegExp(`^(a+)+(?:x{${count}})?$`)));
    assert.ok(results.every((result) => result instanceof Error));
    assert.ok(runs.total() <= 220, `${runs.total()} ms`);
    const another = new PatternBudget();
    find(another, /^(a+)+$/);
    assert.deepEqual(find(another, /(a)+!$/), [HOSTILE], 'a good one still runs');
  });

  it('is that of one upload', () => {
    for (let time = 0; time < 3; time++)
      assert.ok(find(new PatternBudget(), /^(a|a)*$/) instanceof PatternFailed);
  });

  it('is not spent on patterns that cannot take long', () => {
    const budget = new PatternBudget();
    for (let count = 0; count < 10_000; count++)
      assert.deepEqual(find(budget, /^(?:OK|NOK) \d+\(?$/, 'OK 42'), ['OK 42']);
    assert.equal(runs.limits.length, 0);
  });

  for (const [what, pattern] of [
    ['a repeated group', /^(a+)+$/],
    ['a group with a count', /^(a|a){1,50}$/],
    ['an optional group in a repeated one', /^(?:(a)?a?)*$/],
    ['a reference', /^(a*)a*\1$/],
    ['a named reference', /^(?<x>a*)a*\k<x>b/],
    ['many optional letters', new RegExp(`^${'a?'.repeat(30)}${'a'.repeat(30)}b`)],
    ['many optional brackets', new RegExp(`^${'\\(?'.repeat(30)}b`)],
    ['many alternatives', new RegExp(`^${'(?:a|aa)'.repeat(25)}b`)],
    ['several stars', /a*a*a*a*b/],
  ] as const) {
    it(`limits ${what}`, () => {
      find(new PatternBudget(), pattern);
      assert.equal(runs.limits.length, 1);
    });
  }

  it('finds all matches of a global pattern, from its last index on', () => {
    runs.restore();
    runs = watchRuns(false);
    const budget = new PatternBudget();
    const pattern = /(\d)(?:,)+/g;
    pattern.lastIndex = 2;
    const found = budget.find(pattern, '1,2,3,4,', 2);
    assert.deepEqual(
      found.map(([, digit]) => digit),
      ['2', '3'],
    );
    assert.equal(budget.find(/x*/g, 'aaa', 10).length, 1, 'an empty match is the last');
  });
});
