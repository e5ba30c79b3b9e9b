import assert from 'node:assert/strict';
import type { Position } from '../../../src/recovery/position/position';
import { Gate } from '../../../src/sharing/gate';
import { settled } from '../../../tooling/until';

const position = (id: string): Position => ({ id, live: 0 }) as unknown as Position;

/** A gate without listeners, and the positions that it has written. */
function gate(): { gate: Gate; saved: () => string[] } {
  const saved: string[] = [];
  const cluster = {
    mayEmit: () => true,
    savePosition: (_chipid: string, text: string) =>
      void saved.push((JSON.parse(text) as { id: string }).id),
    append: () => Promise.resolve(),
  };
  return { gate: new Gate('1', cluster, new Set()), saved: () => saved };
}

describe('the position of emitted uploads', () => {
  it('is written in the next turn, once for all uploads of a turn', async () => {
    const { gate: open, saved } = gate();
    open.save(position('1'));
    open.save(position('2'));
    assert.deepEqual(saved(), []);
    await settled();
    assert.deepEqual(saved(), ['2']);
  });

  it('is not written if the flow was stopped before it got the message', async () => {
    const { gate: open, saved } = gate();
    open.save(position('1'));
    open.close();
    await settled();
    assert.deepEqual(saved(), []);
  });

  it('is written at once if the device goes to another process', async () => {
    const { gate: open, saved } = gate();
    open.save(position('1'));
    open.flush();
    assert.deepEqual(saved(), ['1']);
    await settled();
    assert.deepEqual(saved(), ['1']);
  });
});
