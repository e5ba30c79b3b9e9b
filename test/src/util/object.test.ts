import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { equalJson, readPath, valueAt } from '../../../src/util/json';

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
