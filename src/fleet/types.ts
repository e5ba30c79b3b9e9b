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

class DescriptionParser {
  readonly fields: Field[] = [];
  /** Bytes that the fields before take. */
  size = 0;
  #at = 0;
  /** Where the field begins in the description. */
  #start = 0;
  /** Where the run of bit fields began that the field before belongs to. */
  #bits: number | undefined;
  readonly #names = new Set<string>();
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): void {
    this.#take(/\s*/y);
    do this.#field();
    while (this.#take(/,\s*/y) !== undefined);
    if (this.#at < this.#source.length) this.#fail('comma');
  }

  /** Takes what a sticky pattern matches here, and white space behind it. */
  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#source) ?? [];
    if (found === undefined) return undefined;
    this.#at += found.length;
    const space = /\s*/y;
    space.lastIndex = this.#at;
    this.#at += space.exec(this.#source)?.[0].length ?? 0;
    return found;
  }

  #fail(code: DecodeProblemCode, at = this.#at, values: DecodeProblem['values'] = {}): never {
    throw new DescriptionError({ code, at, values });
  }

  #field(): void {
    this.#start = this.#at;
    const kind = this.#take(/[a-z]+\d*(?:be|le)?(?![\p{L}\p{N}_])/uy) ?? '';
    const number = Object.hasOwn(NUMBERS, kind) ? NUMBERS[kind] : undefined;
    if (kind === 'bit') this.#bitField();
    else if (number) {
      const [size, read] = number;
      this.#add(kind, size, ({ view }, field, index) => read(view, field.at + index * size));
    } else if (Object.hasOwn(SIZED, kind)) this.#add(kind, this.#number(kind, 1), SIZED[kind]);
    else {
      const found = shorten(/^[^\s,]*/.exec(this.#source.slice(this.#start))?.[0] ?? '');
      if (found === '') this.#fail('empty');
      this.#fail(Object.hasOwn(NUMBERS, `${found}be`) ? 'order' : 'kind', this.#start, { found });
    }
  }

  /** Consecutive bit fields share their bytes: bit 0 is the lowest of the first byte, bit 8 the lowest of the second. */
  #bitField(): void {
    const first = this.#number('bit', 0);
    this.#bits ??= this.size;
    const begin = this.#bits;
    const before = this.size;
    this.size = begin;
    const count = this.#add('bit', 0, ({ bytes }, { at }, index) => {
      const bit = first + index;
      return ((bytes[at + (bit >> 3)] as number) >> (bit & 7)) & 1;
    });
    const last = first + count - 1;
    if (last > MAX_BIT) this.#fail('size', this.#start, { found: 'bit:N', min: 0, max: MAX_BIT });
    this.size = Math.max(before, begin + (last >> 3) + 1);
    this.#bits = begin;
  }

  /** `:N` after a kind. */
  #number(kind: string, min: number): number {
    const max = kind === 'bit' ? MAX_BIT : MAX_SIZE;
    const digits = this.#take(/:\s*\d+/y)?.replace(/\D+/, '');
    const number = Number(digits ?? NaN);
    if (!(number >= min && number <= max))
      this.#fail('size', this.#start, { found: `${kind}:N`, min, max });
    return number;
  }

  /** Reads the rest of a field. @returns how many elements it has */
  #add(kind: string, size: number, read: Field['read'] | undefined): number {
    const start = this.#at;
    const array = this.#take(/\[\s*\d+\s*\]/y);
    const count = array === undefined ? undefined : Number(array.slice(1, -1));
    if (count === undefined ? this.#take(/\[/y) !== undefined : count < 1 || count > MAX_SIZE)
      this.#fail('size', start, { found: '[N]', min: 1, max: MAX_SIZE });
    const at = this.size;
    this.size += size * (count ?? 1);
    if (this.size > MAX_SIZE) this.#fail('large', this.#start, { max: MAX_SIZE });
    if (kind !== 'bit') this.#bits = undefined;
    const named = this.#at;
    const name = this.#take(/[\p{L}_][\p{L}\p{M}\p{N}_]*/uy);
    if (!read) return 1;
    if (name === undefined) this.#fail('name');
    if (this.#names.has(name)) this.#fail('repeated', named, { name });
    this.#names.add(name);
    this.fields.push({ name, at, size, count, read, scale: this.#scale(kind) });
    return count ?? 1;
  }

  #scale(kind: string): Scale | undefined {
    let factor = 1n;
    let summand = 0n;
    let divisor = 1n;
    let isScaled = false;
    for (;;) {
      const start = this.#at;
      const sign = this.#take(/[/*+-]/y);
      if (sign === undefined) break;
      if (Object.hasOwn(SIZED, kind)) this.#fail('scaled', start, { found: kind });
      const digits = this.#take(/\d+(?:\.\d+)?|\.\d+/y) ?? '';
      const [whole = '', fraction = ''] = digits.split('.');
      const amount = BigInt(whole + fraction);
      const tens = 10n ** BigInt(fraction.length);
      const isProduct = sign === '/' || sign === '*';
      const isUsable = digits !== '' && Number.isFinite(Number(digits));
      if (!isUsable || (isProduct && amount === 0n)) this.#fail('step', start, { found: sign });
      isScaled = true;
      const [by, per] = sign === '/' ? [tens, amount] : [isProduct ? amount : tens, tens];
      [factor, summand] = [factor * by, summand * by];
      if (!isProduct) summand += divisor * (sign === '-' ? -amount : amount);
      divisor *= per;
      const common = divisorOf(divisorOf(factor, summand), divisor);
      [factor, summand, divisor] = [factor / common, summand / common, divisor / common];
    }
    if (!isScaled) return undefined;
    return { factor: Number(factor), summand: Number(summand), divisor: Number(divisor) };
  }
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
  const parser = new DescriptionParser(description);
  parser.parse();
  const { fields, size } = parser;
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
