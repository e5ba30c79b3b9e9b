import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { KeptCalls } from '../../../src/commands/kept-calls';
import { Command } from '../../../src/commands/queue';
import { Turns } from '../../../src/commands/turns';
import type { Turn } from '../../../src/commands/waiting-list';
import { until } from '../../../tooling/until';

describe('the turns of commands that wait in several processes', () => {
  const calls = new KeptCalls({
    store: () => Promise.resolve(undefined),
    failed: (error) => assert.ifError(error),
  });
  afterEach(() => mock.restoreAll());

  it('come after those of calls that were taken over a moment ago and are not here yet', async () => {
    const [taken, own] = [1, 2].map(() => {
      const kept = calls.add({ chipids: ['1'], node: 'n', what: () => 1 });
      const command = new Command('1', () => Promise.resolve(), {});
      const wait = { when: 'upload' as const, expires: 60, replace: false, path: 'dev/push/' };
      return {
        ...{ command, isSaved: true, wait: { ...wait, origin: { kept } } },
        get isWaiting() {
          return !sent.includes(kept.id);
        },
        kept,
      };
    });
    assert.ok(taken && own);
    const sent: string[] = [];
    const device = { chipid: '1', all: [own], lostAt: 0 };
    let looks = 0;
    const now = performance.now.bind(performance);
    let later = 0;
    mock.method(performance, 'now', () => now() + later);
    const turn = (): Promise<Turn> => {
      looks++;
      // The first look takes as long as the calls are being taken over.
      later = 10_000;
      const ids = [taken, own].filter(({ isWaiting }) => isWaiting).map(({ kept }) => kept.id);
      return Promise.resolve({ ids, other: 'none' });
    };
    const add = (command: Command): void => {
      sent.push((command === own.command ? own : taken).kept.id);
    };
    const turns = new Turns<typeof own>({ others: { turn }, add, save: () => Promise.resolve() });
    turns.release(device, false);
    await until(() => looks > 2, 'it has looked again');
    assert.deepEqual(sent, []);
    device.all.unshift(taken);
    await until(() => sent.length === 2, 'both are sent');
    assert.deepEqual(sent, [taken.kept.id, own.kept.id]);
    turns.close();
  });

  it('come for many devices at once, without a warning of Node.js', async () => {
    const warnings = mock.method(process, 'emitWarning', () => undefined);
    let looks = 0;
    const turn = (): Promise<Turn> => {
      looks++;
      return Promise.resolve({ ids: [], other: 'begun' });
    };
    const turns = new Turns({
      others: { turn },
      add: () => undefined,
      save: () => Promise.resolve(),
    });
    const command = new Command('1', () => Promise.resolve(), {});
    const kept = calls.add({ chipids: ['1'], node: 'n', what: () => 1 });
    const wait = {
      when: 'upload' as const,
      expires: 60,
      replace: false,
      path: '',
      origin: { kept },
    };
    const all = [{ command, wait, isWaiting: true, isSaved: true }];
    for (let n = 0; n < 20; n++) turns.release({ chipid: String(n), all, lostAt: 0 }, false);
    await until(() => looks > 60, 'all have been looked at and wait');
    turns.close();
    assert.equal(warnings.mock.callCount(), 0);
  });
});
