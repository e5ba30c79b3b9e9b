import assert from 'node:assert/strict';
import { matcherOf, UploadReading } from '../../../src/commands/reply';
import type { RequestMatch } from '../../../src/commands/reply';
import { Pattern } from '../../../src/util/pattern';
import { thrown } from '../support/failure';
import { mock } from 'node:test';

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

  for (const [text, isMatch] of [
    ['a'.repeat(500) + 'b', true],
    ['a'.repeat(500) + '!', false],
  ] as const) {
    it(`runs a pattern once on an upload that ${isMatch ? 'matches' : 'does not match'}, however many requests have it`, () => {
      const reading = readingOf(text);
      const runs = mock.method(Pattern.prototype, 'test');
      for (let request = 0; request < 3; request++)
        assert.equal(matcherOf({ pattern: '^a.*a.*b$' }).matches(text, reading), isMatch);
      assert.equal(runs.mock.callCount(), 1);
      runs.mock.restore();
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
      ...[
        { pattern: 'x'.repeat(1001) },
        { pattern: '(?=a)' },
        { pattern: '((a{1,90}){1,90}){9}' },
        { pattern: 5 },
        { pattern: undefined },
      ],
    ];
    for (const match of invalid) thrown(() => matcherOf(match as RequestMatch), 'INVALID_INPUT');
  });
});
