/** What is no chip number (contract: a safe integer or a string of at most 20 ASCII digits). */
export const BAD_CHIPIDS: readonly unknown[] = [
  ...[undefined, null, '', true, false, {}, [], [10000001], { id: 1 }, new Date(0), () => 1],
  ...[-1, 1.5, NaN, Infinity, -Infinity, 2 ** 53, 1e21, 10000001n, Symbol('10000001')],
  ...['-1', '+1', '1.5', '1e9', '0x10', ' 1', '1 ', 'a b', 'abc', '1,2', '10000001/', '..'],
  ...['../x', '%2f', '%2F..', '10000001%00', '10000001\u0000', '10000001\r\nX-Header: 1'],
  ...['9'.repeat(21), '9'.repeat(40), '__proto__', 'constructor', '１２３', '١٢', '😀', '\ud800'],
];

interface Circular {
  self?: Circular;
}

/** An object that contains itself. */
export function circular(): Circular {
  const object: Circular = {};
  object.self = object;
  return object;
}
