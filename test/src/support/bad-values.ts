/** What is no chip number. */
export const BAD_CHIPIDS: readonly [what: string, value: unknown][] = [
  ['a way up the path', '../x'],
  ['an encoded slash', '%2f'],
  ['a fraction', 1.5],
  ['a fraction as text', '1.5'],
  ['negative', -1],
  ['negative as text', '-1'],
  ['empty', ''],
  ['null', null],
  ['undefined', undefined],
  ['NaN', NaN],
  ['infinite', Infinity],
  ['beyond the safe integers', 2 ** 53],
  ['of 21 digits', '1'.repeat(21)],
  ['of 40 digits', '1'.repeat(40)],
  ['with spaces', ' 1 '],
  ['two words', 'a b'],
  ['with a line end', '1\r\nX: y'],
  ['ending in a line end', '1\n'],
  ['with a query', '1?a=b'],
  ['with an exponent', '1e3'],
  ['hexadecimal', '0x10'],
  ['of digits of another script', '１２３'],
  ['__proto__', '__proto__'],
  ['true', true],
  ['a BigInt', 1n],
  ['an array', [10000001]],
  ['an object', { chipid: 1 }],
  ['an object that pretends', { toString: () => '10000001' }],
  ['a symbol', Symbol('1')],
  ['a function', () => 1],
];

/** What is no pin. */
export const BAD_PINS: readonly [what: string, value: unknown][] = [
  ['negative', -1],
  ['NaN', NaN],
  ['infinite', Infinity],
  ['a fraction', 1.5],
  ['a fraction as text', '1.5'],
  ['with an exponent', '1e9'],
  ['empty', ''],
  ['true', true],
  ['null', null],
  ['undefined', undefined],
  ['a way up the path', '../0'],
  ['with a line end', '1\n'],
  ['an array', [5]],
];

/** What is no level. */
export const BAD_LEVELS: readonly [what: string, value: unknown][] = [
  ['2', 2],
  ['-1', -1],
  ['0.5', 0.5],
  ['NaN', NaN],
  ['"2"', '2'],
  ['"true"', 'true'],
  ['empty', ''],
  ['null', null],
  ['undefined', undefined],
  ['an object', {}],
  ['an array', [1]],
];

const circular: Record<string, unknown> = {};
circular['self'] = circular;

/** What no push can carry as text. */
export const BAD_MESSAGES: readonly [what: string, value: unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['a function', () => 1],
  ['a symbol', Symbol('x')],
  ['NaN', NaN],
  ['infinite', -Infinity],
  ['a BigInt', 1n],
  ['a circular object', circular],
  ['an object with a BigInt', { a: 1n }],
  ['an object whose JSON is nothing', { toJSON: () => undefined }],
  ['an object whose JSON fails', { toJSON: () => JSON.parse('{') as unknown }],
  ['half a surrogate pair', 'a\ud800b'],
  ['the other half', '\udc00'],
  ['a Buffer that is not UTF-8', Buffer.from([0xc3, 0x28])],
];

/** What is no body of the server API. */
export const BAD_BODIES: readonly [what: string, value: unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['text', '{"a":1}'],
  ['a number', 1],
  ['an array', [1]],
  ['a Buffer', Buffer.from('{}')],
  ['bytes', new Uint8Array(2)],
  ['a Date', new Date()],
  ['a Map', new Map([['a', 1]])],
  ['boxed text', Object('x') as unknown],
  ['circular', circular],
  ['with a BigInt', { a: 1n }],
  ['without JSON', { toJSON: () => undefined }],
  ['an object whose JSON is text', { toJSON: () => 'x' }],
];

/** What is no query. */
export const BAD_QUERIES: readonly [what: string, value: unknown][] = [
  ['text', 'page=1'],
  ['a number', 1],
  ['an array', [1]],
  ['a Buffer', Buffer.from('page=1')],
  ['a Date', new Date()],
  ['nested', { a: { b: 1 } }],
  ['with a list', { a: [1] }],
  ['with null', { a: null }],
  ['with undefined', { a: undefined }],
  ['with NaN', { a: NaN }],
  ['with half a surrogate pair', { a: '\ud800' }],
  ['with half a surrogate pair in a name', { '\ud800': 1 }],
];

/** What is no id of the server API. */
export const BAD_DEVICEIDS: readonly [what: string, value: unknown][] = [
  ['empty', ''],
  ['null', null],
  ['undefined', undefined],
  ['the folder above', '..'],
  ['a way up the path', '../x'],
  ['with a slash', 'a/b'],
  ['an encoded slash', '%2f'],
  ['with a query', 'a?b'],
  ['with a space', 'a b'],
  ['with a line end', 'a\r\nb'],
  ['with an umlaut', 'ä'],
  ['of 65 characters', 'a'.repeat(65)],
  ['a fraction', 1.5],
  ['beyond the safe integers', 2 ** 53],
  ['an object', {}],
];
