import assert from 'node:assert/strict';
import fc from 'fast-check';
import { scanJson } from '../../../src/util/json-scan';
import { holds, textOf } from '../support/fuzz';

/** Longer than any piece of the text that is scanned at once. */
const LENGTH = 40_000;

const digits = textOf('0123456789', { minLength: 1, maxLength: 40 });
const string = fc
  .array(fc.constantFrom('a', '1', ',', '€', '\\"', '\\\\', '12345678901234567890'), {
    size: '+1',
    maxLength: 200,
  })
  .map((units) => `"${units.join('')}"`);
const token = fc.oneof(
  digits,
  string,
  fc.constantFrom(',', ' ', ':', '-', '.', '\n', 'null', '[]', '{}', '""', '"'),
);

/**
 * The runs of 16 digits or more outside of strings, of which the last may lack its closing quote.
 * @returns all of them, and how many come before two strings without a comma: what is no JSON need not be scanned
 */
function runsOf(text: string): { all: string[]; due: number } {
  const tokens = [...text.matchAll(/"(?:[^"\\]|\\.)*(?:"|\\?$)|\d+/gs)];
  const runs = tokens.filter(([found]) => /^\d{16}/.test(found));
  const adjoining = tokens.find(
    (found) => found[0].startsWith('"') && /^ ?"/.test(text.slice(found.index + found[0].length)),
  );
  const end = adjoining?.index ?? text.length;
  return {
    all: runs.map(([found]) => found),
    due: runs.filter(({ index }) => index < end).length,
  };
}

function scanned(bytes: Buffer): string[] {
  const found: string[] = [];
  scanJson(bytes, (runs, count) => {
    for (let at = 0; at < count; at += 2)
      found.push(bytes.toString('latin1', runs[at], runs[at + 1]));
  });
  return found;
}

describe('the scan of JSON', () => {
  holds(
    'finds all long runs of digits of valid JSON, anywhere in the text and in its buffer',
    2000,
    fc.property(
      fc.array(token, { minLength: 1, maxLength: 30 }),
      fc.boolean(),
      fc.nat(7),
      (tokens, long, offset) => {
        const unit = tokens.join('');
        const text = ` [${long ? unit.repeat(Math.ceil(LENGTH / unit.length)) : unit}`;
        const bytes = Buffer.from(' '.repeat(offset) + text).subarray(offset);
        const found = scanned(bytes);
        const { all, due } = runsOf(text);
        assert.deepEqual(found, all.slice(0, found.length));
        assert.ok(found.length >= due, `${found.length} of ${due}`);
      },
    ),
  );
});
