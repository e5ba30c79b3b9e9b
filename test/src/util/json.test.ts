import assert from 'node:assert/strict';
import {
  checkJson,
  equalJson,
  JsonLimitError,
  MAX_CONTAINERS,
  MAX_DEPTH,
  MAX_FIELDS,
  parseJson,
  readPath,
  valueAt,
} from '../../../src/util/json';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  BRACKETS,
  type Content,
  EMPTY_OBJECTS,
  FIELDS,
  HTML,
  ONE_LONG_INTEGER,
  ONES,
} from '../../tooling/json-contents';
import { runInNewContext } from 'node:vm';

describe('JSON from the service', () => {
  const kept: [what: string, text: string, value: unknown][] = [
    ['a chip number of 20 digits', '{"chipid":18446744073709551615}', '18446744073709551615'],
    ['one that is the whole answer', '18446744073709551615', '18446744073709551615'],
    ['a negative one', '[-18446744073709551615]', '-18446744073709551615'],
    ['the first integer that is not safe', '[9007199254740992]', '9007199254740992'],
    ['the last safe integer, a number', '[9007199254740991]', 9007199254740991],
    ['a fraction, a number', '[1234567890123456.5]', 1234567890123456.5],
    ['an exponent, a number', '[1e21]', 1e21],
  ];
  for (const [what, text, value] of kept) {
    it(`keeps ${what}`, () => {
      const parsed = parseJson(text);
      const first: unknown =
        typeof parsed === 'object' && parsed !== null ? Object.values(parsed)[0] : parsed;
      assert.deepEqual(first, value);
    });
  }

  it('keeps NUL, escapes and keys that every object has', () => {
    const text = '{"devkey":"k\\u0000x","__proto__":{"a":1},"id":12345678901234567890}';
    const value = parseJson(text) as Record<string, unknown>;
    assert.equal(value['devkey'], 'k\0x');
    assert.deepEqual(Object.keys(value), ['devkey', '__proto__', 'id']);
    assert.equal(({} as Record<string, unknown>)['a'], undefined);
  });

  it('ignores a byte order mark before it, and nowhere else', () => {
    for (const json of ['\uFEFF [12345678901234567890, 1]', '[12345678901234567890, 1]\n'])
      for (const form of [json, Buffer.from(json)])
        assert.deepEqual(parseJson(form), ['12345678901234567890', 1]);
    for (const json of [' \uFEFF[1]', '\uFEFF\uFEFF[1]', '[1]\uFEFF', '\uFEFF'])
      for (const form of [json, Buffer.from(json)])
        assert.throws(() => parseJson(form), SyntaxError);
  });

  const broken = ['', 'x', '{', '[12345678901234567890', '[012345678901234567890]', '{"a":1}x'];
  for (const text of broken) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseJson(text), SyntaxError);
    });
  }
});

const TOO_MANY =
  'JsonLimitError: The JSON is of more than 1,000,000 arrays and objects, or 5,000,000 fields.';

const nested = (levels: number, open = '[', close = ']'): string =>
  open.repeat(levels) + (open === '[' ? '' : '1') + close.repeat(levels);
const refused = (text: string): void => {
  assert.throws(() => parseJson(text), JsonLimitError);
  assert.throws(() => parseJson(Buffer.from(text)), JsonLimitError);
};

describe('the limits of JSON', () => {
  it('are 100 levels of nesting', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ]) {
      const text = nested(MAX_DEPTH, open, close);
      assert.deepEqual(parseJson(text), JSON.parse(text));
      refused(nested(MAX_DEPTH + 1, open, close));
    }
  });

  it('do not count brackets in strings, whatever their escapes', () => {
    const opening = '['.repeat(MAX_DEPTH + 1);
    const values = [opening, `\\"${opening}`, `\\`, `${'x'.repeat(300)}\\"${opening}"`, opening];
    for (const value of [values, values.map((text) => text.repeat(3))]) {
      assert.deepEqual(parseJson(JSON.stringify(value)), value);
      assert.deepEqual(parseJson(Buffer.from(JSON.stringify(value))), value);
    }
    refused(`["${'x'.repeat(300)}\\\\",${opening}`);
    refused(`["${'x'.repeat(300)}\\\\\\"",${opening}`);
  });

  it('are a million arrays and objects', () => {
    const row = (count: number): string => `[${'[],'.repeat(count - 2)}{}]`;
    checkJson(Buffer.from(row(MAX_CONTAINERS)));
    refused(row(MAX_CONTAINERS + 1));
  });

  it('are five million fields', () => {
    const fields = (count: number): string => `{${'"a":1,'.repeat(count - 1)}"a":2}`;
    checkJson(Buffer.from(fields(MAX_FIELDS)));
    assert.throws(() => checkJson(Buffer.from(fields(MAX_FIELDS + 1))), JsonLimitError);
  });

  it('apply before the text is known to be JSON, and come with advice', () => {
    assert.throws(
      () => parseJson('['.repeat(101)),
      (error) => error instanceof JsonLimitError && /firmware/.test(error.advice),
    );
  });
});

/** What comes of an answer of 64 MiB. */
const AT_LIMIT: readonly [content: Content, outcome: unknown][] = [
  [ONES, { length: 1, last: { x: { length: 33554414, last: 1 }, id: '12345678901234567890' } }],
  [ONE_LONG_INTEGER, '67108864 characters'],
  [HTML, `SyntaxError: Unexpected token '<', "<!doctype "... is not valid JSON`],
  [BRACKETS, 'JsonLimitError: The JSON is nested deeper than 100 levels.'],
  [EMPTY_OBJECTS, TOO_MANY],
  [FIELDS, TOO_MANY],
];

describe('an answer as long as it may be', function () {
  this.timeout(120_000);
  const outcomes = new Map<string, unknown>();

  before('parse them all in one process', async () => {
    const file = join(__dirname, '..', 'support', 'parse-at-limit.js');
    const names = AT_LIMIT.map(([{ name }]) => name);
    const { stdout } = await promisify(execFile)(process.execPath, [file, ...names]);
    for (const line of stdout.trimEnd().split('\n')) {
      const { name, outcome } = JSON.parse(line) as { name: string; outcome: unknown };
      outcomes.set(name, outcome);
    }
  });

  for (const [{ name }, outcome] of AT_LIMIT) {
    it(`does not end the process if it consists of ${name}`, () => {
      assert.deepEqual(outcomes.get(name), outcome);
    });
  }
});

describe('the path of a property', () => {
  const paths: [path: string, steps: string[] | undefined][] = [
    ['id', ['id']],
    ['reply.id', ['reply', 'id']],
    ['values[0].unit', ['values', '0', 'unit']],
    ['[1]["a b"]', ['1', 'a b']],
    ["x['a.b']", ['x', 'a.b']],
    ['温度.值', ['温度', '值']],
    ...['', '.', '.id', 'id.', 'a..b', 'a[', 'a[x]', 'a b', 'a[0]b', 'a]'].map(
      (path): [string, undefined] => [path, undefined],
    ),
    ['a.'.repeat(200) + 'a', undefined],
  ];
  for (const [path, steps] of paths) {
    it(`${path.slice(0, 20) || 'nothing'} is ${steps ? steps.join(', ') : 'no path'}`, () => {
      assert.deepEqual(readPath(path), steps);
    });
  }

  it('leads to own properties only', () => {
    const value = { a: [{ b: 1 }], text: 'abc' };
    assert.equal(valueAt(value, ['a', '0', 'b']), 1);
    for (const steps of [
      ['a', '1'],
      ['text', 'length'],
      ['constructor'],
      ['__proto__', 'toString'],
    ])
      assert.equal(valueAt(value, steps), undefined);
  });
});

describe('values of JSON', () => {
  it('are equal without conversions, in any order of properties, from any realm', () => {
    const other = runInNewContext('({ b: [1, { c: null }], a: "x" })') as unknown;
    assert.ok(equalJson({ a: 'x', b: [1, { c: null }] }, other));
    const different: [unknown, unknown][] = [
      [1, '1'],
      [0, false],
      [null, undefined],
      [[], {}],
      [[1], [1, 2]],
      [{ a: 1 }, { a: 1, b: 2 }],
      [{ a: undefined }, { b: undefined }],
      [{}, null],
    ];
    for (const [one, another] of different) assert.ok(!equalJson(one, another));
  });
});
