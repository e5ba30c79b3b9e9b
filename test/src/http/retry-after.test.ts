import assert from 'node:assert/strict';
import { readRetryAfter } from '../../../src/http/answer';

const NOW = Date.UTC(1994, 10, 6, 8, 49, 27);

describe('Retry-After', () => {
  const cases: [value: string | undefined, wait: number | undefined][] = [
    ['7', 7000],
    [' 7 ', 7000],
    ['300', 300_000],
    ['301', 300_000],
    ['1000000000', 300_000],
    ['9'.repeat(400), 300_000],
    ['0', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 10_000],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 10_000],
    ['Sun Nov  6 08:49:37 1994', 10_000],
    ['Sun, 06 Nov 2094 08:49:37 GMT', 300_000],
    ['Sun, 06 Nov 1994 08:49:17 GMT', undefined],
    ['Sun, 99 Nov 1994 08:49:37 GMT', undefined],
  ];
  for (const [value, wait] of cases) {
    it(`${String(value).slice(0, 40)} is ${wait === undefined ? 'no wait' : `${wait} ms`}`, () => {
      const headers = value === undefined ? {} : { 'retry-after': value };
      assert.equal(readRetryAfter(503, headers, NOW), wait);
    });
  }

  it("as a date counts from the service's own clock", () => {
    const headers = {
      date: 'Sun, 06 Nov 1994 08:49:30 GMT',
      'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT',
    };
    assert.equal(readRetryAfter(429, headers, NOW + 3_600_000), 7000);
  });
});
