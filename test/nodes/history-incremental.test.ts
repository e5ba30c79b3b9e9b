import assert from 'node:assert/strict';
import nodeRed from '@node-red/util';
import helper from 'node-red-node-test-helper';
import { onlyNew, type HistoryRecord } from '../../nodes/history/incremental';
import type { Simulator } from '../../src/simulator';
import type { Store } from '../../src/store/store';
import { memoryStore } from '../support/memory-store';
import { cloudApp, load, node } from './support/flow';
import { call, fail, payloads, send } from './support/messages';
import { startCloud, useNodeRed, written } from './support/node-red';
import { until } from '../tooling/until';

const CHIPID = '10000001';

describe('the history node, for new records only', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = CHIPID;
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

  it('emits each record once, also when the service sends the newest first', async () => {
    await start();
    cloud.rewriteHistory((records) => records.toReversed());
    cloud.upload(chipid, 'a');
    cloud.upload(chipid, 'b');
    assert.deepEqual(await read(), ['b', 'a']);
    assert.deepEqual(await read(), []);
    cloud.upload(chipid, 'a');
    assert.deepEqual(await read(), ['a']);
    assert.deepEqual(await read(), []);
  });

  it('emits no record twice when messages arrive in quick succession', async () => {
    // So that a second reading could begin before the first one has ended.
    await start({ split: true }, { answerDelay: 50 });
    const texts = ['1', '2', '3', '4', '5'];
    for (const text of texts) cloud.upload(chipid, text);
    await Promise.all([1, 2, 3, 4].map(() => send('history', { chipid })));
    await until(() => payloads().length >= texts.length, 'the records arrive');
    assert.deepEqual(payloads(), texts);
  });

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
});

describe('the records of a history that are new', () => {
  const record = (id: unknown, second: number, more: object = {}): HistoryRecord => ({
    ...{ id: id as number, body: `${String(id)} at ${second}`, dev: CHIPID, app: '' },
    create_time: new Date(Date.UTC(2027, 0, 1) + second * 1000)
      .toISOString()
      .replace('T', ' ')
      .slice(0, 19),
    ...more,
  });
  let marks: Store;
  beforeEach(() => {
    marks = memoryStore();
  });
  /** Those of an answer. @param chipid empty: each record names its own */
  const newOf = async (records: HistoryRecord[], chipid = CHIPID): Promise<HistoryRecord[]> => {
    const { fresh, remember } = await onlyNew(marks, 'mark:', chipid, records);
    remember();
    return fresh;
  };
  const size = (): number => JSON.stringify(marks.list('mark:')).length;

  it('are those of each device, however it is written, of a synchronisation', async () => {
    const [ofA, ofB] = [record(500, 5, { chipid: '1' }), record(3, 6, { chipid: '2' })];
    assert.deepEqual(await newOf([ofA], ''), [ofA]);
    assert.deepEqual(await newOf([ofA, ofB], ''), [ofB]);
    const same = record(500, 5, { chipid: '002' });
    assert.deepEqual(await newOf([ofA, same, ofB], ''), [same]);
    assert.deepEqual(await newOf([ofB, { ...same, chipid: '2' }, ofA], ''), []);
  });

  it('are known of 10,000 devices, of which those read longest ago are forgotten', async () => {
    const all = Array.from({ length: 10_001 }, (_, n) => record(n, 1, { chipid: String(n) }));
    assert.equal((await newOf(all.slice(0, 10_000), '')).length, 10_000);
    assert.equal((await newOf(all.slice(9999), '')).length, 1);
    assert.equal((await newOf(all.slice(1), '')).length, 0);
    assert.deepEqual(await newOf(all.slice(0, 1), ''), all.slice(0, 1));
  });

  it('may have ids that start at 1 again, or come late in the same second', async () => {
    const old = [record(1, 1), record(2, 2), record(4, 4), record(4, 4)];
    assert.deepEqual(await newOf(old), old.slice(0, 3));
    const late = record(3, 4);
    assert.deepEqual(await newOf([...old, late]), [late]);
    const restored = [record(1, 11), record(2, 12)];
    assert.deepEqual(await newOf(restored), restored);
    assert.deepEqual(await newOf([...restored, ...old, late]), []);
  });

  for (const [what, idOf] of [
    ['numbers', (n: number) => n],
    ['texts', (n: number) => `f${n}`],
  ] as const)
    it(`are found in a long history by a bounded number of ids that are ${what}`, async () => {
      const long = Array.from({ length: 2000 }, (_, n) => record(idOf(n), n));
      assert.equal((await newOf(long)).length, 2000);
      assert.ok(size() < 20_000);
      assert.deepEqual(await newOf(long.toReversed()), []);
      const news = [record(idOf(2000), 2000), record(idOf(7), 2001)];
      assert.deepEqual(await newOf([...long, ...news]), news);
      assert.deepEqual(await newOf([...long, ...news]), []);
    });

  it('may have a higher id and an earlier time, after the clock was set back', async () => {
    const long = Array.from({ length: 1000 }, (_, n) => record(n, 5000 + n));
    await newOf(long);
    const next = record(1000, 1);
    assert.deepEqual(await newOf([...long, next]), [next]);
    assert.deepEqual(await newOf([...long, next]), []);
  });

  for (const [what, create_time] of [
    ['of one second', '2026-11-22 10:00:00'],
    ['in another form', '22.11.2026 10:00'],
    ['that are missing', undefined],
  ] as const)
    it(`may have text ids and times ${what}, however many there are`, async () => {
      const all = Array.from({ length: 900 }, (_, n) => record(`h${n}z`, 0, { create_time }));
      assert.equal((await newOf(all.slice(0, 600))).length, 600);
      for (const [begin, end] of [
        [600, 605],
        [605, 900],
      ] as const) {
        assert.deepEqual(await newOf(all.slice(0, end)), all.slice(begin, end));
        assert.deepEqual(await newOf(all.slice(0, end).toReversed()), []);
      }
      assert.ok(size() < 60_000);
    });

  it('may lack an id or a time, or have a huge id', async () => {
    const odd = [
      { ...record(null, 1), body: 'no id' },
      { ...record(null, 1), body: 'no id, either' },
      record(7, 1, { create_time: null }),
      record('x'.repeat(100_000), 1),
      record({}, 1),
    ];
    assert.deepEqual(await newOf(odd), odd);
    assert.deepEqual(await newOf(odd), []);
    assert.ok(size() < 1000);
  });

  for (const broken of ['text', { names: 'x', id: 1 }])
    it(`are all if what is kept is ${JSON.stringify(broken)}`, async () => {
      marks.update(`mark:${CHIPID}`, broken);
      assert.deepEqual(await newOf([record(1, 1)]), [record(1, 1)]);
      assert.deepEqual(await newOf([record(1, 1)]), []);
    });
});
