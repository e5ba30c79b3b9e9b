import assert from 'node:assert/strict';
import nodeRed from '@node-red/util';
import helper from 'node-red-node-test-helper';
import type { AppNode } from '../../nodes/app/deployed';
import type { Simulator } from '../../src/simulator';
import { httpService } from '../tooling/servers/http-service';
import { cloudApp, deploy, load, node } from './support/flow';
import { arrivedAt, call, fail, send } from './support/messages';
import { startCloud, useNodeRed, written } from './support/node-red';
import { until } from '../tooling/until';

describe('the history node, for new records only', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';
  const incremental = (properties: object = {}) =>
    node('history', { incremental: true, ...properties });

  async function start(properties: object = {}, options: object = {}): Promise<void> {
    cloud = await startCloud(options);
    await load([cloudApp(cloud), incremental(properties), node('push', { wires: [] })]);
  }
  const read = async (msg: object = { chipid }): Promise<unknown[]> => {
    const { payload } = await call('history', { ...msg });
    return (payload as { body: unknown }[]).map(({ body }) => body);
  };

  for (const isReversed of [false, true]) {
    it(`emits each record once when the service sends the ${isReversed ? 'newest' : 'oldest'} first`, async () => {
      await start();
      if (isReversed) cloud.rewriteHistory((records) => records.toReversed());
      cloud.upload(chipid, 'a');
      cloud.upload(chipid, 'b');
      assert.deepEqual((await read()).sort(), ['a', 'b']);
      assert.deepEqual(await read(), []);
      cloud.upload(chipid, 'a');
      assert.deepEqual(await read(), ['a']);
      assert.deepEqual(await read(), []);
    });
  }

  it('keeps a position for each device, and for pushes and uploads', async () => {
    cloud = await startCloud();
    const both = [incremental(), incremental({ id: 'pushes', operation: 'pushes' })];
    await load([cloudApp(cloud), ...both, node('push', { wires: [] })]);
    cloud.upload('10000001', 'one');
    cloud.upload('10000002', 'two');
    assert.deepEqual(await read({ chipid: '10000002' }), ['two']);
    assert.deepEqual(await read({ chipid: 10000001 }), ['one']);
    assert.deepEqual(await read({ chipid: '10000001' }), []);
    assert.deepEqual(await read({ chipid: '10000002' }), []);
    await send('push', { chipid, payload: 'x' });
    const first = await call('pushes', { chipid });
    assert.equal((first.payload as unknown[]).length, 1);
    assert.deepEqual((await call('pushes', { chipid })).payload, []);
  });

  it('emits each upload between two days once', async () => {
    await start({ operation: 'sync' });
    const day = 24 * 60 * 60 * 1000;
    const period = { begin: Date.now() - day, end: Date.now() + day };
    cloud.upload('10000001', 'a');
    cloud.upload('10000002', 'b');
    assert.deepEqual(await read(period), ['a', 'b']);
    cloud.upload('10000001', 'c');
    assert.deepEqual(await read(period), ['c']);
  });

  it('continues where it was after a redeploy', async () => {
    await start();
    cloud.upload(chipid, 'before');
    assert.deepEqual(await read(), ['before']);
    cloud.upload(chipid, 'meanwhile');
    await deploy([cloudApp(cloud), incremental({ name: 'changed' })]);
    assert.deepEqual(await read(), ['meanwhile']);
  });

  it('loses no record if a reading fails', async () => {
    await start({ datatype: 'json' });
    cloud.upload(chipid, '1');
    assert.deepEqual(await read(), [1]);
    cloud.upload(chipid, '2');
    cloud.fail('bad-request', { times: 1 });
    await fail('history', { chipid }, 'BAD_REQUEST');
    assert.deepEqual(await read(), [2]);
    cloud.upload(chipid, '3');
    cloud.upload(chipid, 'no JSON');
    await fail('history', { chipid }, 'INVALID_RESPONSE');
    await fail('history', { chipid }, 'INVALID_RESPONSE');
  });

  it('remembers no record that Node-RED drops because the node is closed in the turn in which it sends', async () => {
    await start();
    cloud.upload(chipid, 'a');
    const history = helper.getNode('history')!;
    nodeRed.hooks.add('onSend.closes', () => void setImmediate(() => void history.close(false)));
    try {
      const { error } = await send('history', { chipid });
      assert.match(String(error), /closed before the call for device 10000001 had ended/);
    } finally {
      nodeRed.hooks.remove('onSend.closes');
    }
    await helper.unload();
    assert.deepEqual(written('mark'), {});
  });

  it('emits everything each time if that is off', async () => {
    await start({ incremental: false });
    cloud.upload(chipid, 'a');
    assert.deepEqual(await read(), ['a']);
    assert.deepEqual(await read(), ['a']);
  });

  describe('with unusual ids', () => {
    let shown: object[];
    const record = (id: unknown, second: number, more: object = {}): object => ({
      ...{ id, body: `${String(id)} at ${second}`, dev: chipid },
      create_time: new Date(Date.UTC(2027, 0, 1) + second * 1000)
        .toISOString()
        .replace('T', ' ')
        .slice(0, 19),
      ...more,
    });

    /** @param pause milliseconds until it answers */
    async function serve(properties: object = {}, pause = 0): Promise<void> {
      const service = await httpService(
        (response) => void setTimeout(() => response.end(JSON.stringify(shown)), pause),
      );
      await load([cloudApp({ ...service, appid: '1' }), incremental(properties)]);
    }
    const readAll = async (records: object[], msg: object = { chipid }): Promise<unknown[]> => {
      shown = records;
      return read(msg);
    };
    const marks = () => (helper.getNode('app') as AppNode).app.store();
    const stored = (): unknown => marks().list('mark:history:');
    const store = (place: string, position: unknown): void =>
      marks().update(`mark:history:${place}`, position);
    const bodies = (records: object[]) => records.map((each) => (each as { body: string }).body);

    it('emits no record twice when messages arrive in quick succession', async () => {
      // So that a second reading could begin before the first one has ended.
      await serve({ split: true }, 50);
      shown = [1, 2, 3, 4, 5].map((n) => record(n, n));
      await Promise.all([1, 2, 3, 4].map(() => send('history', { chipid })));
      await until(() => arrivedAt('out').length >= 5, 'the records arrive');
      assert.deepEqual(
        arrivedAt('out').map(({ payload }) => payload),
        bodies(shown),
      );
    });

    it('emits each push once if its id is not a number', async () => {
      await serve({ operation: 'pushes' });
      const [one, two, three] = [record('5f3a9c', 1), record('00ffa1', 2), record('a0', 2)];
      assert.deepEqual(await readAll([one]), bodies([one]));
      assert.deepEqual(await readAll([one, two]), bodies([two]));
      assert.deepEqual(await readAll([three, two, one]), bodies([three]));
      assert.deepEqual(await readAll([one, two, three]), []);
    });

    it('has a position for each device of a synchronisation', async () => {
      await serve({ operation: 'sync' });
      const period = { begin: '20270101', end: '20270102' };
      const [ofA, ofB] = [record(500, 5, { chipid: '1' }), record(3, 6, { chipid: '2' })];
      assert.deepEqual(await readAll([ofA], period), bodies([ofA]));
      assert.deepEqual(await readAll([ofA, ofB], period), bodies([ofB]));
      const same = record(500, 5, { chipid: '002' });
      assert.deepEqual(await readAll([ofA, same, ofB], period), bodies([same]));
      const zeros = { ...same, chipid: '2' };
      assert.deepEqual(await readAll([ofB, zeros, ofA], period), []);
    });

    it('remembers 10,000 devices, and forgets those read longest ago', async () => {
      await serve({ operation: 'sync' });
      const period = { begin: '20270101', end: '20270102' };
      const all = Array.from({ length: 10_001 }, (_, n) => record(n, 1, { chipid: String(n) }));
      assert.equal((await readAll(all.slice(0, 10_000), period)).length, 10_000);
      assert.equal((await readAll(all.slice(9999), period)).length, 1);
      assert.equal((await readAll(all.slice(1), period)).length, 0);
      assert.deepEqual(await readAll(all.slice(0, 1), period), bodies(all.slice(0, 1)));
    });

    it('emits ids that start at 1 again, and late records of the same second, and nothing twice', async () => {
      await serve();
      const old = [record(1, 1), record(2, 2), record(4, 4), record(4, 4)];
      assert.deepEqual(await readAll(old), bodies(old.slice(0, 3)));
      const late = record(3, 4);
      assert.deepEqual(await readAll([...old, late]), bodies([late]));
      const restored = [record(1, 11), record(2, 12)];
      assert.deepEqual(await readAll(restored), bodies(restored));
      assert.deepEqual(await readAll([...restored, ...old, late]), []);
    });

    for (const [what, idOf] of [
      ['numbers', (n: number) => n],
      ['texts', (n: number) => `f${n}`],
    ] as const) {
      it(`remembers a bounded number of ${what}, and repeats nothing of a long history`, async () => {
        await serve();
        const long = Array.from({ length: 2000 }, (_, n) => record(idOf(n), n));
        assert.equal((await readAll(long)).length, 2000);
        assert.ok(JSON.stringify(stored()).length < 20_000);
        assert.deepEqual(await readAll([...long].reverse()), []);
        const next = record(idOf(2000), 2000);
        const again = record(idOf(7), 2001);
        assert.deepEqual(await readAll([...long, next, again]), bodies([next, again]));
        assert.deepEqual(await readAll([...long, next, again]), []);
      });
    }

    it('emits a record with a higher id even if the clock was set back', async () => {
      await serve();
      const long = Array.from({ length: 1000 }, (_, n) => record(n, 5000 + n));
      await readAll(long);
      const next = record(1000, 1);
      assert.deepEqual(await readAll([...long, next]), bodies([next]));
      assert.deepEqual(await readAll([...long, next]), []);
    });

    for (const [what, time] of [
      ['of ISO', '2026-11-22T10:00:00'],
      ['with slashes', '2026/11/22 10:00:00'],
      ['of one second', '2026-11-22 10:00:00'],
      ['without an order', '22.11.2026 10:00'],
      ['that are missing', undefined],
    ] as const) {
      it(`emits new records with text ids and times ${what}, however many there are`, async () => {
        await serve();
        const all = Array.from({ length: 900 }, (_, n) => ({
          ...record(`h${n}z`, 0),
          create_time: time,
        }));
        assert.equal((await readAll(all.slice(0, 600))).length, 600);
        for (const end of [605, 610, 900]) {
          const fresh = await readAll(all.slice(0, end));
          assert.deepEqual(fresh, bodies(all.slice(end === 900 ? 610 : end - 5, end)));
          assert.deepEqual(await readAll(all.slice(0, end).reverse()), []);
        }
        assert.ok(JSON.stringify(stored()).length < 60_000);
      });
    }

    it('emits records without an id or a time, or with a huge id, unchanged', async () => {
      await serve();
      const odd = [
        { ...record(null, 1), body: 'no id' },
        { ...record(null, 1), body: 'no id, either' },
        { ...record(7, 1), create_time: null },
        { ...record('x'.repeat(100_000), 1), body: 'huge' },
        { ...record({}, 1), body: 'an object' },
      ];
      assert.deepEqual(await readAll(odd), bodies(odd));
      assert.deepEqual(await readAll(odd), []);
      assert.ok(JSON.stringify(stored()).length < 1000);
    });

    it('ignores the position of another history', async () => {
      await serve({ operation: 'pushes' });
      store(`uploads:${chipid}`, { id: '2', time: '', names: [] });
      const pushed = [record(1, 1), record(2, 2)];
      assert.deepEqual(await readAll(pushed), bodies(pushed));
    });

    for (const broken of ['text', 7, { names: 'x', id: 1 }]) {
      it(`starts over when what is kept is ${JSON.stringify(broken)}`, async () => {
        await serve();
        store(`uploads:${chipid}`, broken);
        assert.deepEqual(await readAll([record(1, 1)]), bodies([record(1, 1)]));
        assert.deepEqual(await readAll([record(1, 1)]), []);
      });
    }
  });
});
