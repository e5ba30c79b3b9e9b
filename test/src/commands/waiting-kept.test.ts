import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { withOrigin } from '../../../src/commands/waiting-list';
import { SavedCalls, type SavedCall } from '../../../src/commands/saved-call';
import { DeviceCloudError } from '../../../src/errors';
import type { Simulator } from '../../../src/simulator';
import { Files } from '../../../src/store/files';
import { Store } from '../../../src/store/store';
import { temporaryFolder } from '../../tooling/temporary-folder';
import { until } from '../../tooling/until';
import { clientOf, simulator } from '../support/client';

const CHIPID = '10000001';
const HOUR = 3_600_000;

describe('a waiting command over a kill', () => {
  let cloud: Simulator;
  let path: string;
  /** Of commands. */
  const files = (): string[] =>
    readdirSync(path).filter((name) => /\.(waiting|begun)\./.test(name));
  /** How far the service's time is ahead of the real one, and this machine's. */
  let passed: number;
  let wrong: number;
  let ends: string[];
  let lastText = '';

  beforeEach(async () => {
    [passed, wrong, ends] = [0, 0, []];
    path = join(temporaryFolder('waiting'), 'app');
    cloud = await simulator({ offlineAfter: 100, now: () => Date.now() + passed });
    cloud.switchOff(CHIPID);
  });

  /** A process with its own store, on the same folder. */
  async function start() {
    const store = new Store(new Files(path, { of: () => 'one', log: assert.fail }));
    const now = (): number => Date.now() + passed + wrong;
    const client = clientOf(cloud.baseUrl, { store, now });
    const calls = new SavedCalls(store);
    await store.loaded;
    let isKilled = false;
    const note = (end: string): void => void (isKilled || ends.push(end));
    const send = async (call: SavedCall, expires = 20): Promise<void> => {
      const { end, isBegun } = call.of(CHIPID) ?? {};
      if (end && 'error' in end) note(end.error.code);
      else if (isBegun) note('UNCERTAIN');
      else {
        const options = { when: 'upload', expires: expires * 1000 } as const;
        const text = String(call.whatOf(CHIPID));
        await client.push(CHIPID, text, withOrigin(options, { saved: call })).then(
          () => note('OK'),
          (error: unknown) => {
            lastText = (error as DeviceCloudError).message;
            note((error as DeviceCloudError).code);
          },
        );
      }
      if (!isKilled && !call.isDetached) call.close();
    };
    const waits = (count: number): Promise<void> =>
      until(() => client.waiting.list().length === count, `${count} wait`);
    return {
      ...{ store, client, calls, waits },
      async give(text: string, expires?: number): Promise<void> {
        const before = client.waiting.list().length;
        void send(
          calls.add('node', [CHIPID], () => text),
          expires,
        );
        await waits(before + 1);
      },
      goOn(): void {
        for (const call of calls.take()) void send(call);
      },
      /** The process ends at once: what it has not written is lost. */
      async kill(): Promise<void> {
        for (const name of files()) {
          const text = readFileSync(join(path, name), 'utf8');
          writeFileSync(join(path, name), text.replace(/"process":"\w+"/, '"process":"another"'));
        }
        isKilled = true;
        await client.close();
      },
    };
  }
  /** A process that is killed while commands wait, and what it was given. */
  async function leave(...texts: [text: string, expires?: number][]): Promise<void> {
    const first = await start();
    await first.client.devices();
    for (const [text, expires] of texts) await first.give(text, expires);
    await first.kill();
  }
  /** The next process, which goes on with them. */
  async function resume() {
    const second = await start();
    second.goOn();
    return second;
  }
  const wake = async (): Promise<void> => {
    cloud.switchOn(CHIPID);
    await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
    cloud.upload(CHIPID, 'awake');
  };
  const received = (): unknown[] => cloud.device(CHIPID).received.map(({ text }) => text);
  const isOver = (): Promise<void> => until(() => ends.length > 0, 'it has ended');

  it('is sent at an upload that is the first to tell the time of the service', async () => {
    await leave(['a']);
    cloud.fail('hang', { path: 'devices/' });
    await (await resume()).waits(1);
    await wake();
    await isOver();
    assert.deepEqual([received(), ends], [['a'], ['OK']]);
  });

  it('is sent, in order, and its file is gone', async () => {
    await leave(['a'], ['b']);
    const second = await resume();
    await second.waits(2);
    await second.give('c');
    await wake();
    await until(() => ends.length === 3, 'all have ended');
    assert.deepEqual(
      [received(), ends],
      [
        ['a', 'b', 'c'],
        ['OK', 'OK', 'OK'],
      ],
    );
    await until(() => files().length === 0, 'no file is left');
  });

  it('ends without an outcome when its client closes, since another process has it from now on', async () => {
    const first = await start();
    await first.client.devices();
    await first.give('a');
    await first.client.close();
    await setImmediate();
    assert.deepEqual([ends, files().length], [[], 1]);
    await (await resume()).waits(1);
    await wake();
    await isOver();
    assert.deepEqual([received(), ends], [['a'], ['OK']]);
  });

  it('is not sent after its end, though the machine starts with the clock of its shutdown', async () => {
    await leave(['late', 20]);
    [passed, wrong] = [30_000, -30_000];
    const second = await start();
    // It is asked what time it is, and no answer comes yet.
    cloud.fail('hang', { path: '/devices/' });
    second.goOn();
    await second.waits(1);
    wrong = 0;
    await wake();
    await isOver();
    assert.deepEqual([ends, received()], [['EXPIRED'], []]);
  });

  for (const [what, ahead, seconds, end] of [
    ['is 8 h ahead is not sent after its 25 s', 8 * HOUR, 30, 'EXPIRED'],
    ['is two years behind does not end early once it is right', -17_520 * HOUR, 20, 'OK'],
  ] as const)
    it(`given by a clock that ${what}`, async () => {
      wrong = ahead;
      await leave(['a', 25]);
      [passed, wrong] = [seconds * 1000, 0];
      const second = await resume();
      if (end === 'OK') {
        await second.waits(1);
        await wake();
      }
      await isOver();
      assert.deepEqual([ends, received()], [[end], end === 'OK' ? ['a'] : []]);
    });

  it('is not sent before the time of the service is known', async () => {
    await leave(['a', 60]);
    const second = await start();
    cloud.fail('hang', { path: '/devices/' });
    second.goOn();
    await second.waits(1);
    assert.equal(second.client.serviceTime, undefined);
    cloud.heal();
    // Refusals have a Date, too, and uploads a time.
    await wake();
    await isOver();
    assert.deepEqual([ends, received()], [['OK'], ['a']]);
  });

  it('given before the time was known is written again with it; if it never was, it ends at the restart', async () => {
    for (const isKnown of [true, false]) {
      cloud.fail('hang', { path: '/devices/' });
      const first = await start();
      await first.give('a', 60);
      const [name = ''] = files();
      const isWritten = (at: RegExp): boolean => at.test(readFileSync(join(path, name), 'utf8'));
      assert.ok(isWritten(/"at":null/));
      if (isKnown) {
        cloud.heal();
        await first.client.devices();
        await until(() => isWritten(/"at":\d+/), 'it is written again');
      }
      await first.kill();
      const second = await resume();
      if (isKnown) await second.waits(1);
      else await isOver();
      assert.deepEqual(ends, isKnown ? [] : ['EXPIRED']);
      if (!isKnown) assert.match(lastText, /how long the command to .* has waited is unknown/);
      await second.client.waiting.cancel({ all: true });
      await isOver();
      ends = [];
      await second.store.close();
    }
  });

  it('that had begun is uncertain, and is not sent again', async () => {
    const first = await start();
    await first.client.devices();
    cloud.fail('hang', { acts: true });
    await first.give('begun');
    await wake();
    await until(() => received().length === 1, 'it has reached the device');
    cloud.heal();
    await first.kill();
    await resume();
    await isOver();
    cloud.upload(CHIPID, 'awake');
    assert.deepEqual([ends, received()], [['UNCERTAIN'], ['begun']]);
  });

  it('is sent if only its beginning cannot be written, once its file is gone', async () => {
    const first = await start();
    await first.client.devices();
    await first.give('a');
    const call = first.calls.add('node', ['2'], () => 'b');
    await call.begin('2');
    const { set } = first.store;
    first.store.set = (key, value) =>
      value === undefined ? set.call(first.store, key, value) : Promise.resolve(false);
    await wake();
    await isOver();
    assert.deepEqual([ends, received()], [['OK'], ['a']]);
    first.store.set = () => Promise.resolve(false);
    const other = first.calls.add('node', ['3'], () => 'c');
    first.store.update('command:3:x', undefined);
    await other.begin('3');
  });
});
