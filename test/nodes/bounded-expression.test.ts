import assert from 'node:assert/strict';
import { mock } from 'node:test';
import nodeRed from '@node-red/util';
import type { Node, NodeAPI } from 'node-red';
import { BoundedExpression } from '../../nodes/common/bounded-expression';

const util = nodeRed.util as unknown as NodeAPI['util'];

const make = (source: string): BoundedExpression =>
  new BoundedExpression({ util } as NodeAPI, {} as Node, source, 1);

describe('an expression of JSONata', () => {
  it('of which many never end lets the event loop turn, and another one is evaluated', async () => {
    const now = performance.now.bind(performance);
    let [clock, sinceTurn, longest, isOver] = [now(), 0, 0, false];
    // Each step takes a millisecond.
    const time = mock.method(performance, 'now', () => {
      longest = Math.max(longest, ++sinceTurn);
      return ++clock;
    });
    const turn = (): void => {
      sinceTurn = 0;
      if (!isOver) setImmediate(turn);
    };
    turn();
    const endless = Array.from({ length: 20 }, () =>
      assert.rejects(make('($f := function() { $f() }; $f())').evaluate({}), /took too long/),
    );
    assert.equal(await make('n + 1').evaluate({ n: 1 }), 2);
    await Promise.all(endless);
    isOver = true;
    time.mock.restore();
    assert.ok(longest < 200, `${longest} steps in one turn`);
  });

  it('is evaluated in the order in which that was asked for', async () => {
    const expression = make('$contains(x, /^(a+)+$/) ? 0 : n');
    const slow = expression.evaluate({ x: `${'a'.repeat(41)}!`, n: 1 });
    const order: unknown[] = [];
    const note = (value: unknown): void => void order.push(value);
    await Promise.all([
      slow.catch(() => note('stopped')),
      expression.evaluate({ x: 'b', n: 2 }).then(note),
      expression.evaluate({ x: 'b', n: 3 }).then(note),
    ]);
    assert.deepEqual(order, ['stopped', 2, 3]);
  });
});
