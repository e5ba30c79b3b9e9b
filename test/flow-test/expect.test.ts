import assert from 'node:assert/strict';
import { Judge } from '../../flow-test/expect';
import type { Seen } from '../../flow-test/seen';
import { readTests } from '../../flow-test/tests';

const BEGIN = 1_000_000;
/** When the last step was done. */
const GIVEN = BEGIN + 500;

const NODES = ['end', 'other'].map((id) => ({ id, type: 'debug', name: id }));

const message = (seconds: number, payload: unknown, node = 'end'): Seen => ({
  ...{ kind: 'message', at: GIVEN + seconds * 1000, node, msg: { payload } },
});
const pin = (seconds: number, level: 0 | 1): Seen => ({
  ...{ kind: 'pin', at: GIVEN + seconds * 1000, chipid: '1', pin: 5, level },
});

/** What a test says to what was seen, some seconds after the last step. */
function verdict(
  expect: string,
  { seen = [], now = 0, level = 0 }: { seen?: readonly Seen[]; now?: number; level?: 0 | 1 },
): 'open' | 'passed' | string {
  const [test] = readTests(
    `{ name: t, expect: [${expect.startsWith('{') ? expect : `{ ${expect} }`}] }`,
    'a.yaml',
  );
  assert.ok(test);
  const judge = new Judge(test.expect, NODES);
  const evidence = {
    seen,
    begin: BEGIN,
    given: GIVEN,
    now: GIVEN + now * 1000,
    level: () => level,
  };
  if (!judge.isOver(evidence)) return 'open';
  return judge.failures(evidence).join('\n') || 'passed';
}

describe('an expectation', () => {
  it('of a message is met by the first that matches, until its time is over', () => {
    const expected = 'message: { at: end, match: { payload: 1 }, within: 2 }';
    assert.equal(verdict(expected, { now: 1.9 }), 'open');
    assert.equal(verdict(expected, { seen: [message(0.1, 1)], now: 0.2 }), 'passed');
    assert.equal(
      verdict(expected, {
        seen: [message(0.1, 2), message(0.2, 1, 'other'), message(2.1, 1)],
        now: 2.2,
      }),
      'expected a message at "end" like {"payload":1}, within 2 s\nwhat came instead:\n' +
        '  at 0.60 s {"payload":2} (payload is 2, not 1)\n  at 2.60 s {"payload":1}',
    );
    assert.equal(
      verdict(expected, { now: 2 }),
      'expected a message at "end" like {"payload":1}, within 2 s\nthere was none',
    );
  });

  it('of a number of messages waits whether more come, and fails at once of one too many', () => {
    const expected = 'message: { at: end, count: 2, within: 1 }';
    const two = [message(0.1, 1), message(0.2, 2)];
    assert.equal(verdict(expected, { seen: two, now: 0.9 }), 'open');
    assert.equal(verdict(expected, { seen: two, now: 1 }), 'passed');
    assert.match(
      verdict(expected, { seen: two.slice(1), now: 1 }),
      /^expected 2 messages at "end"/,
    );
    assert.match(verdict(expected, { seen: [...two, message(0.3, 3)], now: 0.4 }), /^expected 2 /);
    assert.equal(verdict('message: { at: end, count: 0, within: 1 }', { now: 1 }), 'passed');
  });

  it('of a pin is met when it is set, or if it has the level in the end', () => {
    const expected = 'pin: { chipid: 1, pin: 5, level: 1, within: 1 }';
    assert.equal(verdict(expected, { seen: [pin(0.1, 1), pin(0.2, 0)] }), 'passed');
    assert.equal(verdict(expected, { now: 0.9, level: 1 }), 'open');
    assert.equal(verdict(expected, { now: 1, level: 1 }), 'passed');
    assert.equal(
      verdict(expected, { seen: [pin(0.1, 0)], now: 1 }),
      'expected pin 5 of 1 set to 1, within 1 s\nwhat came instead; it is 0:\n' +
        '  at 0.60 s set to 0 (another level)',
    );
  });

  it('of nothing fails at once when something comes, and is met when its time is over', () => {
    const expected = 'none: { message: { at: end, match: { payload: 1 } }, for: 2 }';
    assert.equal(verdict(expected, { seen: [message(0.1, 2)], now: 1.9 }), 'open');
    assert.equal(verdict(expected, { seen: [message(0.1, 2)], now: 2 }), 'passed');
    assert.equal(verdict(expected, { seen: [message(2.1, 1)], now: 2.2 }), 'passed');
    assert.match(
      verdict(expected, { seen: [message(-0.3, 1)] }),
      /^expected not a message .*, but there was\n {2}at 0\.20 s /,
    );
  });

  it('of no error fails of any, with its text', () => {
    const error: Seen = {
      kind: 'error',
      at: GIVEN,
      node: 'end',
      code: 'TIMEOUT',
      message: 'TIMEOUT: no',
    };
    assert.equal(verdict('noError: true', {}), 'passed');
    assert.equal(
      verdict('noError: true', { seen: [error] }),
      'expected no error, but there was\n  at 0.50 s "end": TIMEOUT: no',
    );
    assert.equal(verdict('error: { at: end, code: TIMEOUT }', { seen: [error] }), 'passed');
    assert.match(
      verdict('error: { at: end, code: GATEWAY }', { seen: [error], now: 5 }),
      /another code/,
    );
  });

  it('of a push compares its text, as JSON where that is looked for', () => {
    const seen: Seen[] = [{ kind: 'pushed', at: GIVEN, chipid: '1', text: '{"get":1,"id":2}' }];
    assert.equal(verdict('pushed: { chipid: 1, match: { get: 1 } }', { seen }), 'passed');
    assert.equal(verdict('pushed: { chipid: 1, match: { regex: ^..get } }', { seen }), 'passed');
    assert.equal(verdict('pushed: { chipid: 1, match: \'{"get":1,"id":2}\' }', { seen }), 'passed');
  });
});
