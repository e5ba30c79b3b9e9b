import assert from 'node:assert/strict';
import fc from 'fast-check';
import { redactor } from '../../../src/http/redact';
import { oneLine, show } from '../../../src/util/show';
import { anyText, holds, textOf } from '../support/fuzz';
import { anything } from '../support/typed';

// Stars replace a secret.
const LETTERS = 'abcXYZ019 &=%+/$^.\\"Ä😀';
const secret = fc
  .oneof(
    textOf(LETTERS, { minLength: 8, maxLength: 24 }),
    textOf(LETTERS, { minLength: 25, maxLength: 60 }),
  )
  .filter((text) => text.length >= 8);
const secrets = fc.array(secret, { minLength: 1, maxLength: 3 });
const sign = textOf('0123456789abcdef', { minLength: 32, maxLength: 32 });

/** Words, each before one of the secrets in one of the forms. */
const answer = fc.array(fc.tuple(anyText, fc.nat(), fc.nat()));

const FORMS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
];

describe('what the service says, with any secrets in it', () => {
  holds(
    'contains none of them in any case',
    100,
    fc.property(secrets, fc.tuple(answer, answer, answer), sign, (known, answers, signature) => {
      const clean = redactor(known);
      for (const pieces of answers) {
        const shown = pieces.map(([words, which, form]) => {
          const hidden = known[which % known.length] ?? '';
          return words + (FORMS[form % FORMS.length] ?? String)(hidden);
        });
        const seen = clean(`${shown.join(' ')} sign=${signature}`);
        for (const each of known) {
          for (const form of FORMS)
            assert.ok(!seen.includes(form(each)), `${form(each)} is in ${seen}`);
        }
        assert.doesNotMatch(seen, /[0-9a-f]{32}/i);
      }
    }),
  );

  holds(
    'stays unchanged without a secret in it',
    300,
    fc.property(anyText, (text) => {
      assert.equal(redactor(['Canary-Canary-Canary'])(text), text);
    }),
  );
});

describe('a value that is shown in an error', () => {
  holds(
    'is short and on one line',
    1000,
    fc.property(fc.oneof(anything, anyText), (value) => {
      const shown = show(value);
      assert.ok(shown.length <= 64, shown);
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2800]|(?! )\p{Zs}/u);
    }),
  );

  holds(
    'is cut to a length, and is well formed',
    500,
    fc.property(anyText, fc.nat(20), (text, max) => {
      const line = oneLine(text, max);
      assert.ok(line.isWellFormed());
      assert.ok(line.length <= max + 1);
    }),
  );
});
