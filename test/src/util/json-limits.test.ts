import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseJson } from '../../../src/util/json';
import { JsonLimitError, MAX_CONTAINERS, MAX_DEPTH, MAX_FIELDS } from '../../../src/util/json-scan';
import { CONTENTS } from '../support/json-contents';
import type { Parsed } from '../support/parse-at-limit';

const nested = (levels: number, open = '[', close = ']'): string =>
  open.repeat(levels) + (open === '[' ? '' : '1') + close.repeat(levels);
const refused = (text: string): void => {
  assert.throws(() => parseJson(text), JsonLimitError);
  assert.throws(() => parseJson(Buffer.from(text)), JsonLimitError);
};

describe('JSON that is too much', () => {
  it('is nested deeper than 100 levels', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ]) {
      const text = nested(MAX_DEPTH, open, close);
      assert.deepEqual(parseJson(text), JSON.parse(text));
      refused(nested(MAX_DEPTH + 1, open, close));
    }
  });

  it('is refused before it is known whether it is JSON at all', () => {
    refused('['.repeat(MAX_DEPTH + 1));
  });

  it('is no string with brackets in it, whatever its escapes', () => {
    const opening = '['.repeat(MAX_DEPTH + 1);
    const values = [opening, `\\"${opening}`, `\\`, `${'x'.repeat(300)}\\"${opening}"`, opening];
    for (const value of [values, values.map((text) => text.repeat(3))]) {
      assert.deepEqual(parseJson(JSON.stringify(value)), value);
      assert.deepEqual(parseJson(Buffer.from(JSON.stringify(value))), value);
    }
    refused(`["${'x'.repeat(300)}\\\\",${opening}`);
    refused(`["${'x'.repeat(300)}\\\\\\"",${opening}`);
  });

  it('is many arrays side by side only from a million on', () => {
    const row = (count: number): string => `[${'[],'.repeat(count - 2)}{}]`;
    assert.equal((parseJson(row(MAX_CONTAINERS)) as unknown[]).length, MAX_CONTAINERS - 1);
    refused(row(MAX_CONTAINERS + 1));
  });

  it('is many fields only from five million on', () => {
    const fields = (count: number): string => `{${'"a":1,'.repeat(count - 1)}"a":2}`;
    assert.deepEqual(parseJson(fields(MAX_FIELDS)), { a: 2 });
    refused(fields(MAX_FIELDS + 1));
  });

  it('says what to do', () => {
    assert.throws(
      () => parseJson('['.repeat(101)),
      (error) => error instanceof JsonLimitError && /firmware/.test(error.advice),
    );
  });
});

describe('an answer as long as it may be', function () {
  this.timeout(120_000);

  for (const [name, content] of Object.entries(CONTENTS)) {
    it(`does not end the process if it is made of ${name}`, async () => {
      const file = join(__dirname, '..', 'support', 'parse-at-limit.js');
      const { stdout } = await promisify(execFile)(process.execPath, [file, name]);
      const { outcome, bare, ours } = JSON.parse(stdout) as Parsed;
      if (content.refused) assert.match(outcome, content.refused);
      else assert.match(outcome, /^(an array of \d+|string|number)$/);
      // Twice the work at most, and as much again for what differs from run to run.
      const limit = Math.max(1000, 4 * (bare ?? 0));
      assert.ok(ours < limit, `${ours} ms, and ${bare} ms for JSON.parse alone`);
    });
  }
});
