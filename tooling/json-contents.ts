import { MAX_ANSWER } from '../../../src/http/exchange';

/** Contents of an answer as long as an answer may be. */
export interface Content {
  make: () => Buffer;
  /** What is said of it if it is not parsed, else it is. */
  refused?: RegExp;
}

const LONG = '12345678901234567890';

/** @param unit is repeated between what the text begins and ends with */
const fill = (unit: string, begin = '[', end = '1]'): Buffer => {
  const room = MAX_ANSWER - begin.length - end.length;
  const middle = Buffer.alloc(room - (room % Buffer.byteLength(unit)), unit);
  return Buffer.concat([Buffer.from(begin), middle, Buffer.from(end)]);
};

const RECORD =
  `{"body":"t=21.5","recv_time":"2026-01-01 00:00:00","app":"greenhouse","chipid":${LONG},` +
  '"create_time":"2026-01-01 00:00:00","id":12345},';
/** The shortest record of an upload (section 2.3). */
const SHORTEST = '{"body":"","app":"","create_time":"2026-01-01 00:00:00","id":1,"dev":"1"},';

const deep = /nested deeper than 100 levels/;
const many = /more than 1,000,000 arrays and objects, or 5,000,000 fields/;

export const CONTENTS: Readonly<Record<string, Content>> = {
  ones: { make: () => fill('1,') },
  'ones and one long integer': { make: () => fill('1,', '[', `${LONG}]`) },
  'ones in a record with a long integer': {
    make: () => fill('1,', '[{"x":[', `1],"id":${LONG}}]`),
  },
  'empty strings': { make: () => fill('"",') },
  'one long integer': { make: () => fill('1', '', '1') },
  'millions of long integers': { make: () => fill(`${LONG},`) },
  'millions of integers that are just too long': { make: () => fill('9007199254740993,') },
  'records with chip numbers of 20 digits': { make: () => fill(RECORD, '[', '{}]') },
  'the shortest records': { make: () => fill(SHORTEST, '[', '{}]') },
  'a string of digits': { make: () => fill('1', '["', '"]') },
  'a string of escapes': { make: () => fill('\\u4e2d', '["', '"]') },
  'a string of escaped quotes': { make: () => fill('\\"', '["', '"]') },
  'long integers, escapes and ones': { make: () => fill(`${LONG},"a\\"b\\\\",1,`) },
  spaces: { make: () => fill(' ', '', '1') },
  'empty objects': { make: () => fill('{},'), refused: many },
  'empty arrays': { make: () => fill('[],'), refused: many },
  'arrays nested 98 levels': {
    make: () => fill(`${'['.repeat(98)}${']'.repeat(98)},`),
    refused: many,
  },
  'fields of one object': { make: () => fill('"a":1,', '{', '"b":1}'), refused: many },
  'opening brackets': { make: () => fill('[', '[', '['), refused: deep },
  'objects in one another': { make: () => fill('{"a":', '', ''), refused: deep },
};
