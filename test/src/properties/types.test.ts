import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  bytesDecoder,
  DescriptionError,
  pairsDecoder,
  type FieldsDecoder,
} from '../../../src/fleet/types';
import { uploadText } from '../../../src/util/decode';
import { anyText, holds, textOf } from '../support/fuzz';

const toText = (bytes: Uint8Array): string | undefined => uploadText(Buffer.from(bytes), 'utf-8');

const valueOf = (decoder: FieldsDecoder, bytes: Uint8Array): unknown => {
  const decoded = decoder(bytes, toText);
  return 'value' in decoded ? decoded.value : undefined;
};

/** A field by its parts, from which both its description and its value are made. */
interface Field {
  kind: 'u' | 'i' | 'f' | 'hex' | 'text' | 'skip' | 'bit';
  /** Bytes of an element, or the number of the first bit. */
  n: number;
  isLittle: boolean;
  count: number | undefined;
  step: readonly ['/' | '*' | '+' | '-', number] | undefined;
}

const field: fc.Arbitrary<Field> = fc
  .record({
    kind: fc.constantFrom('u', 'i', 'f', 'hex', 'text', 'skip', 'bit') as fc.Arbitrary<
      Field['kind']
    >,
    n: fc.nat(4),
    isLittle: fc.boolean(),
    count: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    step: fc.option(
      fc.tuple(
        fc.constantFrom('/', '*', '+', '-') as fc.Arbitrary<'/' | '*' | '+' | '-'>,
        fc.constantFrom(0.5, 1, 2, 10, 100, 0.1),
      ),
      { nil: undefined },
    ),
  })
  .map((found) => {
    const sizes = { u: [1, 2, 4], i: [1, 2, 4], f: [4, 8] } as const;
    const { kind } = found;
    if (kind === 'bit') return { ...found, n: found.n * 4 };
    if (kind === 'hex' || kind === 'text' || kind === 'skip') return { ...found, n: found.n + 1 };
    return { ...found, n: sizes[kind][found.n % sizes[kind].length] as number };
  });

const isNumber = ({ kind }: Field): boolean => ['u', 'i', 'f', 'bit'].includes(kind);

function describeField(
  { kind, n, isLittle, count, step }: Field,
  name: string,
  space: string,
): string {
  const isSized = ['hex', 'text', 'skip', 'bit'].includes(kind);
  const order = isSized || n === 1 ? '' : isLittle ? 'le' : 'be';
  const array = count === undefined ? '' : `[${count}]`;
  const last = step && isNumber({ kind } as Field) ? `${space}${step[0]}${space}${step[1]}` : '';
  return `${kind}${isSized ? `:${n}` : n * 8}${order}${space}${array} ${name}${last}`;
}

/** Reads an element by way of its digits in base 2. */
function read(upload: readonly number[], { kind, n, isLittle }: Field): unknown {
  if (kind === 'hex') return upload.map((byte) => (byte + 256).toString(16).slice(1)).join('');
  if (kind === 'text') {
    const text = String.fromCharCode(...upload).split('\0')[0] ?? '';
    return Buffer.from(text, 'latin1').toString('utf8');
  }
  const digits = (isLittle ? upload.toReversed() : [...upload])
    .map((byte) => (byte + 256).toString(2).slice(1))
    .join('');
  if (kind === 'f') {
    const bytes = Buffer.from((digits.match(/.{8}/g) ?? []).map((each) => parseInt(each, 2)));
    return n === 4 ? bytes.readFloatBE() : bytes.readDoubleBE();
  }
  const number = parseInt(digits, 2);
  return kind === 'i' && digits.startsWith('1') ? number - 2 ** digits.length : number;
}

function scale(value: unknown, { step }: Field): unknown {
  if (!step || typeof value !== 'number') return value;
  const [sign, by] = step;
  if (sign === '/') return value / by;
  if (sign === '*') return value * by;
  return sign === '+' ? value + by : value - by;
}

/** Reads field after field and takes the bytes away. Undefined if there are too few of them. */
function readAll(fields: readonly Field[], upload: readonly number[]): object | undefined {
  const left = [...upload];
  const value: Record<string, unknown> = {};
  for (let index = 0; index < fields.length; index++) {
    const first = fields[index] as Field;
    if (first.kind === 'bit') {
      const run = [];
      while (fields[index]?.kind === 'bit') run.push([index, fields[index++] as Field] as const);
      index--;
      const last = Math.max(...run.map(([, { n, count = 1 }]) => n + count - 1));
      const bytes = left.splice(0, Math.floor(last / 8) + 1);
      if (bytes.length <= Math.floor(last / 8)) return undefined;
      const bits = bytes.flatMap((byte) => [...(byte + 256).toString(2).slice(1)].reverse());
      for (const [at, bit] of run) {
        const all = bits
          .slice(bit.n, bit.n + (bit.count ?? 1))
          .map((digit) => scale(Number(digit), bit));
        value[`f${at}`] = bit.count === undefined ? all[0] : all;
      }
      continue;
    }
    const elements = Array.from({ length: first.count ?? 1 }, () => left.splice(0, first.n));
    if (elements.some(({ length }) => length < first.n)) return undefined;
    if (first.kind === 'skip') continue;
    const all = elements.map((element) => scale(read(element, first), first));
    value[`f${index}`] = first.count === undefined ? all[0] : all;
  }
  return value;
}

/** What the grammar is made of, in any order. */
const gibberish = fc
  .array(
    fc.constantFrom(
      ...[
        'u8',
        'i16be',
        'u16',
        'bit:3',
        'hex:2',
        'text:4',
        'skip:1',
        'hex:',
        '[2]',
        '[',
        ']',
        '[0]',
      ],
      ...[' ', ',', '\n', 'a', 'b', '__proto__', '/', '*', '+', '-', '10', '0', '.5', '1e5', '温'],
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

describe('uploads of types, read in two ways', () => {
  const uploads = fc.array(fc.nat(255), { maxLength: 60 });

  holds(
    'as bytes, are the fields that the description has',
    2000,
    fc.property(
      fc.array(field, { minLength: 1, maxLength: 8 }),
      uploads,
      fc.constantFrom('', ' ', '\n\t'),
      (fields, upload, space) => {
        const description = fields
          .map((each, index) => describeField(each, `f${index}`, space))
          .join(`${space},${space}`);
        const found = valueOf(bytesDecoder(description), Uint8Array.from(upload));
        assert.deepEqual(found, readAll(fields, upload), description);
      },
    ),
  );

  holds(
    'as bytes, never throw, and a wrong description says where',
    2000,
    fc.property(fc.oneof(gibberish, anyText), uploads, (description, upload) => {
      try {
        bytesDecoder(description)(Uint8Array.from(upload), toText);
      } catch (error) {
        assert.ok(error instanceof DescriptionError);
        const at = error.problem.at ?? -1;
        assert.ok(at >= 0 && at <= description.length, `${description}: ${at}`);
      }
    }),
  );

  const word = textOf('aZ09_.-+ 温é__proto__', { minLength: 1 }).filter(
    (text) => text.trim() !== '',
  );
  const spaces = fc.constantFrom('', ' ', '\t ', '\r\n');

  holds(
    'as pairs, are the names and values that were written',
    1000,
    fc.property(
      fc.uniqueArray(fc.tuple(word, word, spaces), {
        selector: ([name]) => name.trim(),
        maxLength: 6,
      }),
      fc.constantFrom(['=', ';'], [':', ','], ['=>', '||']),
      (written, [equals = '', between = '']) => {
        const text = written
          .map(([name, value, space]) => `${space}${name}${space}${equals}${value}${space}`)
          .join(between);
        const entries = Object.entries(
          valueOf(pairsDecoder(between, equals), Buffer.from(text)) as object,
        );
        // Names that are numbers come first in any object.
        const byName = new Map<string, unknown>(entries);
        assert.equal(byName.size, written.length);
        for (const [name, value] of written) {
          const found = byName.get(name.trim());
          if (typeof found === 'string') assert.equal(found, value.trim());
          else assert.equal(found, Number(value));
        }
      },
    ),
  );

  holds(
    'as pairs, never throw',
    1000,
    fc.property(anyText, anyText, anyText, (text, between, equals) => {
      try {
        const decoded = pairsDecoder(between, equals)(Buffer.from(text), toText);
        assert.ok('value' in decoded || 'problem' in decoded);
      } catch (error) {
        assert.ok(error instanceof DescriptionError);
      }
    }),
  );
});
