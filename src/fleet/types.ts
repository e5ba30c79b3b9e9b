/*
 * How the uploads of a type of devices are decoded. The description is parsed once, into a small program. It imports nothing,
 * since the editor decodes with the same code while one types.
 */

/** What is wrong with a description or with an upload. */
export type DecodeProblemCode = keyof typeof TEXTS;

export interface DecodeProblem {
  code: DecodeProblemCode;
  /** Of a description of bytes: the character at which it is wrong, from 0. */
  at?: number;
  values: Readonly<Record<string, string | number>>;
}

/** In English; the editor says it by `code` and `values`. Each continues a sentence. */
const TEXTS = {
  empty: 'a field is expected',
  kind: '__found__ is no kind of field. There are u8, i8, u16be, u16le, i16be, i16le, u32be, u32le, i32be, i32le, f32be, f32le, f64be, f64le, bit:N, hex:N, text:N and skip:N',
  order: '__found__ needs the order of its bytes: __found__be or __found__le',
  size: '__found__ needs a whole number from __min__ to __max__',
  name: 'a name is expected, of letters, digits and _',
  repeated: 'the name __name__ is there already',
  step: 'a number other than 0 is expected after __found__',
  scaled: '__found__ has no number to calculate with',
  comma: 'a comma is expected between two fields',
  large: 'the fields take more than __max__ bytes',
  separator:
    'the text between pairs and the text between name and value must not be empty, nor the one part of the other',
  short: 'it is too short, with __bytes__ of the __needed__ bytes that the fields take',
  text: 'it is not text',
  equals: 'there is no __equals__ in __part__',
  nameless: 'there is no name in __part__',
  twice: 'the name __name__ is there twice',
  many: 'it has more than __max__ pairs',
} as const;

/** A problem in English, to continue a sentence. */
export const decodeProblemText = ({ code, values }: DecodeProblem): string =>
  TEXTS[code].replace(/__(\w+)__/g, (_, name: string) => {
    const value = values[name];
    return typeof value === 'string' && name !== 'found' ? JSON.stringify(value) : String(value);
  });

/** Thrown for a description that is invalid. */
export class DescriptionError extends Error {
  constructor(readonly problem: DecodeProblem) {
    super(decodeProblemText(problem));
  }
}

/** The fields of an upload, or why it has none. */
export type DecodedFields = { value: Record<string, unknown> } | { problem: DecodeProblem };

/** The text of bytes; undefined if they are not text. */
export type ToText = (bytes: Uint8Array) => string | undefined;

/** Decodes an upload. Never throws. */
export type FieldsDecoder = (bytes: Uint8Array, toText: ToText) => DecodedFields;

/** Sets a field as JSON.parse does: `__proto__` is a name like any other. */
function setField(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') record[name] = value;
  else
    Object.defineProperty(record, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}

const LONGEST_SHOWN = 40;
const shorten = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;

/** Pairs of one upload, at most. */
const MAX_PAIRS = 10_000;

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

/** A decimal number as a number, unless it would lose digits: an integer beyond 2^53 stays text. */
function toValue(text: string): number | string {
  if (!DECIMAL.test(text)) return text;
  const number = Number(text);
  const isExact = text.includes('.') ? Number.isFinite(number) : Number.isSafeInteger(number);
  return isExact ? number : text;
}

/** What is wrong with a pair, if anything. @param at where its name ends */
function pairProblem(
  record: object,
  name: string,
  at: number,
  count: number,
): DecodeProblemCode | undefined {
  if (at < 0) return 'equals';
  if (name === '') return 'nameless';
  if (Object.hasOwn(record, name)) return 'twice';
  return count > MAX_PAIRS ? 'many' : undefined;
}

/** Line ends and tabs are typed as `\n`, `\r` and `\t` into a field of one line. */
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '\\': '\\' };
const unescape = (text: string): string =>
  text.replace(/\\([nrt\\])/g, (_, letter: string) => ESCAPES[letter] as string);

/**
 * Makes the decoder of uploads such as `temperature=21.5; battery=80`. White space around names and values is dropped, and
 * pairs without any text are skipped.
 * @param pairs the text between two pairs
 * @param equals the text between name and value; the first one counts
 * @throws DescriptionError
 */
export function pairsDecoder(pairs: string, equals: string): FieldsDecoder {
  const between = unescape(pairs);
  const sign = unescape(equals);
  if (between === '' || sign === '' || between === sign || sign.includes(between))
    throw new DescriptionError({ code: 'separator', values: {} });
  return (bytes, toText) => {
    const given = toText(bytes);
    if (given === undefined) return { problem: { code: 'text', values: {} } };
    // C ends a text with a NUL, and fills its buffer with them.
    const text = given.includes('\0') ? given.replaceAll('\0', ' ') : given;
    const record: Record<string, unknown> = {};
    for (let from = 0, count = 0; from < text.length;) {
      const found = text.indexOf(between, from);
      const end = found < 0 ? text.length : found;
      const part = text.slice(from, end).trim();
      from = end + between.length;
      if (part === '') continue;
      const at = part.indexOf(sign);
      const name = at < 0 ? '' : part.slice(0, at).trim();
      const code = pairProblem(record, name, at, ++count);
      if (code) {
        const values = { part: shorten(part), equals, name: shorten(name), max: MAX_PAIRS };
        return { problem: { code, values } };
      }
      setField(record, name, toValue(part.slice(at + sign.length).trim()));
    }
    return { value: record };
  };
}

/**
 * All steps of a field, `(value * factor + summand) / divisor`. All three are integers, so that the one division gives the
 * nearest number: step by step, 219 * 0.1 is 21.900000000000002.
 */
interface Scale {
  factor: number;
  summand: number;
  divisor: number;
}

/** An upload while its bytes are read. */
interface Input {
  bytes: Uint8Array;
  view: DataView;
  toText: ToText;
}

/** A field of an upload. Its elements are `size` bytes apart, in a bit field one bit. */
interface Field {
  name: string;
  at: number;
  size: number;
  /** Elements of an array; undefined if it is a value alone. */
  count: number | undefined;
  read: (input: Input, field: Field, index: number) => unknown;
  /** What is done to a number. */
  scale: Scale | undefined;
}

type Numbers = Readonly<Record<string, readonly [number, (view: DataView, at: number) => number]>>;

const NUMBERS: Numbers = {
  u8: [1, (view, at) => view.getUint8(at)],
  i8: [1, (view, at) => view.getInt8(at)],
  u16be: [2, (view, at) => view.getUint16(at)],
  u16le: [2, (view, at) => view.getUint16(at, true)],
  i16be: [2, (view, at) => view.getInt16(at)],
  i16le: [2, (view, at) => view.getInt16(at, true)],
  u32be: [4, (view, at) => view.getUint32(at)],
  u32le: [4, (view, at) => view.getUint32(at, true)],
  i32be: [4, (view, at) => view.getInt32(at)],
  i32le: [4, (view, at) => view.getInt32(at, true)],
  f32be: [4, (view, at) => view.getFloat32(at)],
  f32le: [4, (view, at) => view.getFloat32(at, true)],
  f64be: [8, (view, at) => view.getFloat64(at)],
  f64le: [8, (view, at) => view.getFloat64(at, true)],
};

const divisorOf = (a: bigint, b: bigint): bigint =>
  b === 0n ? (a < 0n ? -a : a) : divisorOf(b, a % b);

const REPLACING = new TextDecoder();

function hexOf({ bytes }: Input, { at, size }: Field, index: number): string {
  let digits = '';
  for (const byte of bytes.subarray(at + index * size, at + (index + 1) * size))
    digits += (256 + byte).toString(16).slice(1);
  return digits;
}

/** Text up to the first NUL, as C writes it. A character that is damaged costs no other field. */
function textOf({ bytes, toText }: Input, { at, size }: Field, index: number): string {
  const all = bytes.subarray(at + index * size, at + (index + 1) * size);
  const end = all.indexOf(0);
  const used = end < 0 ? all : all.subarray(0, end);
  return toText(used) ?? REPLACING.decode(used);
}

/** How a kind with a number N reads. */
const SIZED: Readonly<Record<string, Field['read'] | undefined>> = {
  hex: hexOf,
  text: textOf,
  skip: undefined,
};

/** Bytes that the fields may take, and with them N and the length of an array. */
const MAX_SIZE = 65_535;
/** Bits are counted from the first byte of a run of bit fields. */
const MAX_BIT = 63;

/** A field up to its name, without its steps. Of an array that is malformed, the bracket. */
const HEAD =
  /(?<kind>[a-z]+\d*(?:be|le)?)(?![\p{L}\p{N}_])\s*(?::\s*(?<number>\d+)\s*)?(?<array>\[\s*(?<count>\d+)\s*\]\s*|\[)?(?<name>[\p{L}_][\p{L}\p{M}\p{N}_]*)?\s*/duy;
const STEP = /([/*+-])\s*(\d+(?:\.\d+)?|\.\d+)?\s*/y;
const COMMA = /,\s*/y;

function fail(code: DecodeProblemCode, at: number, values: DecodeProblem['values'] = {}): never {
  throw new DescriptionError({ code, at, values });
}

function failKind(source: string, at: number): never {
  const found = shorten(/^[^\s,]*/.exec(source.slice(at))?.[0] ?? '');
  if (found === '') fail('empty', at);
  return fail(Object.hasOwn(NUMBERS, `${found}be`) ? 'order' : 'kind', at, { found });
}

/** Reads the steps of a field. @returns them, and where they end */
function readSteps(source: string, from: number, kind: string): [Scale | undefined, number] {
  let [factor, summand, divisor] = [1n, 0n, 1n];
  let at = from;
  for (;;) {
    STEP.lastIndex = at;
    const [step, sign = '', digits] = STEP.exec(source) ?? [];
    if (step === undefined) break;
    if (Object.hasOwn(SIZED, kind)) fail('scaled', at, { found: kind });
    const [whole = '', fraction = ''] = (digits ?? '').split('.');
    const amount = BigInt(whole + fraction);
    const tens = 10n ** BigInt(fraction.length);
    const isProduct = sign === '/' || sign === '*';
    if (digits === undefined || !Number.isFinite(Number(digits)) || (isProduct && amount === 0n))
      fail('step', at, { found: sign });
    const [by, per] = sign === '/' ? [tens, amount] : [isProduct ? amount : tens, tens];
    [factor, summand] = [factor * by, summand * by];
    if (!isProduct) summand += divisor * (sign === '-' ? -amount : amount);
    divisor *= per;
    const common = divisorOf(divisorOf(factor, summand), divisor);
    [factor, summand, divisor] = [factor / common, summand / common, divisor / common];
    at += step.length;
  }
  if (at === from) return [undefined, at];
  const scale = { factor: Number(factor), summand: Number(summand), divisor: Number(divisor) };
  return [scale, at];
}

const readBit =
  (first: number): Field['read'] =>
  ({ bytes }, { at }, index) => {
    const bit = first + index;
    return ((bytes[at + (bit >> 3)] as number) >> (bit & 7)) & 1;
  };

/** Reads a description. @returns its fields, and the bytes that they take. @throws DescriptionError */
function readFields(source: string): { fields: Field[]; size: number } {
  const fields: Field[] = [];
  const names = new Set<string>();
  let size = 0;
  /** Where the run of bit fields began that the field before belongs to. */
  let bits: number | undefined;
  let at = source.length - source.trimStart().length;
  for (;;) {
    const start = at;
    HEAD.lastIndex = start;
    const { groups = {}, indices } = HEAD.exec(source) ?? {};
    const { kind = '', number, array, name } = groups;
    const isBit = kind === 'bit';
    const numeric = Object.hasOwn(NUMBERS, kind) ? NUMBERS[kind] : undefined;
    if (!numeric && !isBit && !Object.hasOwn(SIZED, kind)) failKind(source, start);
    if (numeric && number !== undefined) fail('name', source.indexOf(':', start));
    const [min, max] = isBit ? [0, MAX_BIT] : [1, MAX_SIZE];
    const given = Number(number);
    if (!numeric && !(given >= min && given <= max))
      fail('size', start, { found: `${kind}:N`, min, max });
    const count = array === undefined ? undefined : Number(groups['count']);
    const elements = count ?? 1;
    if (!(elements >= 1 && elements <= MAX_SIZE))
      fail('size', indices?.groups?.['array']?.[0] ?? start, {
        found: '[N]',
        min: 1,
        max: MAX_SIZE,
      });
    const bytes = numeric ? numeric[0] : isBit ? 0 : given;
    // Consecutive bit fields share their bytes: bit 0 is the lowest of the first byte, bit 8 the lowest of the second.
    bits = isBit ? (bits ?? size) : undefined;
    const begin = bits ?? size;
    const last = given + elements - 1;
    if (isBit && last > MAX_BIT) fail('size', start, { found: 'bit:N', min, max });
    size = isBit ? Math.max(size, begin + (last >> 3) + 1) : size + bytes * elements;
    if (size > MAX_SIZE) fail('large', start, { max: MAX_SIZE });
    at = HEAD.lastIndex;
    if (kind !== 'skip') {
      if (name === undefined) return fail('name', at);
      if (names.has(name)) fail('repeated', indices?.groups?.['name']?.[0] ?? start, { name });
      names.add(name);
      const read: Field['read'] = numeric
        ? ({ view }, field, index) => numeric[1](view, field.at + index * bytes)
        : (SIZED[kind] ?? readBit(given));
      const [scale, end] = readSteps(source, at, kind);
      fields.push({ name, at: begin, size: bytes, count, read, scale });
      at = end;
    }
    COMMA.lastIndex = at;
    if (!COMMA.test(source)) break;
    at = COMMA.lastIndex;
  }
  if (at < source.length) fail('comma', at);
  return { fields, size };
}

function valueOf(input: Input, field: Field, index: number): unknown {
  const value = field.read(input, field, index);
  const { scale } = field;
  return scale ? ((value as number) * scale.factor + scale.summand) / scale.divisor : value;
}

/** Not with `Array.from`, which takes five times as long. */
function valuesOf(input: Input, field: Field, count: number): unknown[] {
  const values: unknown[] = [];
  for (let index = 0; index < count; index++) values.push(valueOf(input, field, index));
  return values;
}

/**
 * Makes the decoder of uploads that are bytes in a fixed order, such as `i16be temperature / 100, u8 battery`. Bytes that are
 * left over are no error.
 * @throws DescriptionError that says at which character the description is wrong
 */
export function bytesDecoder(description: string): FieldsDecoder {
  const { fields, size } = readFields(description);
  return (bytes, toText) => {
    if (bytes.length < size)
      return { problem: { code: 'short', values: { bytes: bytes.length, needed: size } } };
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const input: Input = { bytes, view, toText };
    const record: Record<string, unknown> = {};
    for (const field of fields) {
      const { count, name } = field;
      const value = count === undefined ? valueOf(input, field, 0) : valuesOf(input, field, count);
      setField(record, name, value);
    }
    return { value: record };
  };
}
