import assert from 'node:assert/strict';
import { FaultLog } from '../../nodes/common/source';
import { tick, useClock } from '../support/clock';

describe('the log of faults', () => {
  let lines: string[];
  let log: FaultLog;
  useClock();
  beforeEach(() => {
    lines = [];
    log = new FaultLog((line) => lines.push(line));
  });
  afterEach(() => log.close());

  it('writes the first fault of a kind at once, with its device, and the others of that minute as one line', () => {
    for (let device = 1; device <= 40; device++) log.write('down', `Device ${device}: down.`);
    assert.deepEqual(lines, ['Device 1: down.']);
    tick(60_000);
    assert.deepEqual(lines.slice(1), [
      '39 more of this kind within a minute, the last: Device 40: down.',
    ]);
  });

  it('writes one line a minute while faults continue, and starts over after a quiet minute', () => {
    for (let second = 0; second < 600; second++) {
      log.write('down', `at ${second}`);
      tick(1000);
    }
    assert.equal(lines.length, 11);
    tick(120_000);
    log.write('down', 'again');
    assert.equal(lines.at(-1), 'again');
  });

  it('writes a second fault unchanged, and each kind on its own', () => {
    log.write('a', 'a 1');
    log.write('b', 'b 1');
    log.write('a', 'a 2');
    tick(60_000);
    assert.deepEqual(lines, ['a 1', 'b 1', 'a 2']);
  });

  it('distinguishes at most a hundred kinds', () => {
    for (let kind = 0; kind < 10_000; kind++) log.write(`kind ${kind}`, `line ${kind}`);
    assert.equal(lines.length, 101);
    tick(60_000);
    assert.equal(lines.length, 102);
    assert.match(lines.at(-1)!, /^9899 more .* line 9999$/);
  });

  it('writes the remaining counts when it closes, and nothing afterwards', () => {
    log.write('a', 'a 1');
    log.write('a', 'a 2');
    log.close();
    log.write('a', 'a 3');
    tick(600_000);
    assert.deepEqual(lines, ['a 1', 'a 2']);
  });
});
