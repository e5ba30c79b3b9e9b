import assert from 'node:assert/strict';
import {
  bytesDecoder,
  decodeProblemText,
  DescriptionError,
  pairsDecoder,
  type DecodeProblem,
  type FieldsDecoder,
} from '../../../src/fleet/types';
import { uploadText } from '../../../src/util/decode';

const toText = (bytes: Uint8Array): string | undefined => uploadText(Buffer.from(bytes), 'utf-8');

const decode = (decoder: FieldsDecoder, bytes: Buffer | string): unknown => {
  const found = decoder(Buffer.from(bytes as string), toText);
  return 'value' in found ? found.value : decodeProblemText(found.problem);
};

const pairs = (text: Buffer | string, ...separators: [string, string] | []): unknown =>
  decode(
    pairsDecoder(...((separators.length === 0 ? [';', '='] : separators) as [string, string])),
    text,
  );

const bytes = (description: string, hex: string): unknown =>
  decode(bytesDecoder(description), Buffer.from(hex.replaceAll(' ', ''), 'hex'));

function problemOf(make: () => unknown): DecodeProblem {
  try {
    make();
  } catch (error) {
    if (error instanceof DescriptionError) return error.problem;
    throw error;
  }
  return assert.fail('the description was accepted');
}

describe('pairs', () => {
  it('become fields; white space around names and values is dropped, and so is what is blank', () => {
    assert.deepEqual(pairs(' temperature = 21.5 ;battery=80;; door = half open;\r\n'), {
      ...{ temperature: 21.5, battery: 80, door: 'half open' },
    });
    assert.deepEqual(pairs(''), {});
    assert.deepEqual(pairs('a=;b= '), { a: '', b: '' });
    assert.deepEqual(pairs('温度=21'), { 温度: 21 });
    assert.deepEqual(pairs('url=a=b'), { url: 'a=b' });
  });

  it('have other separators, line ends included', () => {
    assert.deepEqual(pairs('t: 1\r\nh: 2\r\n', '\\n', ':'), { t: 1, h: 2 });
    assert.deepEqual(pairs('t 1|h  2', '|', ' '), { t: 1, h: 2 });
    assert.deepEqual(pairs('t=>1, h=>2', ',', '=>'), { t: 1, h: 2 });
    assert.deepEqual(pairs('a\\b', ';', '\\\\'), { a: 'b' });
  });

  it('have numbers where they are decimal and lose no digit', () => {
    const numbers = { '1': 1, '-1.50': -1.5, '+2': 2, '007': 7, '.5': 0.5, '5.': 5 };
    for (const [text, number] of Object.entries(numbers))
      assert.deepEqual(pairs(`n= ${text} `), { n: number });
    const exact = '9007199254740991';
    assert.deepEqual(pairs(`n=${exact}`), { n: Number(exact) });
    const texts = ['1e5', '0x10', '1,5', '1 000', '-', '.', 'NaN', 'Infinity', '9007199254740993'];
    for (const text of [...texts, '１', '9'.repeat(400) + '.5'])
      assert.deepEqual(pairs(`n=${text}`), { n: text });
  });

  it('cannot be decoded if one is no pair, a name is there twice, or the bytes are not text', () => {
    assert.equal(pairs('a=1;OK'), 'there is no "=" in "OK"');
    assert.equal(pairs('=1'), 'there is no name in "=1"');
    assert.equal(pairs('a=1;a=1'), 'the name "a" is there twice');
    assert.equal(pairs(Buffer.from([0x61, 0x3d, 0xff])), 'it is not text');
    const many = Array.from({ length: 10_001 }, (_, index) => `f${index}=1`).join(';');
    assert.equal(pairs(many), 'it has more than 10000 pairs');
  });

  it('have names of any kind: none changes what an object is', () => {
    const value = pairs('__proto__=1;constructor=2;toString=3') as object;
    assert.deepEqual(Object.entries(value), [
      ['__proto__', 1],
      ['constructor', 2],
      ['toString', 3],
    ]);
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal(pairs('__proto__=1;__proto__=2'), 'the name "__proto__" is there twice');
  });

  it('end in time, however the text is made', () => {
    const digits = '1'.repeat(2_000_000);
    assert.deepEqual(pairs(`n=${digits}x`), { n: `${digits}x` });
  });

  it('need two separators that can be distinguished', () => {
    for (const [between, sign] of [
      ['', '='],
      [';', ''],
      ['=', '='],
      [':', '::'],
    ] as const)
      assert.equal(problemOf(() => pairsDecoder(between, sign)).code, 'separator');
    assert.deepEqual(pairs('a=1&=b=2', '&=', '='), { a: 1, b: 2 });
  });
});

describe('bytes', () => {
  it('become numbers of each kind', () => {
    assert.deepEqual(
      bytes('u8 a, i8 b, u16be c, u16le d, i16be e, i16le f', 'ff ff 0102 0102 fffe feff'),
      {
        ...{ a: 255, b: -1, c: 258, d: 513, e: -2, f: -2 },
      },
    );
    assert.deepEqual(
      bytes('u32be a, u32le b, i32be c, i32le d', 'ffffffff 01000000 ffffffff feffffff'),
      {
        ...{ a: 4_294_967_295, b: 1, c: -1, d: -2 },
      },
    );
    assert.deepEqual(
      bytes(
        'f32be a, f32le b, f64be c, f64le d',
        '3fc00000 0000c03f 3ff8000000000000 000000000000f83f',
      ),
      { a: 1.5, b: 1.5, c: 1.5, d: 1.5 },
    );
  });

  it('are scaled from left to right', () => {
    assert.deepEqual(bytes('i16be temperature / 100, u8 battery', '0866 50'), {
      ...{ temperature: 21.5, battery: 80 },
    });
    assert.deepEqual(bytes('u8 t / 2 - 40 * .5 + 1', '64'), { t: 6 });
    // As decimal fractions, not as binary ones.
    for (const [steps, value] of [
      ['/ 10', 21.9],
      ['* 0.1', 21.9],
      ['/ 0.1', 2190],
      ['* 0.001', 0.219],
      ['/ 10 - 21.8', 0.1],
      ['/ 10 + 0.1 + 0.2', 22.2],
      ['/ 3', 73],
      ['/ 7', 219 / 7],
    ] as const)
      assert.deepEqual(bytes(`u8 t ${steps}`, 'db'), { t: value }, steps);
    assert.deepEqual(bytes('u32be t * 1000000', 'ffffffff'), { t: 4294967295000000 });
    assert.deepEqual(bytes('u8[3] t/10-40', '64 c8 00'), { t: [-30, -20, -40] });
  });

  it('become text, hexadecimal digits, arrays, and nothing', () => {
    assert.deepEqual(bytes('text:4 name, hex:3 id, skip:2, u8 last', '50756d70 0a0b0c ffff 07'), {
      ...{ name: 'Pump', id: '0a0b0c', last: 7 },
    });
    assert.deepEqual(bytes('skip:1 reserved, hex:1[2] ids, text:2[2] t', '00 aabb 41004243'), {
      ...{ ids: ['aa', 'bb'], t: ['A', 'BC'] },
    });
    assert.deepEqual(bytes('text:3 damaged, u8 after', '41ff42 01'), { damaged: 'A�B', after: 1 });
  });

  it('have bits, which share bytes as long as they follow one another', () => {
    const flags = 'bit:0 door, bit:7 alarm, bit:1 motor';
    assert.deepEqual(bytes(`${flags}, u8 after`, '81 09'), {
      door: 1,
      alarm: 1,
      motor: 0,
      after: 9,
    });
    assert.deepEqual(bytes('bit:0 a, bit:9 b, u8 after', '01 02 07'), { a: 1, b: 1, after: 7 });
    assert.deepEqual(bytes('bit:9 b, bit:0 a, u8 after', '01 02 07'), { b: 1, a: 1, after: 7 });
    assert.deepEqual(bytes('bit:0 a, skip:1, bit:0 b', '01 ff 01'), { a: 1, b: 1 });
    assert.deepEqual(bytes('bit:4[8] nibbles', 'f0 0f'), { nibbles: [1, 1, 1, 1, 1, 1, 1, 1] });
    assert.deepEqual(bytes('bit:3 a * 10', '08'), { a: 10 });
  });

  it('may be more than the fields take, and not fewer', () => {
    assert.deepEqual(bytes('u8 a', '01 02 03'), { a: 1 });
    assert.equal(
      bytes('u16be a, u8 b', '01 02'),
      'it is too short, with 2 of the 3 bytes that the fields take',
    );
    assert.equal(
      bytes('bit:0 a, bit:8 b', '01'),
      'it is too short, with 1 of the 2 bytes that the fields take',
    );
    assert.equal(bytes('u8 a', ''), 'it is too short, with 0 of the 1 bytes that the fields take');
  });

  it('may begin anywhere in the memory of a Buffer', () => {
    const decoder = bytesDecoder('u16be a, hex:1 b');
    const part = Buffer.from('ffff0102aaff', 'hex').subarray(2, 5);
    assert.deepEqual(decode(decoder, part), { a: 258, b: 'aa' });
    assert.deepEqual(decoder(part, toText), { value: { a: 258, b: 'aa' } });
  });

  it('are described in white space of any kind, with names of any language', () => {
    assert.deepEqual(bytes('\n u8   温度\t/ 10 ,\n  u8[ 2 ] _x1 , bit : 0 z\n', '0a 01 02 01'), {
      ...{ 温度: 1, _x1: [1, 2], z: 1 },
    });
    const value = bytes('u8 __proto__', '05') as object;
    assert.deepEqual(Object.entries(value), [['__proto__', 5]]);
  });

  it('are refused at the place where the description is wrong', () => {
    const wrong: readonly (readonly [string, DecodeProblem['code'], number])[] = [
      ['', 'empty', 0],
      ['u8 a,', 'empty', 5],
      ['u8 a,, u8 b', 'empty', 5],
      ['u9 a', 'kind', 0],
      ['toString a', 'kind', 0],
      ['u8 a, u16 b', 'order', 6],
      ['u8be a', 'kind', 0],
      ['u8 1st', 'name', 3],
      ['u8 a, u8 a', 'repeated', 9],
      ['u8 a b', 'comma', 5],
      ['u8 a / 0', 'step', 5],
      ['u8 a / x', 'step', 5],
      ['u8 a / -2', 'step', 5],
      ['u8 a * 1e5', 'comma', 8],
      ['hex:2 a / 2', 'scaled', 8],
      ['hex a', 'size', 0],
      ['hex:0 a', 'size', 0],
      ['text:70000 a', 'size', 0],
      ['bit:64 a', 'size', 0],
      ['bit:60[8] a', 'size', 0],
      ['u8[0] a', 'size', 2],
      ['u8[] a', 'size', 2],
      ['u8[70000] a', 'size', 2],
      ['u32be[20000] a', 'large', 0],
      ['skip:65535, u8 a', 'large', 12],
      ['u8 a, skip:2 / 2', 'comma', 13],
    ];
    for (const [description, code, at] of wrong) {
      const problem = problemOf(() => bytesDecoder(description));
      assert.deepEqual([problem.code, problem.at], [code, at], description);
      assert.doesNotMatch(decodeProblemText(problem), /__|undefined/, description);
    }
  });
});
