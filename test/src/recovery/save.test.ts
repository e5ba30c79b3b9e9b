import assert from 'node:assert/strict';
import { isDeviceCloudError } from '../../../src/errors';
import { DeviceCloudClient } from '../../../src';
import { settled } from '../../../tooling/until';
import { createSubject, record } from './subject';

describe('the position of a listener', () => {
  it('is reported as not saved if saving throws, or rejects later', async () => {
    const failures: (() => unknown)[] = [
      () => assert.fail('disk full'),
      () => Promise.reject(new Error('disk full')),
      () => ({
        then: (_: unknown, reject: (error: Error) => void) => reject(new Error('disk full')),
      }),
    ];
    for (const save of failures) {
      const subject = createSubject({ options: { save } });
      await subject.connect();
      subject.live('a');
      await settled();
      assert.deepEqual(subject.given, [['a', 'live']]);
      assert.deepEqual(subject.kinds(), ['not saved']);
      assert.match(subject.faults[0]!.text, /could not be saved: .*disk full/);
    }
  });

  it('contains no body, and an upload is recognised by it all the same', async () => {
    const bodies = ['{"door":"open"}', 'id7,door open', ' door open\n', 'door open '.repeat(20)];
    for (const [index, body] of bodies.entries()) {
      const subject = createSubject();
      await subject.connect();
      subject.live(body);
      assert.doesNotMatch(JSON.stringify(subject.position()), /door/, 'the last upload');
      subject.recovery.onState('disconnected');
      subject.live(`${body}!`);
      const start = subject.position();
      assert.doesNotMatch(JSON.stringify(start), /door/, 'uploads after a gap');
      const next = createSubject({ start });
      next.has(record(1, body), record(2, `${body}!`), record(3, `missed ${index}`));
      await next.connect();
      assert.deepEqual(next.given, [[`missed ${index}`, 3]]);
    }
  });

  it('is short, whatever the history has: it is saved again and again', async () => {
    const subject = createSubject();
    const uploads = Array.from({ length: 200 }, (_, n) =>
      record(
        5000 + 3 * n,
        `v=${n}`,
        new Date(1e12 + 60_000 * n).toISOString().slice(0, 19).replace('T', ' '),
      ),
    );
    subject.has(...uploads);
    await subject.connect();
    subject.live('v=200');
    const text = JSON.stringify(subject.position());
    assert.ok(text.length < 180, `${text.length}: ${text}`);
  });

  it('is INVALID_INPUT as a start if it is malformed', async () => {
    const client = new DeviceCloudClient({
      baseUrl: 'http://127.0.0.1:9',
      appid: 1,
      appkey: 'key',
    });
    const bad: unknown[] = [
      ...[
        '1',
        5,
        [],
        {},
        { id: 'abc' },
        { id: '-2' },
        { id: '1', keys: 5 },
        { id: '1', seen: [1] },
      ],
      ...[
        { id: '1', measure: [1] },
        { id: '1', isPlain: 1 },
        { id: '1', afterTime: 0 },
      ],
    ];
    try {
      for (const start of bad) {
        assert.throws(
          () => client.listen(1, {}, { start: start as never }),
          (error) => isDeviceCloudError(error, 'INVALID_INPUT'),
          JSON.stringify(start),
        );
      }
    } finally {
      await client.close();
    }
  });
});

describe('a history of very many items', () => {
  for (const [what, fill] of [
    ['items that are no objects', 0],
    ['small records', undefined],
  ] as const) {
    it(`is still read (${what})`, async () => {
      const items = Array.from({ length: 300_000 }, (_, id) => fill ?? record(id + 1, ''));
      const last = items.length + 1;
      const answer = [...items, record(last, 'missed')];
      const start = { id: String(last - 1) };
      const subject = createSubject({ start }, { answer: () => Promise.resolve(answer) });
      await subject.connect();
      subject.live('live');
      assert.deepEqual(subject.given, [
        ['missed', last],
        ['live', 'live'],
      ]);
    });
  }
});
