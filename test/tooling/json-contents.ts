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
/** A record with millions of numbers, then an integer that a number cannot hold. */
export const ONES = content('ones', '1,', '[{"x":[', `1],"id":${LONG}}]`);
export const ONE_LONG_INTEGER = content('one long integer', '1', '', '1');
export const HTML = content('HTML', '<p class="a">text</p>\n', '<!doctype html>\n', '</html>');
export const EMPTY_OBJECTS = content('empty objects', '{},');
export const FIELDS = content('fields of one object', '"a":1,', '{', '"b":1}');
export const BRACKETS = content('opening brackets', '[', '[', '[');
