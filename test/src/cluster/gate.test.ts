import assert from 'node:assert/strict';
import type { Position } from '../../../src/recovery/position';
import { IsolatedListener } from '../../../src/channel/listener';
import { Gate, type Place } from '../../../src/cluster/listening';
import { settled } from '../../../tooling/until';

const position = (id: string): Position => ({ id, live: 0 }) as unknown as Position;

/** A gate, and the positions that it has written. */
function gate(...places: Place[]): { gate: Gate; saved: () => string[] } {
  const saved: string[] = [];
  const cluster = {
    mayEmit: () => true,
    positions: {
      save: (_chipid: string, text: string) =>
        void saved.push((JSON.parse(text) as { id: string }).id),
      append: () => undefined,
    },
  };
  return { gate: new Gate('1', cluster, new Set(places)), saved: () => saved };
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

  it('is written also on its own if an upload was emitted and went into the queue', async () => {
    const upload = { chipid: '1', appid: '9', timestamp: 1, body: Buffer.from('x') };
    const listener = new IsolatedListener({});
    for (const isEmitted of [true, false]) {
      const queue: Place = { listener, deliver: 'queue' };
      const { gate: open, saved } = isEmitted
        ? gate(queue, { listener, deliver: 'here' })
        : gate(queue);
      open.pass(upload);
      open.save(position('1'));
      await settled();
      assert.deepEqual(saved(), isEmitted ? ['1'] : []);
    }
  });
});
