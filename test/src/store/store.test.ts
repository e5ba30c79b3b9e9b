import assert from 'node:assert/strict';
import { Store } from '../../../src/store/store';
import { pass, useClock } from '../../support/clock';
import { manual } from '../support/manual';
import { MemoryPort } from '../../support/memory-store';

describe('the store', () => {
  useClock();
  let port: MemoryPort;
  let store: Store;
  beforeEach(() => {
    port = new MemoryPort();
    store = new Store(port);
  });
  const broken = new Error('EMFILE: too many open files');

  it('has entries at once, lists them by what their keys begin with, and writes those that somebody waits for', async () => {
    const writing = store.set('pin:1:5', { wanted: 1 });
    void store.set('pin:10:5', { wanted: 0 });
    assert.deepEqual(store.get('pin:1:5'), { wanted: 1 });
    assert.deepEqual(store.list('pin:1:'), [['pin:1:5', { wanted: 1 }]]);
    assert.equal(store.isWritten('pin:1:5'), false);
    assert.equal(await writing, true);
    assert.deepEqual([...port.kept.keys()], ['pin:1:5', 'pin:10:5']);
    assert.equal(await store.set('pin:1:5', undefined), true);
    assert.deepEqual([store.get('pin:1:5'), port.kept.size], [undefined, 1]);
    assert.equal(store.isWritten('pin:1:5'), true);
    assert.throws(() => store.get('other:1'), /no kind of entries/);
  });

  for (const [count, pace] of [
    [1, 1000],
    [600, 5000],
  ] as const)
    it(`writes ${count} that nobody waits for every ${pace} ms at most`, async () => {
      for (let n = 0; n < count; n++) await store.set(`position:a:${n}`, 0);
      store.update('position:a:0', 1);
      await pass(100);
      store.update('position:a:0', { toJSON: () => pace });
      await pass(pace - 200);
      assert.equal(port.kept.get('position:a:0'), '0');
      await pass(100);
      assert.equal(port.kept.get('position:a:0'), String(pace));
    });

  it('does not let what somebody waits for wait behind positions that take long to write', async () => {
    const write = port.write.bind(port);
    const slow = manual<boolean>();
    port.write = (unit, changes) => (unit === 'position' ? slow.promise : write(unit, changes));
    const position = store.set('position:a:1', 1);
    assert.equal(await store.set('command:1:x', {}), true);
    assert.equal(await store.set('pin:1:5', 1), true);
    assert.equal(store.isWritten('position:a:1'), false);
    slow.resolve(true);
    assert.equal(await position, true);
  });

  it('lets what is newer win over what it reads, removals too', async () => {
    port.kept.set('pin:1:1', '"old"').set('pin:1:2', '"old"').set('pin:1:3', '"old"');
    store.update('pin:1:1', 'new');
    store.update('pin:1:2', undefined);
    await store.loaded;
    assert.deepEqual(
      store.list('pin:').map(([key, value]) => [key, value]),
      [
        ['pin:1:1', 'new'],
        ['pin:1:3', 'old'],
      ],
    );
    await pass(1000);
    assert.deepEqual([...port.kept.keys()], ['pin:1:1', 'pin:1:3']);
  });

  it('tries again what fails, as it is by then, and says so meanwhile', async () => {
    await store.loaded;
    const problems: unknown[] = [];
    store.onProblem.add(() => problems.push(store.problem));
    port.failure = broken;
    const first = store.set('pin:1:1', 1);
    assert.equal(await first, false);
    store.update('pin:1:2', 2);
    assert.equal(
      await Promise.race([store.set('pin:1:1', 3), pass(3000).then(() => false)]),
      false,
    );
    assert.deepEqual([problems, store.isWritten('pin:1:1')], [[broken.message], false]);
    port.failure = undefined;
    await pass(1000);
    assert.deepEqual(
      [...port.kept],
      [
        ['pin:1:1', '3'],
        ['pin:1:2', '2'],
      ],
    );
    assert.deepEqual([problems, store.isWritten('pin:1:1')], [[broken.message, undefined], true]);
  });

  it('reads once that is possible: nothing is written before', async () => {
    port.kept.set('pin:1:1', '1');
    port.failure = broken;
    store.update('pin:1:2', 2);
    await pass(5000);
    assert.deepEqual([store.problem, store.get('pin:1:1')], [broken.message, undefined]);
    port.failure = undefined;
    await pass(1000);
    await store.loaded;
    assert.deepEqual([store.problem, store.get('pin:1:1'), port.kept.size], [undefined, 1, 2]);
  });

  it("has no entry any more that was refused, since it is another process's", async () => {
    await store.set('command:1:a', { n: 1 });
    port.refused.add('command:1:a');
    assert.equal(await store.set('command:1:a', { n: 2 }), false);
    assert.equal(store.get('command:1:a'), undefined);
    assert.equal(store.problem, undefined);
  });

  it('leaves what is there to the next one once it is closed', async () => {
    await store.close();
    port.kept.set('fact:history', '"newer"');
    store.update('fact:history', 'older');
    await pass(2000);
    assert.equal(port.kept.get('fact:history'), '"newer"');
  });

  it('writes what is left when it is closed, and gives up what cannot be written', async () => {
    store.update('position:a:1', 2);
    await store.close();
    assert.equal(port.kept.get('position:a:1'), '2');
    const next = new Store(port);
    port.failure = broken;
    next.update('position:a:1', 3);
    await next.close();
    port.failure = undefined;
    await pass(5000);
    assert.equal(port.kept.get('position:a:1'), '2');
  });
});
