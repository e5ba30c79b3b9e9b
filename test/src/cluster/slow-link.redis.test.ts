import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Cluster } from '../../../src/cluster/cluster';
import { uploadToText } from '../../../src/cluster/messages';
import { entryOf } from './memory-store';
import type { Store } from '../../../src/cluster/store';
import type { ClusterState } from '../../../src/cluster/types';
import { openRedisStore } from '../../../src/cluster/redis/redis-store';
import { atEnd } from '../../../tooling/servers/at-end';
import { startRedis, type RedisProcess } from '../../../tooling/servers/redis';
import { startSlowLink, type SlowLink } from '../../../tooling/servers/slow-link';
import { until } from '../../../tooling/until';
import { manual } from '../support/manual';

const MEGABIT = 1_000_000 / 8;

const textOf = (bytes: number): string => randomBytes(Math.ceil(bytes)).toString('base64');

describe('the queue over a slow link to the engine', () => {
  let redis: RedisProcess;
  let link: SlowLink;
  beforeEach(async () => {
    redis = await startRedis();
    link = await startSlowLink(redis.port);
  });
  afterEach(async () => {
    await link.close();
    await redis.end();
  });

  /** A member with all devices, the states that it has had since, and the faults. */
  async function joined(): Promise<{
    store: Store;
    cluster: Cluster;
    states: ClusterState[];
    faults: string[];
  }> {
    const url = `redis://127.0.0.1:${link.port}`;
    const store = await openRedisStore({ url, application: '1' });
    atEnd(() => store.close());
    // Shorter than the upload takes: it is renewed meanwhile.
    const cluster = new Cluster({ store, lease: 5 });
    atEnd(() => cluster.close());
    cluster.claims.use('listens');
    await until(() => cluster.mayEmit('1'));
    const states: ClusterState[] = [];
    const faults: string[] = [];
    cluster.listen({
      onState: (state) => states.push(state),
      onFault: (fault) => faults.push(fault),
    });
    return { store, cluster, states, faults };
  }

  const areAppended = async (store: Store, chipids: readonly string[]): Promise<boolean> => {
    const positions = await store.load(chipids);
    return positions.every((position) => position === 'p');
  };

  it('takes an upload of 12 MB at 16 Mbit/s, and delivers it', async () => {
    const { store, cluster, states, faults } = await joined();
    const upload = entryOf(textOf(9_000_000));
    const delivered = manual<string>();
    cluster.work({
      deliver: (job) => {
        if (job.chipid === '1') delivered.resolve(uploadToText(job.upload));
      },
    });
    link.rate = 16 * MEGABIT;
    const before = link.carried;
    cluster.positions.append('1', 'p', upload);
    cluster.positions.append('2', 'p', entryOf('small'));
    await until(() => areAppended(store, ['1', '2']), 'both are in the queue');
    assert.ok(link.carried - before < 1.5 * upload.length, 'it was sent once');
    assert.equal((await delivered.promise).length, upload.length);
    assert.deepEqual([states, faults], [[], []]);
  });

  it('takes an upload of 4 KB from each of 500 devices at 10 Mbit/s, and delivers all', async () => {
    const { store, cluster, states, faults } = await joined();
    link.rate = 10 * MEGABIT;
    const upload = entryOf(textOf(3000));
    const before = link.carried;
    const chipids = Array.from({ length: 500 }, (_, index) => String(index));
    for (const chipid of chipids) cluster.positions.append(chipid, 'p', upload);
    await until(() => areAppended(store, chipids), 'all are in the queue');
    assert.ok(link.carried - before < 1.5 * 500 * upload.length, 'each was sent once');
    assert.equal((await store.queueState()).length, 500);
    const handled = new Set<string>();
    cluster.work({
      deliver: ({ chipid, token }) =>
        void cluster.acknowledge(token).then(() => handled.add(chipid)),
    });
    await until(() => handled.size === 500, 'all are handled');
    assert.deepEqual([states, faults], [[], []]);
  });
});
