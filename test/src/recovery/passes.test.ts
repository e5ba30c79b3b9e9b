import assert from 'node:assert/strict';
import fc from 'fast-check';
import { HistoryFacts } from '../../../src/recovery/facts';
import { Budget, Budgets } from '../../../src/recovery/limits';
import { settled, until } from '../../tooling/until';
import { isPosition } from '../../../src/recovery/position';
import { holds } from '../support/fuzz';
import { connected, createSubject, record } from './subject';

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
        await subject.reads(...ORDERS[order](all.slice(0, before)));
        await subject.reads(...ORDERS[order](all));
        for (let turns = 0; subject.given.length < missed && turns < 20 * missed; turns++)
          await settled(5);
        assert.deepEqual(subject.bodies(), bodies.slice(before));
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
        listener: { onUpload: ({ id }) => (disorder += Number(id !== ++came)) },
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

describe('a history that shows only its newest records, in answers that are ended', () => {
  it('is read before arrivals leave it, once that is seen', async () => {
    let newest = 1000;
    const read: number[] = [];
    const subject = await connected(
      [],
      {},
      {
        read: (_chipid, _signal, onRecord) => {
          read.push(newest);
          const ids = Array.from({ length: 600 }, (_, back) => newest - back);
          const end = ids.findIndex((id) => onRecord(record(id, `body ${id}`, time(id))) === false);
          return Promise.resolve({ records: ids.length, bytes: 0, isWhole: end < 0 });
        },
      },
    );
    while (newest < 8000) {
      subject.live(`body ${++newest}`);
      if (newest % 20 === 0) await settled();
    }
    const pauses = read
      .map((id, at) => id - (read[at - 1] ?? 0))
      .filter((_, at) => read[at]! > 4000);
    assert.ok(Math.max(...pauses) <= 470 && pauses.length <= 12, String(pauses));
    assert.deepEqual(subject.kinds(), []);
  });
});

describe('a history of a year', () => {
  const year = Array.from({ length: 20_000 }, (_, index) =>
    record(index + 1, `body ${index}`, time((index - 20_200) * 90)),
  );
  const size = (each: object): number => JSON.stringify(each).length + 1;
  const lengthOf = (records: readonly object[]): number =>
    records.reduce((sum, each) => sum + size(each), 0) + 1;

  /** A device whose history is the year, and how much of it a reading takes. */
  async function begin(order: keyof typeof ORDERS = 'newest-first', isAnnounced = false) {
    let history = ORDERS[order](year);
    let taken = 0;
    const subject = await connected(
      [],
      {},
      {
        read: (_chipid, _signal, onRecord) => {
          const length = isAnnounced ? lengthOf(history) : undefined;
          const end = history.findIndex(
            (each) => onRecord(each, isAnnounced ? size(each) : undefined, length) === false,
          );
          taken = end < 0 ? history.length : end + 1;
          return Promise.resolve({ records: taken, bytes: 0, isWhole: end < 0 });
        },
      },
    );
    /** Reads another one, and returns what has come since: bodies. */
    const reads = async (records: object[]): Promise<string[]> => {
      const before = subject.given.length;
      history = records;
      await subject.connect();
      return subject.given.slice(before).map(([body]) => body);
    };
    return { subject, reads, taken: () => taken };
  }

  for (const order of ['oldest-first', 'newest-first', 'mixed'] as const)
    it(`is read no further than needed, and nothing is missed (${order})`, async () => {
      const { subject, reads, taken } = await begin(order);
      for (const body of ['live 1', 'live 2']) subject.live(body);
      const next = ['live 1', 'live 2', 'missed 1', 'missed 2'].map((body, index) =>
        record(year.length + index + 1, body, time(index - 10_000)),
      );
      assert.deepEqual(await reads(ORDERS[order]([...year, ...next])), ['missed 1', 'missed 2']);
      assert.equal(taken() < 300, order === 'newest-first', `${taken()} records`);
    });

  describe('whose length is announced', () => {
    const at = (id: number, body: string, place: number): object => record(id, body, time(place));
    const newer = at(20_001, 'live', 100);
    const lost = [at(20_003, 'missed 1', 300), at(20_004, 'missed 2', 301)];

    for (const depth of [400, 5000, 20_000])
      it(`gives what lies ${depth} records deep, and is not read in vain afterwards`, async () => {
        const { subject, reads, taken } = await begin('newest-first', true);
        subject.live('live');
        const deep = at(20_002, 'kept for long', -1_000_000);
        const before = [newer, ...year.toReversed()].toSpliced(depth, 0, deep);
        const all = [...lost.toReversed(), ...before];
        assert.deepEqual(await reads(all), ['kept for long', 'missed 1', 'missed 2']);
        assert.deepEqual(await reads([at(20_005, 'missed 3', 400), ...all]), ['missed 3']);
        const ids = subject.given.slice(1).map(([, id]) => id);
        assert.deepEqual(ids, [20_002, 20_003, 20_004, 20_005]);
        assert.ok(taken() < 300, `${taken()} records`);
        assert.deepEqual(subject.faults, []);
      });

    it('is known after a restart', async () => {
      const { subject } = await begin('newest-first', true);
      const start = subject.position();
      assert.deepEqual(start?.size, [0, lengthOf(year)]);
      assert.equal(isPosition(start), true);
    });

    it('shows nothing if records are gone: it is read no further all the same', async () => {
      const { subject, reads, taken } = await begin('newest-first', true);
      for (const [gone, missed] of [
        [10, ['missed 1', 'missed 2']],
        [20, []],
      ] as const) {
        const left = [...lost.toReversed(), ...year.toReversed().slice(0, -gone)];
        assert.deepEqual(await reads(left), missed);
        assert.ok(taken() < 300, `${taken()} records`);
      }
      assert.deepEqual(subject.faults, []);
    });
  });

  for (const tag of ['', 't,'])
    it(`is read until it has shown all arrivals, ${tag ? 'tagged' : 'as text'}, if a clock is wrong`, async () => {
      const { subject, reads } = await begin();
      const places = [1, 2, 3, 4];
      for (const place of places) subject.live(`${tag}live ${place}`);
      const live = places.map((place) =>
        record(year.length + place, `live ${place}`, time(place - 9001)),
      );
      const missed = record(year.length + 5, 'missed', time(100));
      const all = [missed, ...year.toReversed().toSpliced(5000, 0, ...live.toReversed())];
      assert.deepEqual(await reads(all), ['missed']);
      assert.deepEqual(subject.kinds(), tag ? ['writing tagged'] : []);
    });

  it('is read to its end if a missed upload lies below an old one and no length is announced', async () => {
    const { reads, taken } = await begin();
    const all = year
      .toReversed()
      .toSpliced(30, 0, record(20_001, 'kept 1', time(-33 * 90)))
      .toSpliced(9000, 0, record(20_002, 'kept 2', time(-9300 * 90)));
    assert.deepEqual(await reads(all), ['kept 1', 'kept 2']);
    assert.equal(taken(), all.length);
  });

  it('has what a device kept while it was away, under higher ids and with older times', async () => {
    const { subject, reads } = await begin();
    const away = -10_000;
    // The first upload after it is back is a new one; those that it had kept follow.
    const fresh = record(year.length + 1, 'fresh', time(away + 3000));
    const kept = Array.from({ length: 150 }, (_, index) =>
      record(year.length + 2 + index, `kept ${index}`, time(away + index * 15)),
    );
    subject.live('fresh');
    assert.deepEqual(
      await reads([fresh, ...kept.toReversed(), ...year.toReversed()]),
      kept.map((_, index) => `kept ${index}`),
    );
  });
});
