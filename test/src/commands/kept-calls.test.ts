import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeptCalls, type KeptCommands } from '../../../src/commands/kept-calls';
import { Journal } from '../../../src/state/journal';
import { WaitingStore, type Mark } from '../../../src/state/waiting-store';
import type { When } from '../../../src/types';
import { failure } from '../support/failure';
import { until } from '../../../tooling/until';
import { waitingWorld } from './waiting-world';

describe('a waiting command that is kept', () => {
  let folder: string;
  let isMine: boolean;
  let failures: string[];
  let open: Journal[];

  /** A process: its calls, and its devices. */
  async function start(retry = 10) {
    const options = { log: () => undefined, isMine: () => Promise.resolve(isMine) };
    const journal = await Journal.open(join(folder, 'commands.jsonl'), options);
    open.push(journal);
    const store = new WaitingStore(journal);
    const calls = new KeptCalls({
      store: () => Promise.resolve(store),
      failed: (error) => failures.push(String(error)),
      retry,
    });
    const world = waitingWorld();
    const wait = (kept: KeptCommands, expires = 3600, when: When = 'upload') =>
      kept.call.chipids.map((device) =>
        world.run(`${String(kept.call.what())}`, when, { device, expires, kept }),
      );
    const add = (what: string, chipids = ['1']) =>
      calls.add({ chipids, node: 'n', what: () => what });
    return { journal, store, calls, world, wait, add };
  }
  const messages = async (fates: ReturnType<Awaited<ReturnType<typeof start>>['wait']>) =>
    (await Promise.allSettled(fates.map(({ promise }) => promise))).map((end) =>
      end.status === 'rejected' ? (end.reason as Error).message : 'sent',
    );
  const names = (found: readonly KeptCommands[]) => found.map(({ call }) => call.what());

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'device-cloud-kept-'));
    isMine = true;
    failures = [];
    open = [];
  });
  afterEach(async () => {
    for (const journal of open) await journal.close();
    await rm(folder, { recursive: true });
  });

  it('counts as waiting only when it is written down, and is sent all the same if its device comes before', async () => {
    const { world, wait, add, journal } = await start();
    const [fate] = wait(add('a'));
    const listed = world.commands.list();
    assert.deepEqual([fate!.progress, journal.entries().length], [[], 0]);
    world.channels.upload('1');
    assert.deepEqual(listed, []);
    await until(() => world.started.length === 1, 'it is sent');
    assert.deepEqual(
      journal.entries().map(([key, value]) => [key.includes('/'), value === 'begun']),
      [
        [true, true],
        [false, false],
      ],
    );
    wait(add('b'));
    await until(() => world.commands.list().length === 1, 'the second waits');
    assert.equal(journal.entries().length, 3);
    world.close();
  });

  it('with `online` is written down although its device is listed: those behind one without an answer are not lost', async () => {
    const first = await start();
    first.world.list.online = ['1'];
    const fates = ['a', 'b', 'c'].flatMap((name) => first.wait(first.add(name), 3600, 'online'));
    await until(() => first.world.started.length === 1, 'one is under way');
    await first.journal.close();
    first.world.running.get('a')?.resolve('done');
    first.world.commands.close();
    first.world.queues.close();
    await Promise.allSettled(fates.map(({ promise }) => promise));
    const found = await (await start()).calls.take();
    assert.deepEqual(names(found), ['a', 'b', 'c']);
    assert.deepEqual(
      found.map(({ marks }) => marks.get('1')),
      ['begun', undefined, undefined],
    );
  });

  it('does not count as waiting before that either if one before it gets no answer', async () => {
    const { world, wait, add, store } = await start();
    let written!: () => void;
    const addNow = store.add.bind(store);
    store.add = async (...call) => {
      await new Promise<void>((resolve) => (written = resolve));
      return addNow(...call);
    };
    const now = world.run('now', 'now');
    const [fate] = wait(add('a'));
    world.channels.upload('1');
    await world.fail('now', 'TIMEOUT');
    await failure(now.promise, 'TIMEOUT');
    assert.ok(!fate!.progress.some(({ state }) => state === 'awaiting-device'));
    await until(() => written !== undefined, 'it is being written down');
    written();
    await until(() => fate!.progress.some(({ state }) => state === 'awaiting-device'), 'it waits');
    world.close();
  });

  it('comes back to the next process in its order, before later ones, and expires by the clock', async () => {
    const first = await start();
    for (const name of ['a', 'b']) first.wait(first.add(name));
    await until(() => first.journal.entries().length === 2, 'both are written down');
    const next = await start();
    const found = await next.calls.take();
    assert.deepEqual(names(found), ['a', 'b']);
    // A later one arrives, and the earlier ones come back in any order.
    next.wait(next.add('c'));
    for (const kept of found.toReversed()) next.wait(kept);
    await until(() => next.world.commands.list().length === 3, 'all wait');
    next.world.channels.upload('1');
    for (const name of ['a', 'b', 'c']) {
      await until(() => next.world.started.includes(name), `${name} is sent`);
      await next.world.answer(name);
    }
    assert.deepEqual(next.world.started, ['a', 'b', 'c']);

    const late = await start();
    const [again] = await late.calls.take();
    assert.ok(again?.wait);
    Object.assign(again.wait, { until: 0 });
    await failure(late.wait(again)[0]!.promise, 'EXPIRED');
    first.world.close();
    next.world.close();
  });

  it('has its marks in the next process: what has begun, what was cancelled, what has ended', async () => {
    const { world, wait, add, journal } = await start();
    const kept = add('many', ['1', '2', '3', '4']);
    const fates = wait(kept);
    await until(() => world.commands.list().length === 4, 'all wait');
    world.channels.upload('1');
    await until(() => world.started.length === 1, 'one has begun');
    assert.equal(await world.commands.cancel({ chipids: ['2'] }), 1);
    kept.end('3', { ok: true });
    await until(() => journal.entries().length === 4, 'all marks are written down');
    await failure(fates[1]!.promise, 'CANCELLED');
    await open[0]!.close();
    const [found] = await (await start()).calls.take();
    assert.deepEqual([...(found?.marks ?? [])].sort(), [
      ['1', 'begun'],
      ['2', 'cancelled'],
      ['3', { ended: { ok: true } }],
    ] satisfies [string, Mark][]);
    world.close();
  });

  it('leaves nothing when its call has ended, and nothing if it never had to wait', async () => {
    const { world, wait, add, journal } = await start();
    const kept = add('a', ['1', '2']);
    wait(kept);
    await until(() => journal.entries().length === 1, 'it is written down');
    await world.commands.cancel({ all: true });
    await kept.close();
    await add('never').close();
    assert.equal(journal.entries().length, 0);
  });

  it('is let go of, and taken by another caller; one that has begun is not', async () => {
    const { world, wait, add, journal } = await start();
    const [begun, waiting] = [add('begun'), add('waiting', ['2'])];
    wait(begun);
    wait(waiting);
    await until(() => journal.entries().length === 2, 'both are written down');
    world.channels.upload('1');
    await until(() => world.started.length === 1, 'one has begun');
    const all = [begun, waiting, add('new')];
    for (const each of all) each.detach();
    assert.deepEqual(
      all.map(({ isDetached }) => isDetached),
      [false, true, false],
    );
    world.close();
  });

  it('is given up, and sent, if its beginning cannot be written: no other process finds it before it can be', async () => {
    const { world, wait, add, store, journal } = await start();
    const ended = add('a');
    wait(ended);
    wait(add('b', ['2']));
    const waiting = add('c', ['3']);
    const changes: boolean[] = [];
    waiting.onChange = () => changes.push(waiting.isKept);
    wait(waiting);
    await until(() => world.commands.list().length === 3, 'all wait');
    const { mark, add: write } = store;
    const full = (): Promise<never> => Promise.reject(new Error('ENOSPC'));
    Object.assign(store, { mark: full, add: full });
    world.channels.upload('1');
    world.channels.upload('2');
    await until(() => world.started.length === 2, 'both are sent');
    await until(() => failures.length > 1, 'it was tried again');
    assert.deepEqual(new Set(failures), new Set(['Error: ENOSPC']));
    assert.deepEqual(await (await start()).calls.take(), []);
    await ended.close();
    Object.assign(store, { mark, add: write });
    await until(() => journal.entries().length === 3, 'two calls and a mark are there again');
    const found = await (await start()).calls.take();
    assert.deepEqual(
      found.map(({ call, marks }) => [call.what(), ...marks]),
      [['b', ['2', 'begun']], ['c']],
    );
    assert.deepEqual(changes, [false, true]);
    world.close();
  });

  it('is not sent if another process has it by now', async () => {
    const { world, wait, add } = await start();
    const [fate] = wait(add('a'));
    await until(() => world.commands.list().length === 1, 'it waits');
    isMine = false;
    world.channels.upload('1');
    const { message } = await failure(fate!.promise, 'UNREACHABLE');
    assert.match(message, /Not sent/);
    assert.deepEqual(world.started, []);
    world.close();
  });

  it('of several devices that cannot be kept names its own device', async () => {
    const { world, wait, add, store } = await start();
    Object.defineProperty(store, 'bytes', { value: Infinity });
    const [first, second] = await messages(wait(add('a', ['1', '2'])));
    assert.match(first!, /^QUEUE_FULL: .* The command to device 1 never began\.$/);
    assert.match(second!, /^QUEUE_FULL: .* The command to device 2 never began\.$/);
    world.close();
  });

  it('waits without being kept if nothing can be written', async () => {
    isMine = false;
    const { world, wait, add } = await start(60_000);
    const kept = add('a');
    const [fate] = wait(kept);
    await until(() => fate!.progress.length === 1, 'it waits');
    kept.detach();
    assert.deepEqual([kept.isKept, failures.length, kept.isDetached], [false, 1, false]);
    world.channels.upload('1');
    await until(() => world.started.length === 1, 'it is sent');
    world.close();
  });
});
