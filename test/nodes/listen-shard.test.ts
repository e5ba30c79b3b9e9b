import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { settled, until } from '../../tooling/until';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { cloudApp, load, node } from './support/flow';
import { journal } from './support/journal';
import { call, send, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

const devices = Array.from({ length: 30 }, (_, index) => String(20_000_000 + index));

describe('a listener to a share of the devices', () => {
  useNodeRed();
  let cloud: Simulator;
  beforeEach(async () => {
    cloud = await startCloud();
    for (const chipid of devices) cloud.addDevice({ chipid, interval: 0 });
  });

  const listener = (id: string, shard: string, properties: object = {}): FlowNode =>
    node('listen', { id, shard, chipids: devices, ...properties });
  const open = (): string[] => cloud.requests.flatMap(({ path }) => /\d{8}/.exec(path)?.[0] ?? []);

  it('opens only the channels of its share, while all shares together cover all devices', async () => {
    await load([
      cloudApp(cloud),
      ...['0/3', '1/3', ' 2 / 3 '].map((shard, index) => listener(`listen-${index}`, shard)),
    ]);
    await until(() => cloud.channels() === devices.length, 'each device has one channel');
    await settled();
    assert.equal(cloud.channels(), devices.length);
    assert.equal(new Set(open()).size, open().length);
  });

  it('is not configured with a share that is not text', async () => {
    await load([cloudApp(cloud), node('listen', { chipids: devices, shard: { 0: 3 } })]);
    await shows('listen', 'status.not-configured');
    assert.equal(cloud.channels(), 0);
  });

  it('has the variables of its environment substituted inside the text', async () => {
    process.env['TEST_ORDINAL'] = '0';
    process.env['TEST_COUNT'] = '1';
    try {
      await load([cloudApp(cloud), listener('listen', '${TEST_ORDINAL}/${TEST_COUNT}')]);
      await shows('listen', '30/30');
    } finally {
      delete process.env['TEST_ORDINAL'];
      delete process.env['TEST_COUNT'];
    }
  });

  it('ignores subscriptions to devices outside its share', async () => {
    await load([
      cloudApp(cloud),
      listener('listen', '0/2', { devices: 'dynamic' }),
      listener('other', '1/2', { devices: 'dynamic' }),
    ]);
    await shows('listen', 'status.no-devices');
    await shows('other', 'status.no-devices');
    const shares: string[][] = [];
    for (const id of ['listen', 'other']) {
      const { error } = await send(id, { action: 'subscribe', chipid: devices });
      assert.equal(error, undefined);
      shares.push((await call(id, { action: 'list' })).payload as string[]);
    }
    assert.ok(shares.every((share) => share.length > 0));
    assert.deepEqual(shares.flat().sort(), devices);
  });

  for (const [what, shard, text] of [
    ['a part that is not set', '0/${TEST_NOT_SET}', /TEST_NOT_SET is not set/],
    ['an ordinal that is not below the count', '3/3', /ordinal/],
    ['a text that is no share', 'all', /ordinal/],
  ] as const) {
    it(`is not configured with ${what}, and opens nothing`, async () => {
      await load([cloudApp(cloud), listener('listen', shard)]);
      await shows('listen', 'status.not-configured');
      const [line] = journal.logs.filter(({ id }) => id === 'listen');
      assert.match(String(line?.msg), text);
      assert.equal(cloud.channels(), 0);
    });
  }

  it('is not configured if it delivers into a queue that does not exist', async () => {
    await load([cloudApp(cloud), listener('listen', '', { deliver: 'queue' })]);
    await shows('listen', 'status.not-configured');
  });
});
