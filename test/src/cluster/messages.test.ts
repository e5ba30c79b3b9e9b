import assert from 'node:assert/strict';
import { uploadFromText, uploadToText } from '../../../src/cluster/messages';
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
