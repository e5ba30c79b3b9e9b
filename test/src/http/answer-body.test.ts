import assert from 'node:assert/strict';
import { AnswerBody } from '../../../src/http/answer';
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
