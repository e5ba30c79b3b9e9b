import assert from 'node:assert/strict';
import { isDeviceCloudError } from '../../../src/errors';
import { DeviceCloudClient } from '../../../src';
import { settled } from '../../tooling/until';
import {
  isPosition,
  type Position,
  readPosition,
  type State,
  writePosition,
} from '../../../src/recovery/position';
import { Arrival } from '../../../src/recovery/arrival';
import { connected, createSubject, record } from './subject';

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
      const subject = await connected([], { save });
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
      const subject = await connected();
      subject.live(body);
      assert.doesNotMatch(JSON.stringify(subject.position()), /door/, 'the last upload');
      subject.recovery.onState('disconnected');
      subject.live(`${body}!`);
      const start = subject.position();
      assert.doesNotMatch(JSON.stringify(start), /door/, 'uploads after a gap');
      const next = await connected(
        [record(1, body), record(2, `${body}!`), record(3, `missed ${index}`)],
        { start },
      );
      assert.deepEqual(next.given, [[`missed ${index}`, 3]]);
    }
  });

  it('is at most 1 MB for 5,000 devices with five arrivals each', async () => {
    const subject = createSubject();
    const old = Array.from({ length: 20 }, (_, n) =>
      record(1_234_500 + n, `{"n":${n}}`, `2026-01-01 00:00:${n + 10}`),
    );
    await subject.reads(...old);
    for (let n = 0; n < 5; n++) subject.live(`{"n":${n},"t":21.5,"h":40}`);
    const position = subject.position();
    subject.recovery.close();
    const entries = Object.fromEntries(
      Array.from({ length: 5000 }, (_, n) => [
        `position:0123456789abcdef:${2_000_000 + n}`,
        position,
      ]),
    );
    const { length } = JSON.stringify(entries);
    assert.ok(length <= 1_000_000, `${length}: ${JSON.stringify(position)}`);
  });

  it('is read as it was written', () => {
    const arrival = (body: string | number[], isAfterGap: boolean, isLoose: boolean): Arrival =>
      Object.assign(Arrival.of(Buffer.from(body as string), NaN, isAfterGap), {
        isLoose,
      });
    const state: State = {
      id: 2n ** 60n,
      arrivals: [
        arrival('plain', true, false),
        arrival(' trimmed \r\n', false, true),
        arrival('ta,gged,', false, false),
        arrival(' 21° ', true, true),
        arrival([0xfe, 0xff, 0x2c, 0x20], false, false),
        arrival('', false, false),
      ],
      seen: [
        [2n ** 60n - 1n, 1_000],
        [2n ** 60n - 8n, NaN],
        [2n ** 60n - 9n, 61_000],
      ],
      measure: { id: 2n ** 60n - 7n, bytes: 1e10 },
      afterTime: Date.UTC(2026, 0, 1),
      isPlain: true,
      isMixed: false,
      isUnordered: true,
      isLagging: true,
    };
    const position = JSON.parse(JSON.stringify(writePosition(state))) as Position;
    assert.equal(isPosition(position), true);
    const { arrivals, ...rest } = readPosition(position);
    const { arrivals: before, ...others } = state;
    assert.deepEqual(rest, others);
    const shown = ({ hashes, isText, mayBeSpoilt, isLoose, isAfterGap }: Arrival): unknown => [
      ...[hashes, isText, mayBeSpoilt, isLoose, isAfterGap],
    ];
    assert.deepEqual(arrivals.map(shown), before.map(shown));
    for (let end = 0; end < position.keys!.length; end++)
      assert.ok(
        readPosition({ ...position, keys: position.keys!.slice(0, end) }).arrivals.length < 6,
      );
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
        { id: '1', seen: [null, 1] },
        { id: '1', size: [1] },
        { id: '1', is: 1 },
        { id: '1', afterTime: '2026-01-01 00:00:00' },
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
      const subject = await connected([], { start }, { answer: () => Promise.resolve(answer) });
      subject.live('live');
      assert.deepEqual(subject.given, [
        ['missed', last],
        ['live', 'live'],
      ]);
    });
  }
});
