import assert from 'node:assert/strict';
import { difference } from '../../flow-test/match';

const same = (wanted: unknown, found: unknown): void =>
  assert.equal(difference(wanted, found), undefined);
const differs = (wanted: unknown, found: unknown, why: string): void =>
  assert.equal(difference(wanted, found), why);

describe('what matches', () => {
  it('is a part of an object, at any depth, and no more than that', () => {
    same({ payload: { t: 1 } }, { topic: 'x', payload: { t: 1, h: 2 } });
    same({}, { payload: 1 });
    differs({ payload: { t: 1 } }, { payload: { t: '1' } }, 'payload.t is "1", not 1');
    differs({ payload: { t: 1 } }, { payload: 1 }, 'payload is 1, not {"t":1}');
    differs({ payload: { t: 1 } }, { payload: null }, 'payload is null, not {"t":1}');
    differs({ payload: { t: 1 } }, { topic: 'x' }, 'payload is missing');
    differs({ toString: 1 }, {}, 'toString is missing');
  });

  it('is a list entry by entry, or some of its entries by their index', () => {
    same([1, { b: 2 }], [1, { a: 1, b: 2 }]);
    same({ '1': { b: 2 } }, [1, { b: 2 }, 3]);
    differs([1], [1, 2], 'it has 2 entries, not 1');
    differs({ list: [1, 2] }, { list: [1, 3] }, 'list[1] is 3, not 2');
    differs({ list: [] }, { list: 'text' }, 'list is "text", not []');
    differs({ list: [1] }, { list: { '0': 1 } }, 'list is {"0":1}, not a list');
  });

  it('may be missing where null is looked for', () => {
    same({ error: null }, {});
    same({ error: null }, { error: null });
    differs({ error: null }, { error: 0 }, 'error is 0, not null');
  });

  it('is bytes as their text', () => {
    same({ payload: 'hello' }, { payload: Buffer.from('hello') });
    same({ payload: { regex: '^h' } }, { payload: Buffer.from('hello') });
    same({ payload: Buffer.from('hello') }, { payload: 'hello' });
    differs({ payload: Buffer.from('') }, { payload: { t: 1 } }, 'payload is {"t":1}, not ""');
  });

  it('is more or less than a number', () => {
    same({ t: { gt: 24 } }, { t: 24.1 });
    same({ t: { gt: 23, lt: 25 } }, { t: 24 });
    differs({ t: { gt: 24 } }, { t: 24 }, 't is 24, not greater than 24');
    differs({ t: { lt: 24 } }, { t: 24 }, 't is 24, not less than 24');
    differs({ t: { gt: 23, lt: 25 } }, { t: 25 }, 't is 25, not less than 25');
    differs({ t: { gt: 24 } }, { t: '25' }, 't is "25", not greater than 24');
    differs({ t: { gt: 24 } }, {}, 't is missing');
  });

  it('is like a regular expression', () => {
    same({ text: { regex: '^OK$' } }, { text: 'OK' });
    same({ text: { regex: '^2\\d' } }, { text: 21.5 });
    differs({ text: { regex: '^OK$' } }, { text: 'OK then' }, 'text is "OK then", not like ^OK$');
    differs({ text: { regex: '.*' } }, { text: { a: 1 } }, 'text is {"a":1}, not like .*');
  });

  it('is not like one that takes too long', () => {
    assert.match(
      difference({ regex: '^(a+)+$' }, `${'a'.repeat(200)}b`) ?? '',
      /^it is "a+b", not like /,
    );
  });

  it('is anything but nothing', () => {
    for (const value of [0, false, '', null, {}])
      same({ payload: { any: true } }, { payload: value });
    differs({ payload: { any: true } }, {}, 'payload is missing');
  });

  it('is an object with the name of an operator, if it has others', () => {
    same({ payload: { any: true, other: 1 } }, { payload: { any: true, other: 1 } });
    differs(
      { payload: { any: true, other: 1 } },
      { payload: 5 },
      'payload is 5, not {"any":true,"other":1}',
    );
  });
});
