import assert from 'node:assert/strict';
import { systemClock } from '../../../src/cluster/clock';
import { PartitionReader, type Job } from '../../../src/cluster/partition-reader';
import type { QueueEntry } from '../../../src/cluster/store';
import { atEnd } from '../../../tooling/servers/at-end';
import { until } from '../../../tooling/until';

const PARTITION = 3;
const MANY = 600;

describe('the reader of a stream', () => {
  it('delivers uploads of other devices while one is not acknowledged, and all of that one later', async () => {
    const upload = (index: number, chipid: string): QueueEntry => ({
      ...{ id: `17-${index}`, chipid, upload: String(index) },
    });
    let stream = Array.from({ length: MANY }, (_, index) => upload(index + 1, 'stuck'));
    stream.push(upload(MANY + 1, 'other'), upload(MANY + 2, 'stuck'), upload(MANY + 3, 'other'));
    let [running, longest] = [0, 0];
    const jobs: Job[] = [];
    const reader = new PartitionReader({
      ...{ clock: systemClock, partition: PARTITION, redeliver: 60_000 },
      store: {
        read: (_, after = '17-0', count) => {
          const place = stream.findIndex(({ id }) => numberOf(id) > numberOf(after));
          const entries = place < 0 ? [] : stream.slice(place, place + count);
          longest = Math.max(longest, entries.length);
          return Promise.resolve(entries);
        },
        has: () => Promise.resolve(true),
        subscribe: () => () => undefined,
      },
      mayWork: () => true,
      acquire: () => ++running > 0,
      release: () => running--,
      deliver: (job) => jobs.push(job),
    });
    atEnd(() => reader.close());
    const acknowledge = ({ token }: Job): void => {
      const id = token.replace(`${PARTITION}:`, '');
      stream = stream.filter((entry) => entry.id !== id);
      reader.acknowledged(id);
      reader.wake();
    };
    const of = (chipid: string): Job[] => jobs.filter((job) => job.chipid === chipid);
    reader.start();
    await until(() => of('other').length === 1);
    acknowledge(of('other')[0] as Job);
    await until(() => of('other').length === 2);
    assert.equal(of('stuck').length, 1);
    for (let index = 0; index <= MANY; index++) {
      await until(() => of('stuck').length > index);
      acknowledge(of('stuck')[index] as Job);
    }
    acknowledge(of('other')[1] as Job);
    const order = of('stuck').map((job) => Number(job.upload));
    assert.deepEqual(order, [...Array.from({ length: MANY }, (_, index) => index + 1), MANY + 2]);
    assert.deepEqual([running, stream.length, of('other').length], [0, 0, 2]);
    assert.ok(longest <= 256);
  });
});

const numberOf = (id: string): number => Number(id.split('-')[1]);
