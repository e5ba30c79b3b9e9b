const MAX = 60;

/** Control characters, line ends and lone surrogates: what could garble or forge a log line. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;

/** Text from outside as it may stand in one line of a log: no control characters, cut when long. */
export function oneLine(text: string, max: number): string {
  const clean = text.slice(0, max).replace(UNPRINTABLE, '�');
  return text.length > max ? `${clean}…` : clean;
}

/** Shows a value from outside in an error: short, on one line, whatever it is. */
export function show(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value === '' ? 'empty' : `"${oneLine(value, MAX)}"`;
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value);
    case 'bigint':
      return oneLine(`${value}n`, MAX);
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return 'an array';
      if (Buffer.isBuffer(value)) return 'a Buffer';
      return value instanceof Date ? 'a Date' : 'an object';
    default:
      return `a ${typeof value}`;
  }
}
