import assert from 'node:assert/strict';
import {
  parseCodes,
  parseLevel,
  parsePin,
  parsePins,
  readLevels,
  type PinOrder,
} from '../../../src/protocol/gpio';
import { thrown } from '../support/failure';

describe('a pin', () => {
  for (const [value, pin] of [
    [0, 0],
    ['05', 5],
    [1_000_000, 1_000_000],
  ]) {
    it(`can be ${JSON.stringify(value)}`, () => assert.equal(`${parsePin(value)}`, String(pin)));
  }
  for (const value of [-1, Infinity, 1.5, '1.5', '1e9', '', true, null, undefined, '1\n', [5]]) {
    it(`cannot be ${JSON.stringify(value)}`, () => {
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
  for (const value of [2, -1, 0.5, '2', 'true', '', null, undefined, {}, [1]]) {
    it(`cannot be ${JSON.stringify(value)}`, () => {
      assert.match(thrown(() => parseLevel(value), 'INVALID_INPUT').message, /level/);
    });
  }
});

/** The levels of the pins from 0 on. */
const list = (result: string, codes: unknown, order: PinOrder = 'auto'): unknown[] => {
  const levels = readLevels(result, order, parseCodes(codes));
  return Array.from({ length: levels.size }, (_, pin) => levels.get(pin));
};

describe('the level characters of the service', () => {
  it('get their values by the codes, index = pin, and stay unchanged without a code', () => {
    assert.deepEqual(list('01x', '{"0":0,"1":1}', 'position'), [0, 1, 'x']);
    assert.deepEqual(list('', {}), []);
  });

  it('are 0 and 1 as U+0000 and U+0001, unless the codes name them', () => {
    assert.deepEqual(list('\0\u0001\u0002', {}), [0, 1, '\u0002']);
    assert.deepEqual(list('\0\u0001', { '\u0001': 'an' }), [0, 'an']);
  });

  const PUBLIC = [0, 1, 2, 3, 4, 5, 9, 10, 12, 13, 14, 15];
  const twelve = '\u0001\0'.repeat(6);
  const pinsOf = (result: string, order: PinOrder): number[] => [
    ...readLevels(result, order, parseCodes({})).keys(),
  ];

  it('are those of the pins of the public server if they are twelve of U+0000 and U+0001', () => {
    assert.deepEqual(pinsOf(twelve, 'auto'), PUBLIC);
    const byPosition = Array.from(twelve, (_, index) => index);
    assert.deepEqual(pinsOf(twelve, 'position'), byPosition);
    assert.deepEqual(pinsOf('010101010101', 'auto'), byPosition);
    assert.deepEqual(pinsOf(`${twelve.slice(1)}0`, 'auto'), byPosition);
    assert.deepEqual(
      pinsOf(twelve.slice(1), 'auto'),
      byPosition.slice(1).map((pin) => pin - 1),
    );
    assert.deepEqual(pinsOf(`${twelve}\0`, 'auto'), [...byPosition, 12]);
  });

  it('are those of the pins of a list, of which the answer may lack some, or have more', () => {
    assert.deepEqual(
      [...readLevels('01', [7, 3], parseCodes({}))],
      [
        [7, '0'],
        [3, '1'],
      ],
    );
    assert.deepEqual(pinsOf('0', [7, 3]), [7]);
    assert.deepEqual(pinsOf(twelve, [7, 3]), [7, 3]);
  });

  it('have no values that are nested too deeply for a message', () => {
    const deep = `{"1":${'['.repeat(100)}${']'.repeat(100)}}`;
    const { message } = thrown(() => parseCodes(deep), 'INVALID_INPUT');
    assert.match(message, /nested deeper than 100 levels.*{"0":0,"1":1}/);
  });

  it('may have any value, null and nothing included', () => {
    const codes = { a: null, b: undefined, c: { on: true } };
    assert.deepEqual(list('abc', codes), Object.values(codes));
  });

  it('are whole characters, not halves of surrogate pairs', () => {
    assert.deepEqual(list('0😀1', { '😀': 'x' }), ['0', 'x', '1']);
  });

  for (const bad of ['', 'x', '[]', 'null', '"0"', undefined, null, 1, ['0']]) {
    it(`have no codes in ${JSON.stringify(bad)}`, () => {
      assert.match(thrown(() => parseCodes(bad), 'INVALID_INPUT').message, /codes/);
    });
  }
});

describe('the order of pins', () => {
  const orders: [given: unknown, order: PinOrder][] = [
    ['auto', 'auto'],
    ['position', 'position'],
    [' 4 , 5,\n16 ', [4, 5, 16]],
    ['7', [7]],
    [
      [4, '5'],
      [4, 5],
    ],
  ];
  for (const [given, order] of orders) {
    it(`may be ${JSON.stringify(given)}`, () => assert.deepEqual(parsePins(given), order));
  }
  const many = Array.from({ length: 257 }, (_, pin) => pin);
  const texts = ['', ' ', 'Auto', '1,', ',1', '1,01', '-1', '1.5', '1e2', '0x1', '1000'];
  for (const given of [...texts, [], [NaN], [1, 1], [1.5], [null], [[1]], {}, null, 5, many]) {
    const shown = JSON.stringify(given).slice(0, 30);
    it(`cannot be ${shown}`, () => assert.equal(parsePins(given), undefined));
  }
});
