import { MAX_ANSWER } from '../../src/http/exchange';

/** The content of an answer that is as long as an answer may be. */
export interface Content {
  name: string;
  make: () => Buffer;
}

/** @param unit is repeated between what the text begins and ends with */
function fill(unit: string, begin: string, end: string): Buffer {
  const room = MAX_ANSWER - begin.length - end.length;
  const middle = Buffer.alloc(room - (room % Buffer.byteLength(unit)), unit);
  return Buffer.concat([Buffer.from(begin), middle, Buffer.from(end)]);
}

const content = (name: string, unit: string, begin = '[', end = '1]'): Content => ({
  name,
  make: () => fill(unit, begin, end),
});

const LONG = '12345678901234567890';
const RECORD =
  `{"body":"t=21.5","recv_time":"2026-01-01 00:00:00","app":"greenhouse","chipid":${LONG},` +
  '"create_time":"2026-01-01 00:00:00","id":12345},';
/** The shortest record of an upload (section 2.3). */
const SHORTEST = '{"body":"","app":"","create_time":"2026-01-01 00:00:00","id":1,"dev":"1"},';

/** A record with millions of numbers, then an integer that a number cannot hold. */
export const ONES = content('ones', '1,', '[{"x":[', `1],"id":${LONG}}]`);
export const EMPTY_STRINGS = content('empty strings', '"",');
export const ONE_LONG_INTEGER = content('one long integer', '1', '', '1');
export const LONG_INTEGERS = content('long integers', `${LONG},`);
export const RECORDS = content('records with long integers', RECORD, '[', '{}]');
export const SHORT_RECORDS = content('the shortest records', SHORTEST, '[', '{}]');
export const ESCAPES = content('escaped quotes', '\\"', '["', '"]');
export const INDENTED = content('indented ones', '\n    1,');
export const LINE_ENDS = content('line ends', '\r\n', '', '1');
export const QUOTES = content('quotes', '"', '', '');
/* Invalid from the second value on, where the bare parser stops: whatever is read beyond it is wasted. */
export const ONES_ALONE = content('ones without commas', '1 ', '[');
export const EMPTY_STRINGS_ALONE = content('empty strings without commas', '"" ', '[');
export const STRINGS_ALONE = content('strings without commas', '"a"', '[');
export const STRINGS_APART = content('strings with spaces between them', '"a" ', '[');
export const HTML = content('HTML', '<p class="a">text</p>\n', '<!doctype html>\n', '</html>');
export const EMPTY_OBJECTS = content('empty objects', '{},');
export const FIELDS = content('fields of one object', '"a":1,', '{', '"b":1}');
export const BRACKETS = content('opening brackets', '[', '[', '[');
