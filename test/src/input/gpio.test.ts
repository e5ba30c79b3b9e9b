import assert from 'node:assert/strict';
import { parseCodes, parseLevel, parsePin, readLevels } from '../../../src/input/gpio';
import { BAD_LEVELS, BAD_PINS } from '../support/bad-values';
import { thrown } from '../support/failure';

describe('a pin', () => {
  for (const [value, pin] of [
    [0, 0],
    [5, 5],
    ['5', 5],
    ['05', 5],
    [-0, 0],
    [1_000_000, 1_000_000],
  ]) {
    it(`can be ${JSON.stringify(value)}`, () => assert.equal(`${parsePin(value)}`, String(pin)));
  }
  for (const [what, value] of BAD_PINS) {
    it(`cannot be ${what}`, () => {
      assert.match(thrown(() => parsePin(value), 'INVALID_INPUT').message, /pin/);
    });
  }
});

describe('a level', () => {
  for (const value of [1, '1', true, 'high', 'on', 'HIGH', ' On ']) {
    it(`is high as ${JSON.stringify(value)}`, () => assert.equal(parseLevel(value), 1));
  }
  for (const value of [0, '0', false, 'low', 'off', 'Low', 'OFF\n']) {
    it(`is low as ${JSON.stringify(value)}`, () => assert.equal(parseLevel(value), 0));
  }
  for (const [what, value] of BAD_LEVELS) {
    it(`cannot be ${what}`, () => {
      assert.match(thrown(() => parseLevel(value), 'INVALID_INPUT').message, /level/);
    });
  }
});

describe('the level characters of the service', () => {
  it('get their values by the codes, index = pin', () => {
    const codes = parseCodes('{"0":0,"1":1}');
    assert.deepEqual(readLevels('0110', codes), [0, 1, 1, 0]);
  });

  it('stay unchanged without a code', () => {
    assert.deepEqual(readLevels('0x1', parseCodes({ 0: false, 1: true })), [false, 'x', true]);
  });

  it('have no values that are nested too deeply for a message', () => {
    const deep = `{"1":${'['.repeat(100)}${']'.repeat(100)}}`;
    const { message } = thrown(() => parseCodes(deep), 'INVALID_INPUT');
    assert.match(message, /nested deeper than 100 levels.*{"0":0,"1":1}/);
  });

  it('may have any value, null and nothing included', () => {
    const codes = parseCodes({ a: null, b: undefined, c: { on: true } });
    assert.deepEqual(readLevels('abc', codes), [null, undefined, { on: true }]);
  });

  it('are whole characters, not halves of surrogate pairs', () => {
    assert.deepEqual(readLevels('0😀1', parseCodes({ '😀': 'x' })), ['0', 'x', '1']);
  });

  it('are an empty list for an empty answer', () => {
    assert.deepEqual(readLevels('', parseCodes('{}')), []);
  });

  for (const bad of ['', 'x', '[]', 'null', '1', '"0"', undefined, null, 1, ['0']]) {
    it(`have no codes in ${JSON.stringify(bad)}`, () => {
      assert.match(thrown(() => parseCodes(bad), 'INVALID_INPUT').message, /codes/);
    });
  }
});
