import assert from 'node:assert/strict';
import { AnswerBody, readRetryAfter, ServiceClock } from '../../../src/http/answer';
import { simulated } from '../support/client';
import { held } from '../support/garbage';

describe('the body of an answer', () => {
  it('is put together from chunks of any size', () => {
    for (const sizes of [[], [5], [1, 1, 1], [0, 3, 0, 70_000, 1, 16_384], [100_000, 1]]) {
      const chunks = sizes.map((size, index) => Buffer.alloc(size, String(index)));
      const body = new AnswerBody(1_000_000);
      for (const chunk of chunks) assert.equal(body.add(chunk), true);
      assert.deepEqual(body.read(), Buffer.concat(chunks));
    }
  });

  it('accepts as many bytes as its limit and no more', () => {
    const body = new AnswerBody(20_000);
    assert.equal(body.add(Buffer.alloc(19_999, 'a')), true);
    assert.equal(body.add(Buffer.from('bc')), false);
    assert.equal(body.add(Buffer.from('b')), true);
    assert.equal(body.add(Buffer.from('c')), false);
    assert.equal(body.read().length, 20_000);
    assert.equal(body.read().toString().slice(-2), 'ab');
  });

  it('keeps no list of chunks: chunks of one byte would fill the heap', async () => {
    const body = new AnswerBody(1_000_000);
    const chunks = Array.from({ length: 1000 }, () => {
      const chunk = Buffer.from('x');
      body.add(chunk);
      return new WeakRef(chunk);
    });
    assert.ok((await held(chunks)) < 10);
    assert.equal(body.read().length, 1000);
  });
});

const NOW = Date.UTC(1994, 10, 6, 8, 49, 27);

describe('Retry-After', () => {
  const cases: [value: string | undefined, wait: number | undefined][] = [
    ['7', 7000],
    [' 7 ', 7000],
    ['300', 300_000],
    ['9'.repeat(400), 300_000],
    ['0', undefined],
    ['-5', undefined],
    ['1.5', undefined],
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

describe("the service's clock", () => {
  it('is compared with this one by the header Date, in whole seconds', () => {
    // Half a second past: the header has cut off something between nothing and a second.
    let now = Date.parse('2026-01-01T00:00:00.500Z');
    const clock = new ServiceClock(() => now);
    assert.equal(clock.skew(), undefined);
    clock.saw('Thu, 01 Jan 2026 02:00:00 GMT');
    assert.equal(clock.skew(), 7_200_000);
    now += 60_000;
    assert.equal(clock.skew(), 7_200_000, 'as it was when the answer came');
    clock.saw('Wed, 31 Dec 2025 23:59:00 GMT');
    assert.equal(clock.skew(), -120_000);
    clock.saw('nonsense');
    assert.equal(clock.skew(), undefined);
  });

  it('is known to a client after its first answer', async () => {
    const { client } = await simulated({ now: () => Date.now() + 3_600_000 });
    assert.ok(client.clockSkew === undefined);
    await client.devices();
    const skew = Number(client.clockSkew);
    assert.ok(Math.abs(skew - 3_600_000) <= 5000, String(skew));
  });
});
