import assert from 'node:assert/strict';
import { partitionOf, PARTITIONS, slotOf, SLOTS } from '../../../src/cluster/slots';
import type {
  BeatReply,
  BeatRequest,
  Share,
  FencedEntry,
  Holding,
  NewCall,
  Store,
} from '../../../src/cluster/store';
import { settled, until } from '../../../tooling/until';

/** A store under test, of an application that has none of the others' content. */
export interface Subject {
  store: Store;
  /** Empties the engine. */
  wipe(): Promise<void>;
}

/** A member that beats by hand. */
class Hand {
  number = 0;
  incarnation: string | undefined;

  constructor(
    private readonly store: Store,
    readonly member: string,
    private readonly claims: readonly Share[] = ['devices'],
  ) {}

  async try(request: Partial<BeatRequest> = {}): Promise<BeatReply | undefined> {
    const reply = await this.store.beat({
      ...{ member: this.member, beat: ++this.number, claims: this.claims, generation: 'g1' },
      lease: 5000,
      ...{ holdings: [], release: [], dead: [], settled: undefined, ...request },
    });
    this.incarnation = reply?.incarnation ?? this.incarnation;
    return reply;
  }

  async beat(request: Partial<BeatRequest> = {}): Promise<BeatReply> {
    const reply = await this.try(request);
    assert.ok(reply, 'the beat is answered');
    return reply;
  }

  /** Beats until the store counts as settled, which gives it slots. */
  async settle(): Promise<BeatReply> {
    await this.beat();
    return this.beat({ settled: this.incarnation });
  }
}

const numbers = (reply: BeatReply): number[] => reply.mine.map(({ slot }) => slot);

/** What every store does. */
export function storeContract(open: () => Subject | Promise<Subject>): void {
  let subject: Subject;
  let store: Store;
  let a: Hand;
  let b: Hand;

  beforeEach(async () => {
    subject = await open();
    ({ store } = subject);
    a = new Hand(store, 'a');
    b = new Hand(store, 'b');
  });

  /** An entry of a device whose slot the reply gives to the member. */
  const entryOf = (
    reply: BeatReply,
    chipid: string,
    sequence: number,
    more: Partial<FencedEntry> = {},
  ): FencedEntry => {
    const held = reply.mine.find(({ slot }) => slot === slotOf(chipid));
    assert.ok(held, `it holds the slot of ${chipid}`);
    return { ...held, chipid, sequence, position: `p${sequence}`, ...more };
  };

  it('assigns nothing before a member has observed it for long enough, then everything', async () => {
    const first = await a.beat();
    assert.deepEqual([first.isSettled, first.mine], [false, []]);
    const { isSettled, mine } = await a.beat({ settled: first.incarnation });
    assert.deepEqual([isSettled, mine.length], [true, 256]);
    assert.equal(new Set(mine.map(({ epoch }) => epoch)).size, 256);
  });

  it('shares the slots evenly: those above a share are released, and then claimed', async () => {
    const { mine } = await a.settle();
    assert.deepEqual((await b.beat()).mine, []);
    const { surplus, members } = await a.beat({ holdings: mine });
    assert.deepEqual(surplus, { devices: 128, queue: 0 });
    assert.deepEqual(members.map(({ member }) => member).sort(), ['a', 'b']);
    await a.beat({ release: mine.slice(0, 128) });
    const after = await b.beat();
    assert.deepEqual(numbers(after), numbers({ ...after, mine: mine.slice(0, 128) }));
    const top = Math.max(...mine.map(({ epoch }) => epoch));
    assert.ok(
      after.mine.every(({ epoch }) => epoch > top),
      'each claim has a new epoch',
    );
  });

  it('shares the queue only among members that work on it', async () => {
    const worker = new Hand(store, 'w', ['devices', 'queue']);
    await a.settle();
    const { mine } = await worker.beat();
    assert.deepEqual(
      mine.map(({ slot }) => slot),
      Array.from({ length: 64 }, (_, partition) => 256 + partition),
    );
  });

  it('leaves no process without a share while there are enough, and gives none two more than another', async () => {
    const hands: Hand[] = [];
    const held = new Map<Hand, BeatReply>();
    const surplus = async (hand: Hand): Promise<number> => {
      const mine = held.get(hand)?.mine ?? [];
      const reply = await hand.beat({ holdings: mine });
      held.set(hand, reply);
      const { devices, queue } = reply.surplus;
      const inPool = (isQueue: boolean, count: number): Holding[] =>
        count === 0 ? [] : reply.mine.filter(({ slot }) => slot >= SLOTS === isQueue).slice(-count);
      const release = [...inPool(false, devices), ...inPool(true, queue)];
      if (release.length > 0) held.set(hand, await hand.beat({ holdings: reply.mine, release }));
      return release.length;
    };
    for (const count of [5, 30]) {
      while (hands.length < count)
        hands.push(new Hand(store, `${hands.length}`, ['devices', 'queue']));
      await hands[0]!.settle();
      // Whoever joins is known to the others one round later.
      for (let still = 0; still < 2; still++)
        for (const hand of hands) if ((await surplus(hand)) > 0) still = -1;
      for (const [isQueue, all] of [
        [false, SLOTS],
        [true, PARTITIONS],
      ] as const) {
        const shares = hands.map(
          (hand) => held.get(hand)!.mine.filter(({ slot }) => slot >= SLOTS === isQueue).length,
        );
        assert.equal(Math.min(...shares), Math.floor(all / count));
        assert.equal(Math.max(...shares), Math.ceil(all / count));
        assert.equal(
          shares.reduce((sum, share) => sum + share),
          all,
        );
      }
    }
  });

  it('shares devices that no member claims among those that claim spare ones', async () => {
    const [one, two] = ['one', 'two'].map((name) => new Hand(store, name, ['spare devices']));
    assert.ok(one && two);
    const { mine } = await one.settle();
    assert.equal(mine.length, 256);
    await two.beat();
    assert.equal((await one.beat({ holdings: mine })).surplus.devices, 128);
    assert.deepEqual((await a.beat()).mine, []);
    assert.equal((await one.beat({ holdings: mine })).surplus.devices, 256);
    await one.beat({ release: mine });
    assert.deepEqual((await two.beat()).mine, []);
    assert.equal((await a.beat()).mine.length, 256);
  });

  it('removes a member whose lease is longer than any can be', async () => {
    await a.settle();
    await b.beat({ lease: 97_200_000 });
    const { members, surplus } = await a.beat();
    assert.deepEqual(
      members.map(({ member }) => member),
      ['a'],
    );
    assert.equal(surplus.devices, 0);
  });

  it('releases a slot only under the epoch of its claim', async () => {
    const { mine } = await a.settle();
    const old = mine.map(({ slot, epoch }) => ({ slot, epoch: epoch - 1 }));
    assert.equal((await a.beat({ release: old })).mine.length, 256);
  });

  it('ignores a beat that arrives after a later one, or from a member that has left', async () => {
    await a.settle();
    a.number = 1;
    assert.equal(await a.try(), undefined);
    await store.leave('a');
    a.number = 10;
    assert.equal(await a.try(), undefined);
    assert.equal((await b.beat()).mine.length, 256, 'what it left is free at once');
  });

  it('removes a dead member, unless it has sent a beat since', async () => {
    const { mine } = await a.settle();
    const before = await b.beat();
    const dead = before.members.filter(({ member }) => member === 'a');
    await a.beat({ holdings: mine });
    assert.equal((await b.beat({ dead })).members.length, 2);
    const { members } = await b.beat();
    const after = await b.beat({ dead: members.filter(({ member }) => member === 'a') });
    assert.equal(after.mine.length, 256);
  });

  it('restores after a loss what holders know, and removes and assigns nothing until then', async () => {
    const { mine, incarnation } = await a.settle();
    await subject.wipe();
    const lost = await a.beat({ holdings: mine, generation: 'g2', settled: incarnation });
    assert.notEqual(lost.incarnation, incarnation);
    assert.deepEqual([lost.isSettled, lost.mine.length, lost.behind.length], [false, 0, 256]);

    const [one, two] = mine;
    assert.ok(one && two);
    const entry = { chipid: '7', sequence: 3, position: 'p3' };
    assert.equal(await store.restore('a', one, [entry]), true);
    assert.deepEqual(await store.load(['7']), ['p3']);
    const older = { ...one, epoch: one.epoch - 1 };
    assert.equal(await store.restore('b', older, []), false, 'the higher epoch wins');
    const newer = { ...one, epoch: one.epoch + 1000 };
    assert.equal(await store.restore('b', newer, []), true);

    const now = await b.beat({ dead: [{ member: 'a', beat: a.number }] });
    assert.deepEqual([now.mine, now.members.length], [[newer], 2]);
    const settled = await b.beat({ settled: now.incarnation });
    assert.ok(settled.mine.every(({ slot, epoch }) => slot === one.slot || epoch > newer.epoch));
    assert.equal(await store.restore('a', { ...two, epoch: 9999 }, []), false, 'it is too late');
    const late = await a.beat({ holdings: mine });
    assert.deepEqual([late.behind, late.mine.length], [[], 128]);
  });

  it('writes a position only under the epoch of its slot', async () => {
    const reply = await a.settle();
    const entry = entryOf(reply, '7', 1);
    const outcomes = await store.save('a', [
      entry,
      { ...entry, chipid: '8', epoch: entry.epoch - 1 },
      { ...entry, chipid: '9', epoch: entry.epoch + 1 },
    ]);
    assert.deepEqual(outcomes, ['saved', 'fenced', 'behind']);
    assert.deepEqual(await store.save('b', [entry]), ['fenced']);
    assert.deepEqual(await store.load(['7', '8', '9']), ['p1', undefined, undefined]);
    await subject.wipe();
    assert.deepEqual(await store.save('a', [entry]), ['behind']);
  });

  it('keeps the later of two writes of a member, whichever arrives first', async () => {
    const reply = await a.settle();
    await store.save('a', [entryOf(reply, '7', 2)]);
    await store.save('a', [
      entryOf(reply, '7', 1),
      entryOf(reply, '8', 3, { position: '5 6 "€\n' }),
    ]);
    assert.deepEqual(await store.load(['7', '8']), ['p2', '5 6 "€\n']);
    const written = [1, 2, 3].map((sequence) => entryOf(reply, '7', sequence));
    const other = { ...entryOf(reply, '8', 1), epoch: 9999 };
    assert.deepEqual(await store.arrived([...written, other]), [true, true, false, false]);
  });

  it('appends an upload with its position once, even if it is written several times', async () => {
    const reply = await a.settle();
    const first = entryOf(reply, '7', 1, { upload: '{"a":"é"}' });
    await store.save('a', [first]);
    await store.save('a', [first, entryOf(reply, '7', 2, { upload: 'two' })]);
    assert.deepEqual(await store.save('b', [entryOf(reply, '7', 3, { upload: 'no' })]), ['fenced']);
    assert.deepEqual(await store.queueState(), { length: 2, deadLetters: 0 });
    const { upload: one } = await store.claim('7', 'x', 5);
    assert.equal(one?.text, '{"a":"é"}');
    assert.deepEqual(
      [await store.acknowledge('7', one.id), await store.acknowledge('7', one.id)],
      [1, undefined],
    );
    const { upload: two } = await store.claim('7', 'y', 5);
    assert.deepEqual([two?.text, two?.attempts], ['two', 1]);
    assert.equal(await store.acknowledge('7', two!.id), 0);
    assert.deepEqual(await store.claim('7', 'z', 5), { upload: undefined, isBuried: false });
    assert.deepEqual(await store.queueState(), { length: 0, deadLetters: 0 });
    assert.deepEqual(await store.waiting([partitionOf('7')]), []);
  });

  it('counts how often an upload is claimed, and makes it a dead letter after that', async () => {
    const reply = await a.settle();
    await store.save('a', [
      entryOf(reply, '7', 1, { upload: 'one' }),
      entryOf(reply, '7', 2, { upload: 'two' }),
      entryOf(reply, '8', 3, { upload: 'x'.repeat(1_000_000) }),
      entryOf(reply, '9', 4),
    ]);
    const claims = async (...names: string[]): Promise<unknown[]> => {
      const found: unknown[] = [];
      for (const name of names) {
        const { upload, isBuried } = await store.claim('7', name, 2);
        found.push([upload?.text, upload?.attempts, isBuried]);
      }
      return found;
    };
    // A claim whose answer got lost is repeated.
    assert.deepEqual(await claims('a', 'a', 'b'), [
      ['one', 1, false],
      ['one', 1, false],
      ['one', 2, false],
    ]);
    const partitions = ['7', '8'].map(partitionOf);
    const waiting = await store.waiting([...partitions, partitionOf('9')]);
    assert.deepEqual(
      waiting.sort((one, other) => Number(one.chipid) - Number(other.chipid)),
      [
        { chipid: '7', attempts: 2 },
        { chipid: '8', attempts: 0 },
      ],
    );
    assert.deepEqual(await claims('b', 'c', 'd'), [
      ['one', 2, false],
      ['two', 1, true],
      ['two', 2, false],
    ]);
    assert.deepEqual(await store.queueState(), { length: 2, deadLetters: 1 });
    const large = await store.claim('8', 'e', 2);
    assert.deepEqual([large.upload?.text.length, large.upload?.attempts], [1_000_000, 1]);
  });

  const callOf = (id: string, more: Partial<NewCall> = {}): NewCall => ({
    ...{ id, text: `text of ${id}`, what: `{"of":"${id}"}`, isOnline: false },
    ...{ devices: [['7', '']], ...more },
  });

  it('keeps calls whose commands wait, in one order for all members, and each once', async () => {
    const { calls } = store;
    const two = [
      ['7', ''],
      ['8', '"begun"'],
      ['9', '{"ended":1}'],
    ] as const;
    assert.deepEqual(await calls.add('a', callOf('x', { devices: two }), 2), {
      order: 1,
      full: [],
    });
    assert.deepEqual(await calls.add('b', callOf('y', { isOnline: true }), 2), {
      order: 2,
      full: [],
    });
    assert.deepEqual(await calls.add('a', callOf('x'), 2), { order: 1, full: [] });
    assert.deepEqual(await calls.add('a', callOf('z'), 2), { order: 3, full: ['7'] });
    const listed = await calls.list();
    assert.deepEqual(
      listed.map(({ id, member, order, text }) => [id, member, order, text]).sort(),
      [
        ['x', 'a', 1, 'text of x'],
        ['y', 'b', 2, 'text of y'],
        ['z', 'a', 3, 'text of z'],
      ],
    );
    assert.ok(listed.every(({ age }) => age >= 0 && age < 60_000));
    assert.deepEqual((await calls.waiting()).get('7'), ['x', 'y']);
    assert.deepEqual((await calls.waiting()).get('8') ?? [], []);
    const read = await calls.read([
      { id: 'x', chipids: ['9', '8', '7'] },
      { id: 'none', chipids: ['7'] },
      { id: 'y', chipids: ['7'] },
    ]);
    assert.deepEqual(read, [
      {
        what: '{"of":"x"}',
        devices: [
          ['9', '{"ended":1}'],
          ['8', '"begun"'],
          ['7', ''],
        ],
      },
      undefined,
      { what: '{"of":"y"}', devices: [['7', '']] },
    ]);
    assert.equal(await calls.remove('b', 'x', ['7', '8', '9']), false);
    assert.equal((await calls.list()).length, 3, 'only its member removes it');
    assert.equal(await calls.remove('a', 'x', ['7', '8', '9']), true);
    assert.deepEqual(await calls.read([{ id: 'x', chipids: ['7'] }]), [undefined]);
    assert.deepEqual((await calls.waiting()).get('7'), ['y']);
    assert.equal(await calls.remove('b', 'y', ['7']), true);
    // Again, by a command that comes late.
    assert.equal((await calls.add('b', callOf('y'), 2)).order, 0);
    assert.equal((await calls.add('b', callOf('z'), 2)).order, 0, "another member's");
    assert.deepEqual((await calls.waiting()).get('7') ?? [], []);
    assert.deepEqual(
      (await calls.list()).map(({ id }) => id),
      ['z'],
    );
  });

  it('says whose turn it is at a device, until the call before has ended', async () => {
    const { calls } = store;
    await calls.add('a', callOf('x'), 9);
    await calls.add('b', callOf('y', { isOnline: true }), 9);
    await calls.add('a', callOf('z'), 9);
    // It may have forgotten calls that come first.
    assert.deepEqual(await calls.turn('a', '7', false), { ids: [], other: 'begun' });
    await a.settle();
    const turns = async () =>
      Promise.all([
        calls.turn('a', '7', false),
        calls.turn('b', '7', false),
        calls.turn('b', '7', true),
      ]);
    assert.deepEqual(await turns(), [
      { ids: ['x'], other: 'waits' },
      { ids: [], other: 'waits' },
      { ids: ['y'], other: 'none' },
    ]);
    assert.equal(await calls.mark('b', 'x', '7', '"begun"'), 'moved');
    assert.equal(await calls.mark('a', 'x', '7', '"begun"'), 'written');
    assert.deepEqual((await turns())[1], { ids: [], other: 'begun' });
    assert.equal(await calls.mark('b', 'x', '7', '"cancelled"'), 'late');
    assert.equal(await calls.mark('a', 'y', '7', '"cancelled"'), 'written');
    assert.equal(await calls.mark('b', 'y', '7', '"begun"'), 'cancelled');
    assert.equal(await calls.mark('a', 'x', '7', '{"ended":1}'), 'written');
    assert.deepEqual(await calls.turn('a', '7', false), { ids: ['z'], other: 'none' });
  });

  it('gives calls of members that are gone to the first that asks, once it has settled', async () => {
    const { calls } = store;
    await calls.add('gone', callOf('x'), 9);
    await calls.add('b', callOf('y'), 9);
    assert.deepEqual(await calls.adopt('a', ['x', 'y']), []);
    await a.settle();
    await b.beat();
    assert.deepEqual(await calls.adopt('a', ['x', 'y', 'unknown']), ['x']);
    assert.deepEqual(await calls.adopt('b', ['x']), []);
    assert.equal(await calls.mark('a', 'x', '7', '"begun"'), 'written');
  });

  it('says nothing of a command that it may have lost', async () => {
    const { calls } = store;
    await a.settle();
    await calls.add('a', callOf('x'), 9);
    await subject.wipe();
    await assert.rejects(calls.mark('a', 'x', '7', '"begun"'), { name: 'StoreError' });
    await a.settle();
    assert.equal(await calls.mark('a', 'x', '7', '"begun"'), 'moved');
  });

  it('has calls put back with their order and age after a loss', async () => {
    const { calls } = store;
    await subject.wipe();
    const before = { order: 5, age: 40_000 };
    await calls.add('a', callOf('z', { before: { ...before, order: 7 } }), 9);
    await calls.add('b', callOf('y', { before }), 9);
    assert.equal((await calls.add('b', callOf('w'), 9)).order, 8);
    assert.deepEqual((await calls.waiting()).get('7'), ['y', 'z', 'w']);
    const old = (await calls.list()).find(({ id }) => id === 'y');
    assert.ok(old && old.age >= 39_000);
  });

  it('counts the wishes for pins, and takes a state only of the newest wish', async () => {
    const { pins } = store;
    assert.equal(await pins.version(), 0);
    assert.equal(await pins.write('7', 5, 'one'), 1);
    assert.equal(await pins.write('7', 6, 'two'), 2);
    assert.equal(await pins.write('7', 5, 'state', { version: 1 }), 1);
    assert.equal(await pins.write('7', 5, 'newer'), 3);
    assert.equal(await pins.write('7', 5, 'late state', { version: 1 }), 0);
    assert.equal(await pins.write('7', 6, undefined), 4);
    assert.equal(await pins.write('7', 6, 'late state', { version: 2 }), 0);
    assert.equal(await pins.version(), 4);
    assert.equal(await pins.write('7', 5, undefined, { version: 1 }), 0);
    assert.equal(await pins.write('8', 5, 'other'), 5);
    assert.equal(await pins.write('8', 5, undefined, { version: 5 }), 6);
    assert.equal(await pins.version(), 6);
    const newer = { chipid: '7', pin: 5, version: 3, text: 'newer' };
    assert.deepEqual(await pins.list(), [newer]);
    await subject.wipe();
    assert.equal(await pins.write('7', 5, 'newer', { version: 3, isLost: true }), 3);
    assert.equal(await pins.write('7', 5, 'older', { version: 2, isLost: true }), 0);
    assert.deepEqual(await pins.list(), [newer]);
    assert.equal(await pins.version(), 3);
  });

  it('writes fields of a value beside those of others, and puts back only what nobody has changed', async () => {
    const { values } = store;
    const fields = async (names?: string[]): Promise<string[]> =>
      (await values.read('v', names)).map(
        ({ field, version, text }) => `${field} ${version} ${text}`,
      );
    const field = (name: string, text: string, version = 0) => ({ field: name, version, text });
    await values.write('v', 0, []);
    assert.deepEqual(await fields(), []);
    const first = await values.write('v', 0, [field('a', 'one'), field('/b', 'ä b')]);
    assert.deepEqual(first, { version: 1, forgets: false });
    assert.equal((await values.write('v', 1, [field('list/1', '')])).version, 2);
    assert.deepEqual((await fields()).sort(), ['/b 1 ä b', 'a 1 one', 'list/1 2 '].sort());
    assert.deepEqual(await fields(['/b', 'unknown']), ['/b 1 ä b']);
    assert.deepEqual(await fields([]), []);
    assert.deepEqual(await values.read('other'), []);
    await subject.wipe();
    // Another member has written meanwhile, and knows less.
    assert.equal((await values.write('v', 1, [field('a', 'two')])).version, 2);
    await values.write('v', 2, [field('a', 'one', 1), field('/b', 'b', 1), field('list/1', '', 2)]);
    assert.deepEqual((await fields()).sort(), ['/b 1 b', 'a 2 two', 'list/1 2 '].sort());
    assert.equal((await values.write('v', 9, [field('a', 'three')])).version, 10);
  });

  it('forgets the fields of a value that changed longest ago when there are too many', async () => {
    const { values } = store;
    const write = (first: number, count: number, more: string[] = []) => {
      const names = Array.from({ length: count }, (_, index) => `list/${first + index}`);
      const fields = [...more, ...names].map((field) => ({ field, version: 0, text: '[]' }));
      return values.write('v', 0, fields);
    };
    await write(0, 1, ['list', 'appid']);
    await write(1, 4999);
    await write(5000, 5000);
    await write(0, 1);
    assert.equal((await write(10_000, 400)).forgets, false);
    assert.equal((await write(10_400, 200)).forgets, true);
    const left = new Set((await values.read('v')).map(({ field }) => field));
    assert.equal(left.size, 10_002);
    for (const name of ['list', 'appid', 'list/0']) assert.ok(left.has(name), name);
    for (let n = 5000; n < 10_600; n++) assert.ok(left.has(`list/${n}`), `${n}`);
  });

  it('locks for one holder at a time, and unlocks only for that holder', async () => {
    assert.equal(await store.lock('7', 'mine', 60_000), 'unsettled');
    await a.settle();
    assert.equal(await store.lock('7', 'mine', 60_000), 'locked');
    assert.equal(await store.lock('7', 'mine', 60_000), 'locked', 'a repeated command');
    assert.equal(await store.lock('7', 'yours', 60_000), 'busy');
    assert.equal(await store.lock('8', 'yours', 1), 'locked');
    await store.unlock('7', 'yours');
    assert.equal(await store.lock('7', 'yours', 60_000), 'busy');
    await store.unlock('7', 'mine');
    assert.equal(await store.lock('7', 'yours', 60_000), 'locked');
    await until(async () => (await store.lock('8', 'mine', 60_000)) === 'locked');
  });

  it('lets a holder restore its lock after a loss, before new ones are granted', async () => {
    await a.settle();
    await store.lock('7', 'mine', 60_000);
    await subject.wipe();
    assert.equal(await store.lock('7', 'yours', 60_000), 'unsettled');
    assert.equal(await store.lock('7', 'mine', 60_000, true), 'locked');
    await a.settle();
    assert.equal(await store.lock('7', 'yours', 60_000), 'busy');
  });

  it('passes texts to all subscribers until they unsubscribe', async () => {
    const heard: string[] = [];
    const end = store.subscribe('t', (text) => heard.push(`1 ${text}`));
    store.subscribe('t', (text) => heard.push(`2 ${text}`));
    store.subscribe('other', (text) => heard.push(`3 ${text}`));
    // A subscription takes effect when the engine knows of it.
    await until(async () => {
      await store.publish('t', 'ä');
      await store.publish('other', 'ä');
      return heard.includes('3 ä') && heard.includes('1 ä');
    });
    end();
    await settled();
    heard.length = 0;
    await store.publish('t', 'z');
    await until(() => heard.includes('2 z'));
    assert.equal(heard.includes('1 z'), false);
  });

  it('describes its engine and its members', async () => {
    await a.beat();
    const { product, members, time } = await store.info();
    assert.ok(product !== '' && time > 0);
    assert.deepEqual(members, ['a']);
  });
}
