import assert from 'node:assert/strict';
import type { Node } from 'node-red';
import { StatusLine } from '../../nodes/common/status';
import { tick, useClock } from '../support/clock';

describe('a status that changes very often', () => {
  let shown: unknown[];
  let line: StatusLine;

  useClock();
  beforeEach(() => {
    shown = [];
    const node = { status: ({ text }: { text: string }) => shown.push(text) };
    line = new StatusLine(node as unknown as Node);
  });

  it('is written ten times a second, the latest each time', () => {
    for (let ms = 0; ms <= 200; ms += 10) {
      line.update(() => ({ text: `at ${ms}` }));
      tick(10);
    }
    assert.deepEqual(shown, ['at 0', 'at 90', 'at 190']);
    tick(100);
    assert.equal(shown.at(-1), 'at 200');
    tick(1000);
    assert.equal(shown.length, 4);
  });

  it('is written once while it stays the same, and never after the close', () => {
    for (let count = 0; count < 3; count++) {
      line.update(() => ({ text: 'same' }));
      tick(100);
    }
    line.update(() => ({ text: 'same' }));
    line.update(() => ({ text: 'late' }));
    line.close();
    tick(1000);
    assert.deepEqual(shown, ['same']);
  });
});
