import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseJson } from '../../../src/util/json';
import { anyText, holds } from '../support/fuzz';
import { jsonText } from './json-text';

/** What is put into JSON to break it: often what a number might have and may not. */
const piece = fc.oneof(fc.constantFrom('0', '00', '-', '+', '.', 'e', '"', '\\'), anyText);

const attempt = (parse: (text: string) => unknown, text: string): unknown => {
  try {
    return { parsed: parse(text) };
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return undefined;
  }
};

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** A name that makes JSON.parse of Node.js 24 misread others: see {@link jsonText}. */
const LONE_BACKSLASH = /"(?:\\\\|\\u005c)"\s*:/i;

/** Replaces the digits of a long integer by the number that JSON.parse returns. */
function loosened(exact: unknown, loose: unknown): unknown {
  if (typeof exact === 'string' && typeof loose === 'number') {
    assert.match(exact, /^-?[1-9][0-9]{15,}$/);
    assert.ok(!Number.isSafeInteger(loose), exact);
    return Number(exact);
  }
  if (!isContainer(exact) || !isContainer(loose)) return exact;
  const entries = Object.entries(exact).map(([key, value]) => [key, loosened(value, loose[key])]);
  return Array.isArray(exact)
    ? entries.map(([, value]) => value)
    : (Object.fromEntries(entries) as unknown);
}

describe('JSON that keeps every digit', () => {
  holds(
    'is read as it was written: integers beyond the safe ones as their digits, all else as usual',
    1000,
    fc.property(jsonText, ({ text, value }) => assert.deepEqual(parseJson(text), value)),
  );

  holds(
    'is accepted if and only if JSON.parse accepts it, and differs only in long integers',
    1000,
    fc.property(jsonText, fc.nat(), fc.nat(3), piece, ({ text }, where, gone, put) => {
      const at = where % (text.length + 1);
      const changed = text.slice(0, at) + put.slice(0, 2) + text.slice(at + gone);
      fc.pre(changed.isWellFormed() && !LONE_BACKSLASH.test(changed));
      const exact = attempt(parseJson, changed);
      const loose = attempt(JSON.parse, changed);
      assert.deepEqual(loosened(exact, loose), loose);
    }),
  );
});
