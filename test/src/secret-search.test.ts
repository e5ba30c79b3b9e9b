import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FORMS, secretSearch } from '../../tooling/secret-search';
import { anyText, goodText, holds, textOf } from './support/fuzz';

// The tests for secrets are worth as much as this search.

const secret = textOf('Canary-/+%&= "\\Ä0123', { minLength: 8, maxLength: 24 });

describe('the search for secrets of these tests', () => {
  const CANARY = 'Canary-Key/4F1D+%&=" Ä';
  const find = secretSearch(['another', CANARY]);

  for (const [form, write] of Object.entries(FORMS)) {
    it(`finds one that is planted ${form}, in either case`, () => {
      for (const written of write(CANARY)) {
        for (const planted of [written, written.toLowerCase(), written.toUpperCase()]) {
          assert.equal(find(`before ${planted} after`)?.secret, CANARY, planted);
        }
      }
    });
  }

  it('finds one in the Base64 of something longer', () => {
    for (const user of ['', 'u', 'us', 'user', 'somebody']) {
      const basic = Buffer.from(`${user}:${CANARY}; more`).toString('base64');
      assert.equal(find(`Proxy-Authorization: Basic ${basic}`)?.form, 'base64');
    }
  });

  it('reports the place and the form', () => {
    const found = find(`x=${encodeURIComponent(CANARY)}&y=1`);
    assert.equal(found?.form, 'percent-encoded');
    assert.match(found.around, /^x=Canary.*&y=1$/);
  });

  holds(
    'finds any secret in any of its forms, wherever it is planted',
    300,
    fc.property(secret, goodText, anyText, (each, before, after) => {
      const search = secretSearch([each]);
      for (const write of Object.values(FORMS)) {
        for (const written of write(each)) assert.ok(search(before + written + after), written);
      }
    }),
  );

  it('finds nothing in text without secrets', () => {
    const harmless = ['', 'Canary-Key', 'f'.repeat(32), JSON.stringify({ a: CANARY.slice(1) })];
    for (const text of harmless) assert.equal(find(text), undefined);
  });
});
