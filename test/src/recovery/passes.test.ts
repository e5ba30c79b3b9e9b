import assert from 'node:assert/strict';
import fc from 'fast-check';
import { HistoryFacts } from '../../../src/recovery/facts';
import { Budget, Budgets } from '../../../src/recovery/options';
import { settled, until } from '../../tooling/until';
import { isPosition } from '../../../src/recovery/position';
import { holds } from '../support/fuzz';
import { createSubject, record } from './subject';

const time = (place: number): string =>
  new Date(Date.UTC(2026, 0, 1) + Math.floor(place / 3) * 1000)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ');

const ORDERS = {
  'oldest-first': (records: object[]) => records,
  'newest-first': (records: object[]) => records.toReversed(),
  mixed: (records: object[]) =>
    [0, 1, 2].flatMap((part) => records.filter((_, index) => (index * 7) % 3 === part)),
};

describe('more missed uploads than may be kept in memory', () => {
  holds(
    'come in further passes, in order, each once',
    30,
    fc.asyncProperty(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 0, max: 300 }),
      fc.constantFrom(...(Object.keys(ORDERS) as (keyof typeof ORDERS)[])),
      fc.integer({ min: 300, max: 20_000 }),
      async (missed, before, order, limit) => {
        const answers = new Budget(limit);
        const budgets = Object.assign(new Budgets(), { answers });
        const subject = createSubject({}, { budgets, facts: new HistoryFacts() });
        const bodies = Array.from({ length: before + missed }, (_, index) => `body ${index}`);
        const all = bodies.map((body, index) => record(index + 1, body, time(index)));
        subject.has(...ORDERS[order](all.slice(0, before)));
        await subject.connect();
        subject.has(...ORDERS[order](all));
        await subject.connect();
        for (let turns = 0; subject.given.length < missed && turns < 20 * missed; turns++)
          await settled(5);
        assert.deepEqual(
          subject.given.map(([body]) => body),
          bodies.slice(before),
        );
        assert.equal(answers.used, 0);
        subject.recovery.close();
      },
    ),
  );
});

/** Milliseconds that this many uploads may take on a busy machine. */
const PATIENCE = 120_000;

describe('100,000 uploads missed in one outage', () => {
  it('arrive in order, each once, though only a quarter of them fits into memory', async function () {
    this.timeout(2 * PATIENCE);
    const missed = 100_000;
    let [came, disorder] = [0, 0];
    const answers = new Budget(6 * 1024 * 1024);
    const { recovery } = createSubject(
      {
        start: { id: '0' },
        listener: {
          onUpload: ({ id }) => (disorder += Number(id !== ++came)),
          onFault: () => undefined,
          onState: () => undefined,
          onGap: () => undefined,
        },
      },
      {
        budgets: Object.assign(new Budgets(), { answers }),
        // As the public server gives it: newest first.
        read: (_chipid, _signal, onRecord) => {
          for (let id = missed; id > 0; id--) onRecord(record(id, `body ${id}`));
          return Promise.resolve({ records: missed, bytes: 0, isWhole: true });
        },
      },
    );
    recovery.onState('connected');
    await until(() => came >= missed, 'all have come', PATIENCE);
    assert.deepEqual([came, disorder], [missed, 0]);
    recovery.close();
  });
});

describe('a history of a year', () => {
  const year = Array.from({ length: 20_000 }, (_, index) =>
    record(index + 1, `body ${index}`, time((index - 20_200) * 90)),
  );

  for (const order of ['oldest-first', 'newest-first', 'mixed'] as const)
    it(`is read no further than needed, and nothing is missed (${order})`, async () => {
      let taken = 0;
      let history: object[] = [];
      const subject = createSubject(
        {},
        {
          read: (_chipid, _signal, onRecord) => {
            taken = 0;
            for (const each of history) {
              taken++;
              if (onRecord(each) === false) break;
            }
            return Promise.resolve({ records: taken, bytes: 0, isWhole: taken === history.length });
          },
        },
      );
      history = ORDERS[order](year);
      await subject.connect();
      for (const body of ['live 1', 'live 2']) subject.live(body);
      const next = ['live 1', 'live 2', 'missed 1', 'missed 2'].map((body, index) =>
        record(year.length + index + 1, body, time(index - 10_000)),
      );
      history = ORDERS[order]([...year, ...next]);
      await subject.connect();
      assert.deepEqual(
        subject.given.slice(2).map(([body]) => body),
        ['missed 1', 'missed 2'],
      );
      assert.equal(taken < 300, order === 'newest-first', `${taken} records`);
    });

  describe('whose length is announced', () => {
    const size = (each: object): number => JSON.stringify(each).length + 1;
    const lengthOf = (records: readonly object[]): number =>
      records.reduce((sum, each) => sum + size(each), 0) + 1;

    /** A device whose history is read newest first, in the order of times. */
    function announcing() {
      let history: object[] = year.toReversed();
      let taken = 0;
      const subject = createSubject(
        {},
        {
          read: (_chipid, _signal, onRecord) => {
            taken = 0;
            const length = lengthOf(history);
            for (const each of history) {
              taken++;
              if (onRecord(each, size(each), length) === false) break;
            }
            return Promise.resolve({ records: taken, bytes: 0, isWhole: taken === history.length });
          },
        },
      );
      const has = (records: object[]): void => {
        history = records;
      };
      return { subject, has, taken: () => taken };
    }
    const at = (id: number, body: string, place: number): object => record(id, body, time(place));
    const newer = at(20_001, 'live', 100);
    const lost = [at(20_003, 'missed 1', 300), at(20_004, 'missed 2', 301)];

    for (const depth of [400, 5000, 20_000])
      it(`gives what lies ${depth} records deep, and is not read in vain afterwards`, async () => {
        const { subject, has, taken } = announcing();
        await subject.connect();
        subject.live('live');
        const deep = at(20_002, 'kept for long', -1_000_000);
        const before = [newer, ...year.toReversed()].toSpliced(depth, 0, deep);
        const all = [...lost.toReversed(), ...before];
        has(all);
        await subject.connect();
        assert.deepEqual(subject.given.slice(1), [
          ['kept for long', 20_002],
          ['missed 1', 20_003],
          ['missed 2', 20_004],
        ]);
        has([at(20_005, 'missed 3', 400), ...all]);
        await subject.connect();
        assert.deepEqual(subject.given.slice(4), [['missed 3', 20_005]]);
        assert.ok(taken() < 300, `${taken()} records`);
        assert.deepEqual(subject.faults, []);
      });

    it('is known after a restart', async () => {
      const first = announcing();
      await first.subject.connect();
      const start = first.subject.position();
      assert.deepEqual(start?.size, [0, lengthOf(year)]);
      assert.equal(isPosition(start), true);
    });

    it('shows nothing if records are gone: it is read no further all the same', async () => {
      const { subject, has, taken } = announcing();
      await subject.connect();
      for (const gone of [10, 20]) {
        has([...lost.toReversed(), ...year.toReversed().slice(0, -gone)]);
        await subject.connect();
        assert.ok(taken() < 300, `${taken()} records`);
      }
      assert.deepEqual(
        subject.given.map(([body]) => body),
        ['missed 1', 'missed 2'],
      );
      assert.deepEqual(subject.faults, []);
    });
  });

  for (const tag of ['', 't,'])
    it(`is read until it has shown all arrivals, ${tag ? 'tagged' : 'as text'}, if a clock is wrong`, async () => {
      let history = year.toReversed();
      const subject = createSubject(
        {},
        {
          read: (_chipid, _signal, onRecord) => {
            const isWhole = history.every((each) => onRecord(each) !== false);
            return Promise.resolve({ records: 0, bytes: 0, isWhole });
          },
        },
      );
      await subject.connect();
      for (const body of ['1', '2', '3', '4']) subject.live(`${tag}live ${body}`);
      const live = ['1', '2', '3', '4'].map((body, index) =>
        record(year.length + 1 + index, `live ${body}`, time(-9000 + index)),
      );
      const missed = record(year.length + 5, 'missed', time(100));
      history = [missed, ...year.toReversed().toSpliced(5000, 0, ...live.toReversed())];
      await subject.connect();
      assert.deepEqual(
        subject.given.slice(4).map(([body]) => body),
        ['missed'],
      );
      assert.deepEqual(subject.kinds(), tag ? ['writing tagged'] : []);
    });

  it('is read to its end if a missed upload lies below an old one and no length is announced', async () => {
    let taken = 0;
    let history = year.toReversed();
    const subject = createSubject(
      {},
      {
        read: (_chipid, _signal, onRecord) => {
          taken = history.findIndex((each) => onRecord(each) === false);
          return Promise.resolve({ records: 0, bytes: 0, isWhole: taken < 0 });
        },
      },
    );
    await subject.connect();
    history = history
      .toSpliced(30, 0, record(20_001, 'kept 1', time(-33 * 90)))
      .toSpliced(9000, 0, record(20_002, 'kept 2', time(-9300 * 90)));
    await subject.connect();
    assert.equal(taken, -1);
    assert.deepEqual(
      subject.given.map(([body]) => body),
      ['kept 1', 'kept 2'],
    );
  });

  it('has what a device kept while it was away, under higher ids and with older times', async () => {
    let history: object[] = [];
    const subject = createSubject(
      {},
      {
        read: (_chipid, _signal, onRecord) => {
          for (const each of history) if (onRecord(each) === false) break;
          return Promise.resolve({ records: 0, bytes: 0, isWhole: false });
        },
      },
    );
    history = year.toReversed();
    await subject.connect();
    const away = -10_000;
    // The first upload after it is back is a new one; those that it had kept follow.
    const fresh = record(year.length + 1, 'fresh', time(away + 3000));
    const kept = Array.from({ length: 150 }, (_, index) =>
      record(year.length + 2 + index, `kept ${index}`, time(away + index * 15)),
    );
    subject.live('fresh');
    history = [fresh, ...kept.toReversed(), ...year.toReversed()];
    await subject.connect();
    assert.deepEqual(
      subject.given.slice(1).map(([body]) => body),
      kept.map((_, index) => `kept ${index}`),
    );
  });
});
