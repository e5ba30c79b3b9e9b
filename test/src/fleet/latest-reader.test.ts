import assert from 'node:assert/strict';
import { DeviceCloudError } from '../../../src/errors';
import { LatestReader } from '../../../src/fleet/latest-reader';
import { FleetRegistry } from '../../../src/fleet/registry';
import { HistoryFacts } from '../../../src/history/form';
import { sharedBy, streamed } from '../recovery/shared';
import { manual, type Manual } from '../support/manual';
import { settled } from '../../../tooling/until';

const SETTINGS = { encoding: 'text', zone: 0 } as const;
const record = (body: string) => ({ id: 1, body, create_time: '2026-01-01 00:00:01', dev: '1' });

/** A reader whose histories a test answers by hand. */
function createSubject() {
  let now = Date.UTC(2026, 0, 2);
  const asked: (Manual<unknown[]> & { chipid: string })[] = [];
  const registry = new FleetRegistry(() => now);
  const shared = {
    ...{
      appid: '1',
      limiter: sharedBy(() => Promise.resolve([])).limiter,
      facts: new HistoryFacts(),
      now: () => now,
    },
    read: streamed((chipid) => {
      const next = { chipid, ...manual<unknown[]>() };
      asked.push(next);
      return next.promise;
    }),
  };
  const reader = new LatestReader(shared, registry);
  return {
    registry,
    reader,
    asked,
    pass: (ms: number) => (now += ms),
    ask: async (chipid = '1') =>
      (await reader.read(chipid, SETTINGS))?.toLatest(chipid, now).body.toString(),
  };
}

describe('the latest upload that is read from the history', () => {
  it('is read once, for simultaneous and for later requests', async () => {
    const { asked, ask, registry } = createSubject();
    const both = [ask(), ask()];
    await settled();
    asked[0]!.resolve([record('from the history')]);
    assert.deepEqual(await Promise.all(both), ['from the history', 'from the history']);
    assert.equal(await ask(), 'from the history');
    assert.equal(asked.length, 1);
    assert.equal(registry.get('1')?.latest?.source, 'history');
  });

  it('gives way to a live one that arrives meanwhile', async () => {
    const { asked, ask, registry } = createSubject();
    const asking = ask();
    await settled();
    const body = Buffer.from('live');
    registry.onLive({ chipid: '1', appid: '1', timestamp: Date.UTC(2026, 0, 2), body });
    asked[0]!.resolve([record('from the history')]);
    assert.equal(await asking, 'live');
  });

  it('is looked for again only after a minute if the history is empty', async () => {
    const { asked, ask, pass } = createSubject();
    const first = ask();
    await settled();
    asked[0]!.resolve([]);
    assert.equal(await first, undefined);
    pass(59_999);
    assert.equal(await ask(), undefined);
    assert.equal(asked.length, 1);
    pass(1);
    const again = ask();
    await settled();
    asked[1]!.resolve([record('now')]);
    assert.equal(await again, 'now');
  });

  it('is read again after a reading that failed', async () => {
    const { asked, ask } = createSubject();
    const failing = assert.rejects(ask(), /failed/);
    await settled();
    asked[0]!.reject(new Error('failed'));
    await failing;
    const again = ask();
    await settled();
    asked[1]!.resolve([record('x')]);
    assert.equal(await again, 'x');
  });

  it('is requested three times before an overloaded service is an error', async () => {
    const { asked, ask } = createSubject();
    const refused = new DeviceCloudError('SERVER_ERROR', 'refused', 503);
    const asking = assert.rejects(ask(), refused);
    for (let attempt = 0; attempt < 3; attempt++) {
      await settled();
      asked[attempt]!.reject(refused);
    }
    await asking;
    assert.equal(asked.length, 3);
  });

  it('is read for two devices at a time, in the order of the requests', async () => {
    const { asked, ask } = createSubject();
    const all = Array.from({ length: 5000 }, (_, number) => ask(String(number)));
    await settled();
    for (let number = 0; number < all.length; number += 2) {
      assert.equal(asked.length, number + 2);
      for (const { resolve } of asked.slice(number)) resolve([]);
      await settled(2);
    }
    await Promise.all(all);
    assert.deepEqual(
      asked.map(({ chipid }) => Number(chipid)),
      all.map((_, number) => number),
    );
  });

  it('is an error for all waiting callers when the client is closed', async () => {
    const { asked, ask, reader } = createSubject();
    const all = Array.from({ length: 4 }, (_, number) =>
      assert.rejects(ask(String(number)), { code: 'UNREACHABLE' }),
    );
    await settled();
    reader.close();
    for (const { reject } of asked) reject(new Error('aborted'));
    await Promise.all(all);
    await assert.rejects(ask('9'), { code: 'UNREACHABLE' });
    assert.equal(asked.length, 2);
  });
});
