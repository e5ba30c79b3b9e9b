import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RecordReader } from '../../../src/recovery/reader';
import { parseJson } from '../../../src/util/json';
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
  { maxLength: 6 },
);
const field = fc.oneof(
  awkward.map((parts) => JSON.stringify(parts.join(''))),
  fc.constantFrom('1', '-0.5', 'null', '[{"a":1},{"b":2}]', '{}'),
);
const id = fc.constantFrom('1', '12345678901234567890', '9007199254740993');
/** A history as a service may write it: records, with or without white space between them, and a long one now and then. */
const history = fc
  .tuple(
    fc.array(fc.tuple(id, fc.array(field, { maxLength: 3 })), { minLength: 1, maxLength: 20 }),
    fc.constantFrom(',', ', ', ' ,\n  '),
    fc.nat(400),
    fc.constantFrom(0, 10, 20_000),
  )
  .map(([records, comma, times, length]) => {
    const texts = records.map(
      ([number, fields], at) =>
        `{"id":${number}${fields.map((value, of) => `${comma}"f${of}":${value}`).join('')}` +
        `,"filler":"${'x'.repeat(at === 0 ? length : 1)}"}`,
    );
    const all = Array.from({ length: times }, (_, at) => texts[at % texts.length]);
    return `[${all.join(comma)}]`;
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
      assert.deepEqual(whole.records, JSON.parse(text));
      assert.equal(whole.records.length, values.length);
      const { bytes, isWhole } = whole.end as RecordReader;
      assert.deepEqual([bytes, isWhole], [Buffer.byteLength(text), true]);
      assert.deepEqual(read(inBytes(text)).records, whole.records);
    }),
  );

  holds(
    'has the records of a history, whatever is in them, wherever its chunks end',
    100,
    fc.property(history, places, (text, borders) => {
      const expected = parseJson(text);
      assert.deepEqual(read(split(text, borders)).records, expected);
      const sizes: unknown[] = [];
      assert.deepEqual(read(split(text, []), Infinity, sizes).records, expected);
      // A list of objects in a record looks like records, so that sizes are unknown there.
      if (text === '[]' || text.includes('{"b"')) return;
      const total = sizes.reduce<number>((sum, size) => sum + (size as number), 0);
      assert.equal(total, Buffer.byteLength(text) - 1, 'all but the first bracket');
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

  it('tells how many bytes each record takes, its comma included', () => {
    const bodies = ['plain', 'é€', '},{', '"},{"a', ...Array.from({ length: 2000 }, String)];
    const texts = bodies.map((body) => JSON.stringify({ body }));
    const sizes: unknown[] = [];
    read(split(`[${texts.join(',')}]`, []), Infinity, sizes);
    assert.deepEqual(
      sizes,
      texts.map((text) => Buffer.byteLength(text) + 1),
    );
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
        const expected = outcome(() => {
          const value = parseJson(bytes);
          return Array.isArray(value) ? (JSON.parse(bytes.toString()) as unknown) : value;
        });
        const end = outcome(() => {
          const found = read(split(bytes, borders));
          return found.end instanceof RecordReader ? found.records : found.end;
        });
        assert.deepEqual(end, expected);
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
        assert.deepEqual(records, (JSON.parse(text) as unknown[]).slice(0, most));
        assert.equal((end as RecordReader).isWhole, values.length < most);
        assert.equal((end as RecordReader).records, records.length);
      },
    ),
  );

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

  it('keeps every digit of its numbers of records and devices', () => {
    const [twenty, forty] = ['12345678901234567890', '9'.repeat(40)];
    const text = `[{"id":${twenty}},{"id":${forty},"dev":${twenty}},{"dev":${forty}},7]`;
    const { records } = read(inBytes(text));
    assert.deepEqual(records, [{ id: twenty }, { id: forty, dev: twenty }, { dev: forty }, 7]);
  });

  it('has its first records before the last one has come', () => {
    const { records } = read([Buffer.from(`[${'{"id":1},'.repeat(2000)}`)], 1);
    assert.deepEqual(records, [{ id: 1 }]);
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

  it('may have a record of 20 MiB, and any others before and after it', () => {
    const long = `{"id":2,"body":"${'}'.repeat(20 * MIB)}"}`;
    const many = Array<string>(15_000).fill(`{"id":1,"body":"${'x'.repeat(1000)}"}`);
    const text = Buffer.from(`[${[...many, long, ...many].join(',')}]`);
    const size = 70_000;
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      Buffer.from(text.subarray(at * size, (at + 1) * size)),
    );
    const { records } = read(chunks);
    assert.equal(records.length, 2 * many.length + 1);
    assert.equal((records[many.length] as { body: string }).body.length, 20 * MIB);
  });

  const odd = {
    'names of any kind': { _id: 'x'.repeat(100) },
    'lists of objects': { id: 1, list: Array.from({ length: 10 }, (_, at) => ({ at })) },
  };
  for (const [what, fields] of Object.entries(odd)) {
    it(`may have any number of records with ${what}`, () => {
      const text = Buffer.from(JSON.stringify(Array<object>(300_000).fill(fields)));
      const size = 64 * 1024;
      let most = 0;
      let records = 0;
      const reader = new RecordReader(() => records++);
      for (let at = 0; at < text.length; at += size) {
        const before = records;
        assert.equal(reader.add(Buffer.from(text.subarray(at, at + size))), true);
        most = Math.max(most, records - before);
      }
      assert.equal(reader.end(), reader);
      assert.deepEqual([records, most < 1500], [300_000, true]);
    });
  }

  const overloads = { numbers: '1,', lists: '[],', depth: '[', objects: '{"a":1},' };
  for (const [what, unit] of Object.entries(overloads)) {
    it(`is refused if a long record would stop the event loop with its ${what}`, () => {
      const reader = new RecordReader(() => assert.fail('no record came'));
      reader.add(Buffer.from('[{"a":['));
      for (let count = 0; count < 31; count++) reader.add(Buffer.alloc(MIB, unit));
      assert.throws(() => reader.end(), /a record of more than 100,000 values/);
    });
  }

  it('may begin with 64 KiB of white space, and no more', () => {
    const blank = Buffer.alloc(64 * 1024 - 1, ' ');
    assert.deepEqual(read([blank, Buffer.from('[7]')]).records, [7]);
    assert.throws(() => read([blank, blank, Buffer.from('[7]')]), SyntaxError);
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
    assert.throws(() => void (reader.add(Buffer.from('[1,2]')), reader.end()), /mine/);
  });
});
