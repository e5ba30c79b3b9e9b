import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import type { NodeMessage } from 'node-red';
import { decodeMessage, encodeMessage } from '../../nodes/common/kept-call';

/** What is left of a message after a restart: its file is JSON. */
const afterRestart = (msg: object): NodeMessage =>
  decodeMessage(
    JSON.parse(JSON.stringify(encodeMessage(msg as NodeMessage))) as Record<string, unknown>,
  );

describe('a message that waits', () => {
  it('keeps what JSON, Buffers and dates can hold, also of a function node', () => {
    const msg = {
      ...{ _msgid: '1', payload: { a: [1, null, 'x\u0000', { deep: true }] }, topic: '' },
      ...{ bytes: Buffer.from([0, 255]), inside: [Buffer.from('b')], when: new Date(7) },
      of: JSON.parse('{"__proto__": {"polluted": 1}}') as object,
    };
    assert.deepEqual(afterRestart(msg), msg);
    const fromFunction = runInNewContext('({ payload: { a: [1] } })') as object;
    assert.deepEqual(afterRestart(fromFunction), { payload: { a: [1] } });
  });

  it('loses what cannot be kept, and nothing else', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    let deep: object = {};
    for (let level = 0; level < 200; level++) deep = { deep };
    const lost = {
      ...{ circular, deep, map: new Map([[1, 2]]), run: () => 1, nothing: undefined },
      ...{ large: 'x'.repeat(65 * 1024), bytes: Buffer.alloc(50 * 1024), big: 1n },
    };
    assert.deepEqual(afterRestart({ ...lost, payload: 'kept' }), { payload: 'kept' });
  });

  it('is not written where it is too large, which would take seconds', () => {
    let written = 0;
    const seen = { toJSON: () => ++written };
    const holes = Object.assign([], { 1_000_000: 1 });
    for (const large of ['x'.repeat(1e6), Buffer.alloc(1e6), holes, Array(70_000).fill({})])
      assert.deepEqual(afterRestart({ inside: { seen, large }, payload: 1 }), { payload: 1 });
    assert.equal(written, 0);
    assert.deepEqual(afterRestart({ inside: { seen } }), { inside: { seen: 1 } });
  });
});
