import assert from 'node:assert/strict';
import type { FleetEvent } from '../../../src/index';
import { json } from '../../tooling/servers/http-service';
import { until } from '../../tooling/until';
import { serving } from '../support/client';
import { failure } from '../support/failure';

const UNUSABLE: readonly unknown[] = [[{ chip_id: 1 }, { chip_id: 2 }], [{ chipid: null }], [{}]];

/** A service whose list a test changes, and a client that watches it. */
async function world() {
  let list: unknown = [{ chipid: 1 }, { chipid: 2 }];
  let status = 200;
  const { client } = await serving((...request) =>
    json(
      request[1].path.endsWith('/apps/') ? { name: 'x', online: list } : list,
      status,
    )(...request),
  );
  return {
    client,
    answer: (next: unknown, nextStatus = 200) => void ([list, status] = [next, nextStatus]),
    online: () => client.fleet.snapshot().map(({ online }) => online),
  };
}

describe('a list of online devices whose records have no chip number', () => {
  it('is a failed reading, after which each device is what it was', async () => {
    const { client, answer, online } = await world();
    const [events, errors]: [FleetEvent[], unknown[]] = [[], []];
    client.fleet.watch(
      { refresh: 1000, misses: 1 },
      {
        onEvent: (event) => void events.push(event),
        onReadError: (error) => void errors.push(error),
      },
    );
    await until(() => online().length === 2, 'the list is read');
    for (const list of UNUSABLE) {
      answer(list);
      await failure(client.fleet.readList(), 'INVALID_RESPONSE');
      const error = await failure(client.devices(), 'INVALID_RESPONSE');
      assert.equal(error.statusCode, 200);
      assert.match(error.message, /valid chip number/);
      assert.deepEqual(online(), [true, true]);
    }
    await until(() => errors.length > 0, 'a reading by the poller fails');
    assert.deepEqual(
      events.map(({ event }) => event).filter((event) => event !== 'unknown'),
      [],
    );
    assert.deepEqual(online(), [true, true]);
    answer([]);
    await client.devices();
    assert.deepEqual(online(), [false, false], 'an empty list is good');
  });

  it('is not counted against devices in the record of the application, which is still good', async () => {
    const { client, answer, online } = await world();
    await client.devices();
    answer([{ chip_id: 1 }]);
    assert.equal((await client.app()).body.name, 'x');
    assert.deepEqual(online(), [true, true]);
  });

  it('is good if at least one has a chip number, and the others are counted', async () => {
    const { client, answer } = await world();
    const records: { chip_id?: number; chipid?: number | string }[] = [
      ...[{ chip_id: 1 }, { chipid: 7 }, { chipid: '7' }, { chipid: 1.5 }],
    ];
    answer([null, ...records, 'x']);
    const reading = await client.fleet.readList();
    assert.deepEqual([[...reading.devices.keys()], reading.invalid], [['7'], 4]);
    // A chip number that is listed twice is one device.
    const each = records.filter(({ chipid }) => chipid !== '7');
    assert.deepEqual((await client.devices()).body, each);
    answer([null, 'x', ['7']]);
    await failure(client.fleet.readList(), 'INVALID_RESPONSE');
  });
});
