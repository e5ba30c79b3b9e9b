import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Node } from 'node-red';
import { StatusLine } from '../../nodes/common/status';

describe('a status that changes very often', () => {
  let shown: unknown[];
  let line: StatusLine;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    shown = [];
    const node = { status: ({ text }: { text: string }) => shown.push(text) };
    line = new StatusLine(node as unknown as Node);
  });
  afterEach(() => mock.timers.reset());

  it('is written ten times a second, the latest each time', () => {
    for (let ms = 0; ms <= 200; ms += 10) {
      line.update(() => ({ text: `at ${ms}` }));
      mock.timers.tick(10);
    }
    assert.deepEqual(shown, ['at 0', 'at 90', 'at 190']);
    mock.timers.tick(100);
    assert.equal(shown.at(-1), 'at 200');
    mock.timers.tick(1000);
    assert.equal(shown.length, 4);
  });

  it('is written once while it stays the same, and never after the close', () => {
    for (let count = 0; count < 3; count++) {
      line.update(() => ({ text: 'same' }));
      mock.timers.tick(100);
    }
    line.update(() => ({ text: 'same' }));
    line.update(() => ({ text: 'late' }));
    line.close();
    mock.timers.tick(1000);
    assert.deepEqual(shown, ['same']);
  });
});
