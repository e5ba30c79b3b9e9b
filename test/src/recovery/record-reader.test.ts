import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RecordReader } from '../../../src/recovery/reader';
import { JsonLimitError, parseJson } from '../../../src/util/json';
import { jsonText } from '../properties/json-text';
import { anyText, holds } from '../support/fuzz';

const MIB = 1024 * 1024;

/** What becomes of an answer that arrives in these chunks. */
function read(
  chunks: Iterable<Buffer>,
  most = Infinity,
  sizes: unknown[] = [],
): { records: unknown[]; end: unknown } {
  const records: unknown[] = [];
  const reader = new RecordReader((record, size) => {
    sizes.push(size);
    return records.push(record) < most;
  });
  reader.announced = 1024 * MIB;
  for (const chunk of chunks) if (!reader.add(chunk)) break;
  return { records, end: reader.end() };
}

/** A text in chunks that end at some of its bytes. */
function* split(text: string | Buffer, places: readonly number[]): Generator<Buffer> {
  const bytes = Buffer.from(text);
  const borders = places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b);
  let start = 0;
  for (const border of [...borders, bytes.length]) {
    // A copy, so that nothing outside of the chunk can be read.
    yield Buffer.from(bytes.subarray(start, border));
    start = border;
  }
}

const inBytes = (text: string): Generator<Buffer> =>
  split(
    text,
    Array.from(Buffer.from(text), (_, index) => index),
  );

const places = fc.array(fc.nat(10_000), { maxLength: 12 });
const array = fc.array(jsonText, { maxLength: 8 }).map((items) => ({
  text: `[${items.map(({ text }) => text).join(',')}]`,
  values: items.map(({ value }) => value),
}));

/** Texts that look like what is between two records. */
const awkward = fc.array(
  fc.constantFrom('},{"', '}, {', '"', '\\', '[', ']', ',', '{', '}', 'a', '\u00e9'),
  {
    maxLength: 6,
  },
);
const field = fc.oneof(
  awkward.map((parts) => JSON.stringify(parts.join(''))),
  fc.constantFrom(
    '1',
    '-0.5',
    'null',
    '12345678901234567890',
    '9007199254740993',
    '[{"a":1},{"b":2}]',
    '{}',
  ),
);
/** A history as a service may write it: records, with or without white space between them. */
const history = fc
  .tuple(
    fc.array(fc.array(field, { minLength: 1, maxLength: 3 }), { maxLength: 20 }),
    fc.constantFrom(',', ', ', ' ,\n  '),
  )
  .map(([records, comma]) => {
    const texts = records.map(
      (fields) => `{${fields.map((value, at) => `"f${at}":${value}`).join(comma)}}`,
    );
    return `[${texts.join(comma)}]`;
  });

const outcome = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return 'not JSON';
  }
};

describe('a history that is read record by record', () => {
  holds(
    'has the elements of its array, wherever its chunks end',
    1000,
    fc.property(array, places, ({ text, values }, borders) => {
      const whole = read(split(text, borders));
      assert.deepEqual(whole.records, values);
      const { bytes, isWhole } = whole.end as RecordReader;
      assert.deepEqual([bytes, isWhole], [Buffer.byteLength(text), true]);
      assert.deepEqual(read(inBytes(text)).records, values);
    }),
  );

  holds(
    'has the records of a history, whatever is in them, wherever its chunks end',
    1000,
    fc.property(history, places, (text, borders) => {
      const expected = parseJson(text);
      assert.deepEqual(read(split(text, borders)).records, expected);
      const sizes: number[] = [];
      assert.deepEqual(read(split(text, []), Infinity, sizes).records, expected);
      // Of the whole answer, all but its brackets: the first record counts with a comma, too.
      const total = sizes.reduce((sum, size) => sum + size, 0);
      assert.equal(total, sizes.length === 0 ? 0 : Buffer.byteLength(text) - 1);
    }),
  );

  it('may begin with a byte order mark, which may come alone', () => {
    const alone = (text: string) => split(text, [3]);
    for (const chunksOf of [alone, (text: string) => split(text, [])]) {
      assert.deepEqual(read(chunksOf('\uFEFF [{"a":1},2]')).records, [{ a: 1 }, 2]);
      assert.deepEqual(read(chunksOf('\uFEFF{"msg":"no"}')).end, { msg: 'no' });
      for (const text of ['\uFEFF\uFEFF[1]', ' \uFEFF[1]', '\uFEFF', '\uFFFD[1]'])
        assert.throws(() => read(chunksOf(text)), SyntaxError);
    }
  });

  it('is told the bytes of each record with its comma, at once or one by one', () => {
    const bodies = ['plain', 'é€', '},{', '"},{"a', ...Array.from({ length: 2000 }, String)];
    for (const count of [2, bodies.length]) {
      const texts = bodies.slice(0, count).map((body) => JSON.stringify({ body }));
      const sizes: number[] = [];
      read(split(`[${texts.join(',')}]`, []), Infinity, sizes);
      assert.deepEqual(
        sizes,
        texts.map((text) => Buffer.byteLength(text) + 1),
      );
    }
  });

  holds(
    'is JSON if and only if JSON.parse says so, wherever its chunks end',
    1000,
    fc.property(
      ...[array, fc.nat(), fc.nat(3), anyText, places],
      ({ text }, where, gone, put, borders) => {
        const at = where % (text.length + 1);
        const changed = text.slice(0, at) + put.slice(0, 2) + text.slice(at + gone);
        const bytes = Buffer.from(changed);
        const expected = outcome(() => parseJson(bytes));
        const { records, end } = outcome(() => {
          const found = read(split(bytes, borders));
          return found.end instanceof RecordReader ? { ...found, end: found.records } : found;
        }) as { records?: unknown[]; end?: unknown };
        // An array that is cut off has given some of its records, and is an error all the same.
        assert.deepEqual(end ?? 'not JSON', expected ?? 'not JSON');
        if (records && Array.isArray(expected)) assert.deepEqual(records, expected);
      },
    ),
  );

  holds(
    'ends after the record that is enough, wherever its chunks end',
    300,
    fc.property(
      array,
      fc.integer({ min: 1, max: 8 }),
      places,
      ({ text, values }, most, borders) => {
        const { records, end } = read(split(text, borders), most);
        assert.deepEqual(records, values.slice(0, most));
        assert.equal((end as RecordReader).isWhole, values.length < most);
        assert.equal((end as RecordReader).records, records.length);
      },
    ),
  );

  const DEEP = `${'['.repeat(101)}${']'.repeat(101)}`;
  const malformed: Record<string, string> = {
    'a comma first': '[,1]',
    'a comma last': '[1,]',
    'two commas': '[1,,2]',
    'white space between two commas': '[1, ,2]',
    'a comma alone': '[,]',
    'no comma': '[1 2]',
    'no end': '[1,2',
    'no end after a comma': '[1,',
    'no end of a string': '["a',
    'no end of an object': '[{"a":1}',
    'another end': '[1}',
    'a mixed up end': '[{"a":1]}',
    'something after the end': '[1]]',
    'another array after the end': '[1][2]',
    'white space alone': ' \r\n\t ',
    html: '<!doctype html><p>[1]',
  };
  for (const [what, text] of Object.entries(malformed)) {
    it(`is not JSON with ${what}`, () => {
      for (const chunks of [[Buffer.from(text)], inBytes(text)]) {
        assert.throws(() => read(chunks), SyntaxError);
      }
    });
  }

  it('is no error before a record that is one', () => {
    const records: unknown[] = [];
    const reader = new RecordReader((record) => void records.push(record));
    assert.equal(reader.add(Buffer.from('[1,"a",{"b":}')), true);
    assert.equal(reader.add(Buffer.from(',3]')), false);
    assert.deepEqual(records, [1, 'a']);
    assert.throws(() => reader.end(), SyntaxError);
  });

  it('may have no record', () => {
    for (const text of ['[]', ' [ ] ', '\r\n[\t]\n']) {
      const { records, end } = read(inBytes(text));
      assert.deepEqual([records, (end as RecordReader).isWhole], [[], true]);
    }
  });

  it('is returned as it is if it is not an array', () => {
    for (const value of [{ msg: 'no' }, null, 5, 'text', true]) {
      assert.deepEqual(read(inBytes(JSON.stringify(value))), { records: [], end: value });
    }
  });

  it('keeps every digit of long integers', () => {
    const [twenty, forty] = ['12345678901234567890', '9'.repeat(40)];
    const text = `[{"id":${twenty}},{"id":${forty},"body":"${twenty}"},-${twenty},7]`;
    const { records } = read(inBytes(text));
    assert.deepEqual(records, [{ id: twenty }, { id: forty, body: twenty }, `-${twenty}`, 7]);
  });

  it('is refused at a record that is too deep, before the record has ended', () => {
    const reader = new RecordReader(() => assert.fail('no record came'));
    assert.equal(reader.add(Buffer.from(`[${'['.repeat(100)}`)), true);
    assert.equal(reader.add(Buffer.from('[')), false);
    assert.throws(() => reader.end(), /100 levels/);
    assert.throws(() => read([Buffer.from(`[${DEEP}]`)]), JsonLimitError);
  });

  it('is refused at a record over 32 MiB, and not before', () => {
    const piece = Buffer.alloc(MIB, 'x');
    const reader = new RecordReader(() => undefined);
    reader.add(Buffer.from('[1,"'));
    for (let count = 0; count < 31; count++) assert.equal(reader.add(piece), true);
    assert.equal(reader.add(piece), false);
    assert.throws(() => reader.end(), /a record of more than 32 MiB/);
    const long = read([Buffer.from('["'), ...Array<Buffer>(31).fill(piece), Buffer.from('"]')]);
    assert.equal((long.records[0] as string).length, 31 * MIB);
  });

  it('is refused at a record of more than 100,000 values, before it has ended', () => {
    const values = '1,'.repeat(100_000);
    const { records } = read([Buffer.from(`[[${values}1],[${values}1]]`)]);
    assert.deepEqual(
      records.map((record) => (record as unknown[]).length),
      [100_001, 100_001],
    );
    for (const unit of ['1,', '{},', '"a":1,']) {
      const reader = new RecordReader(() => assert.fail('no record came'));
      assert.equal(reader.add(Buffer.from(`[[{${unit.repeat(100_001)}`)), false);
      assert.throws(() => reader.end(), /more than 100000 values/);
    }
  });

  it('keeps no more than a beginning of what is not an array', () => {
    const reader = new RecordReader(() => undefined);
    reader.add(Buffer.from('{"msg":"'));
    let pieces = 0;
    while (reader.add(Buffer.alloc(16 * 1024, 'x'))) pieces++;
    assert.ok(pieces < 4, String(pieces));
  });

  it('passes on what the sink throws', () => {
    const reader = new RecordReader(() => {
      throw new RangeError('mine');
    });
    assert.equal(reader.add(Buffer.from('[1,2]')), false);
    assert.throws(() => reader.end(), /mine/);
  });
});
