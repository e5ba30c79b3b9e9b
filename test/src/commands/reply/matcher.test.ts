import assert from 'node:assert/strict';
import { matcherOf, UploadReading } from '../../../../src/commands/reply/matcher';
import type { RequestMatch } from '../../../../src/commands/reply/types';
import { PatternFailed } from '../../../../src/util/bounded-pattern';
import { thrown } from '../../support/failure';
import { watchRuns } from '../../../support/watched-runs';

const readingOf = (body: string | Buffer): UploadReading =>
  new UploadReading({ chipid: '1', appid: '1', timestamp: 0, body: Buffer.from(body) });

function matches(match: RequestMatch, body: string | Buffer): unknown {
  const reading = readingOf(body);
  const decoded = reading.decoded('auto-detect');
  assert.ok(decoded && 'value' in decoded);
  return matcherOf(match).matches(decoded.value, reading);
}

describe('the match of a request', () => {
  it('compares a property strictly', () => {
    assert.ok(matches({ property: 'a.id', equals: 1 }, '{"a":{"id":1}}'));
    assert.ok(matches({ property: 'a', equals: { id: [1] } }, '{"a":{"id":[1]}}'));
    assert.ok(!matches({ property: 'a.id', equals: '1' }, '{"a":{"id":1}}'));
    assert.ok(!matches({ property: 'b', equals: null }, '{"a":1}'));
    assert.ok(!matches({ property: 'a', equals: 1 }, 'a: 1'));
  });

  it('searches the text for a pattern', () => {
    assert.ok(matches({ pattern: '^OK \\d+$' }, 'OK 42'));
    assert.ok(matches({ pattern: /ok/gi }, 'it is OK'));
    assert.ok(!matches({ pattern: 'ok' }, 'OK'));
    assert.ok(!matches({ pattern: '.' }, Buffer.from([0xff, 0xfe])), 'binary data has no text');
  });

  for (const [what, pattern, length] of [
    ['nested repetitions', '^(a+)+$', 50],
    ['alternatives that overlap', '^(a|a)*$', 50],
    ['several stars', 'a*a*a*a*a*a*a*b', 5000],
    ['a back-reference', '^(a+)\\1+$|^((a+)+)$', 50],
    ['look-ahead', '^(?=(a+)+$)a', 50],
  ] as const) {
    it(`stops a pattern with ${what}, and runs the next one`, () => {
      const text = 'a'.repeat(length) + '!';
      assert.throws(() => matches({ pattern }, text), PatternFailed);
      assert.ok(matches({ pattern: '!$' }, text));
    });
  }

  for (const [text, isMatch] of [
    ['a'.repeat(500) + 'b', true],
    ['a'.repeat(500) + '!', false],
  ] as const) {
    it(`runs a pattern once on an upload that ${isMatch ? 'matches' : 'does not match'}, however many requests have it`, () => {
      const reading = readingOf(text);
      const runs = watchRuns(false);
      for (let request = 0; request < 3; request++)
        assert.equal(matcherOf({ pattern: '^a.*a.*b$' }).matches(text, reading), isMatch);
      runs.restore();
      assert.equal(runs.limits.length, 1);
    });
  }

  it('is INVALID_INPUT if it is anything else', () => {
    const invalid: unknown[] = [
      ...[
        undefined,
        null,
        'property',
        {},
        5,
        { property: '', equals: 1 },
        { property: 1, equals: 1 },
      ],
      ...[{ property: 'a..b', equals: 1 }, { property: 'a' }, { pattern: '(' }, { pattern: '' }],
      ...[{ pattern: 'x'.repeat(1001) }, { pattern: 5 }, { pattern: undefined }],
    ];
    for (const match of invalid) thrown(() => matcherOf(match as RequestMatch), 'INVALID_INPUT');
  });
});
