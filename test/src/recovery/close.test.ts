import assert from 'node:assert/strict';
import { LIMITS } from '../../../src/recovery/limits';
import { manual } from '../support/manual';
import { connected, createSubject, record } from './subject';
import { settled } from '../../tooling/until';

describe('a recovery that is closed by the listener of an upload', () => {
  it('does not read the history once more for that upload', async () => {
    let readings = 0;
    const subject = createSubject(
      {
        start: { id: '0' },
        listener: {
          onUpload: () => subject.recovery.close(),
          onFault: (text) => assert.fail(text),
        },
      },
      // The very first upload makes a reading due.
      {
        answer: () => Promise.resolve((readings++, [record(0, 'old')])),
        limits: { ...LIMITS, least: 0, long: 0 },
      },
    );
    const { recovery } = subject;
    recovery.onState('connected');
    await settled();
    recovery.onUpload({ chipid: '1', appid: '1', timestamp: 0, body: Buffer.from('x') });
    await settled();
    assert.equal(readings, 1);
  });
});

describe('a recovery that is closed', () => {
  it('calls its listener no more, though saving fails later', async () => {
    const saving = manual();
    const subject = await connected([], { save: () => saving.promise });
    subject.recovery.close();
    saving.reject(new Error('disk full'));
    await settled();
    assert.deepEqual(subject.faults, []);
  });
});
