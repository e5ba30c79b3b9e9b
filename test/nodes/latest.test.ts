import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import { openWithRecovery } from './support/listening';
import { cloudApp, deploy, load, node } from './support/flow';
import { learnForm, trimmed } from './support/histories';
import { arrivedAt, call, caught, fail, logged, post, shows } from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';
import type { LatestEntry } from '../../nodes/latest/latest.runtime';

const [one, two, three] = ['10000001', '10000002', '10000003'] as const;

/** Requests for the history of a device. */
const readings = (cloud: Simulator): number =>
  cloud.requests.filter(({ path }) => path.includes('/up_messages/')).length;

describe('the latest node', () => {
  useNodeRed();
  let cloud: Simulator;
  let uploads = 0;

  /** Starts the node and a listener, and waits until that is connected. */
  async function start(properties: object = {}, listened: string[] = [one]): Promise<void> {
    cloud = await startCloud();
    uploads = 0;
    const listen = node('listen', { chipids: listened, datatype: 'buffer' });
    await load([
      cloudApp(cloud),
      ...(listened.length > 0 ? [listen] : []),
      node('latest', properties),
    ]);
    for (const chipid of listened)
      await until(() => cloud.channels(chipid) === 1, `the channel of ${chipid}`);
    if (listened.length === 1) await shows('listen', 'status.connected');
  }
  /** Lets a device upload, and waits until a listener has emitted it. */
  async function upload(chipid: string, body: unknown): Promise<void> {
    const heard = (): number => arrivedAt('out').filter(({ topic }) => topic !== undefined).length;
    uploads++;
    cloud.upload(chipid, body);
    await until(() => heard() >= uploads, 'the upload has arrived');
  }

  it('outputs the latest upload of a device, and keeps the rest of the message', async () => {
    await start();
    await upload(one, { temperature: 20 });
    await upload(one, { temperature: 21 });
    const out = await call('latest', {
      chipid: `00${one}`,
      other: 'kept',
      truncated: 'old',
      online: 'old',
    });
    const { payload, chipid, source, other, timestamp, age } = out as Record<string, unknown>;
    assert.deepEqual([payload, chipid, source, other], [{ temperature: 21 }, one, 'live', 'kept']);
    assert.ok(Math.abs(Date.now() - (timestamp as number)) < 60_000);
    assert.equal(typeof age, 'number');
    assert.ok((age as number) >= 0);
    assert.ok(!('online' in out) && !('truncated' in out) && !('name' in out));
  });

  it('adds whether the device is online, and its name unless the message has one', async () => {
    cloud = await startWith(node('devices'), node('latest', { missing: 'null' }));
    cloud.switchOff(two);
    await call('devices', {});
    const first = await call('latest', { chipid: one });
    assert.deepEqual([first['online'], first['name']], [true, 'Greenhouse']);
    const second = await call('latest', { chipid: one, name: 'mine' });
    assert.equal(second['name'], 'mine');
    const out = await call('latest', { chipid: two });
    assert.equal(out['online'], undefined, 'it was never listed');
    await deploy([cloudApp(cloud), node('devices'), node('latest')]);
    await call('devices', {});
    assert.equal((await fail('latest', { chipid: one }, 'NO_VALUE'))['name'], 'Greenhouse');
  });

  it('writes no line about messages under way when its flows are stopped, which a Catch node gets', async () => {
    await start({ chipid: '' }, []);
    for (const _ of [1, 2]) post('latest', {});
    await helper.getNode('latest')?.close(false);
    await caught(2);
    assert.deepEqual(logged(/./, 'latest'), []);
  });

  it('truncates an upload over 16 KiB, and marks it', async () => {
    await start();
    await upload(one, { text: '界'.repeat(6000) });
    const text = await call('latest', { chipid: one });
    assert.equal(text['truncated'], true);
    assert.match(text.payload as string, /^\{"text":"界+$/);
    await upload(one, Buffer.alloc(20_000, 0xff));
    const bytes = await call('latest', { chipid: one });
    assert.equal(bytes['truncated'], true);
    assert.deepEqual(bytes.payload, Buffer.alloc(16 * 1024, 0xff));
  });

  it('fails for an upload that does not fit its output', async () => {
    await start({ datatype: 'json' });
    await upload(one, 'no JSON');
    const { error } = await fail('latest', { chipid: one }, 'INVALID_RESPONSE');
    assert.match(error.message, /device 10000001 is not JSON/);
  });

  it('fails for an output that does not exist; an empty one is the default', async () => {
    await start({ datatype: '' });
    await upload(one, '[1]');
    assert.deepEqual((await call('latest', { chipid: one })).payload, [1]);
    for (const chipid of ['chipid', '']) {
      await deploy([cloudApp(cloud), node('latest', { chipid, datatype: 'JSON' })]);
      await fail('latest', { chipid: one }, 'INVALID_INPUT');
    }
  });

  it('fails without a request if the device is missing or empty', async () => {
    await start({}, []);
    for (const chipid of [undefined, '', null, '../x', [one]])
      await fail('latest', { chipid }, 'INVALID_INPUT');
    assert.equal(cloud.requests.length, 0);
  });

  describe('for a device without a known upload', () => {
    it('fails', async () => {
      await start();
      await fail('latest', { chipid: two }, 'NO_VALUE');
      await shows('latest', 'status.no-value');
      await until(() => readings(cloud) > 0, 'the listener reads the history');
      assert.equal(readings(cloud), 1, 'the reading of the listener alone');
    });

    it('returns null', async () => {
      await start({ missing: 'null' });
      const out = await call('latest', {
        chipid: two,
        payload: 'old',
        timestamp: 1,
        source: 'live',
      });
      const { payload, timestamp, age, source, chipid } = out as Record<string, unknown>;
      assert.deepEqual([payload, timestamp, age, source], [null, null, null, null]);
      assert.equal(chipid, two);
    });

    it('marks what a history does not keep as it was uploaded', async () => {
      cloud = await startCloud();
      cloud.rewriteHistory(trimmed);
      const all = node('latest', { id: 'all', devices: 'all', chipid: '' });
      await openWithRecovery(cloud, [one], {}, node('latest'), all);
      await learnForm(cloud, one);
      const heard = arrivedAt('out').find((message) => message.payload === 'learned');
      assert.deepEqual([heard?.['replayed'], heard?.['altered']], [true, true]);
      const { payload, altered } = await call('latest', { chipid: one });
      assert.deepEqual([payload, altered], ['learned', true]);
      const [entry] = (await call('all', { altered: 'of another message' })).payload as object[];
      assert.equal((entry as { altered?: unknown }).altered, true);
    });
  });

  describe('for all devices', () => {
    it('returns those that have uploaded, by chip number', async () => {
      await start({ chipid: '' }, [three, one]);
      assert.deepEqual((await call('latest', {})).payload, []);
      await upload(three, 'three');
      await upload(one, { temperature: 1 });
      const out = await call('latest', { chipid: 'kept' });
      const entries = out.payload as LatestEntry[];
      assert.deepEqual(
        entries.map(({ timestamp, age, ...entry }) => {
          assert.ok(timestamp > 0 && age >= 0);
          return entry;
        }),
        [
          { chipid: one, name: null, payload: { temperature: 1 }, source: 'live', online: null },
          { chipid: three, name: null, payload: 'three', source: 'live', online: null },
        ],
      );
      assert.equal(out['chipid'], 'kept');
    });

    it('puts an error into the entry of a device whose upload does not fit its output', async () => {
      await start({ chipid: '', datatype: 'json' }, [one, two]);
      await upload(one, 'no JSON');
      await upload(two, '[1]');
      const [first, second] = (await call('latest', {})).payload as LatestEntry[];
      assert.equal(first?.payload, null);
      assert.equal(first.error?.code, 'INVALID_RESPONSE');
      assert.deepEqual(second?.payload, [1]);
    });
  });
});
