import assert from 'node:assert/strict';
import { Bus, uploadFromText, uploadToText } from '../../../src/cluster/messages';
import type { Upload } from '../../../src';

const UPLOAD: Upload = { chipid: '7', appid: '9', timestamp: 1, body: Buffer.from([0, 255]) };

describe('an upload as text, for other processes', () => {
  it('keeps all that a listener is given', () => {
    const uploads: Upload[] = [
      UPLOAD,
      { ...UPLOAD, replayed: true, id: '5', altered: true },
      { ...UPLOAD, type: 'uart_trans' },
    ];
    for (const upload of uploads)
      assert.deepEqual(uploadFromText(upload.chipid, uploadToText(upload)), upload);
  });

  it('is refused if it is not one', () => {
    const text = uploadToText({ ...UPLOAD, type: 'uart_trans' });
    for (const wrong of [
      '',
      '{}',
      '[]',
      text.replace('"9"', '"x"'),
      text.replace('"uart_trans"', '7'),
    ])
      assert.equal(uploadFromText('7', wrong), undefined);
    assert.equal(uploadFromText('x', text), undefined);
  });
});

describe('a message of another process', () => {
  it('that cannot be handled is malformed, and ends nothing', () => {
    const receivers: ((text: string) => void)[] = [];
    const store = {
      publish: () => Promise.resolve(),
      subscribe: (_topic: string, receive: (text: string) => void) => {
        receivers.push(receive);
        return () => undefined;
      },
    };
    let malformed = 0;
    const bus = new Bus(store, 'm', () => malformed++);
    const given: unknown[] = [];
    // A value that JSON can hold, and String cannot take.
    bus.on('text', ({ value }) => given.push(String(value)));
    const bad = { toString: 1, valueOf: 1 };
    for (const [kind, data] of [
      ['text', { value: bad }],
      ['answer', { id: bad }],
      ['text', { value: 'good' }],
    ] as const)
      receivers[0]?.(JSON.stringify({ from: 'x', kind, data }));
    assert.deepEqual([given, malformed], [['good'], 1]);
    bus.close();
  });
});
