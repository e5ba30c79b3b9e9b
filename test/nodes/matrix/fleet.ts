import assert from 'node:assert/strict';
import type { NodeMessage } from 'node-red';
import type { FaultName, Simulator } from '../../../src/simulator';
import { httpService, json } from '../../tooling/servers/http-service';
import { until } from '../../tooling/until';
import { cloudApp, load, node } from '../support/flow';
import { arrivedAt, shows } from '../support/messages';
import { startCloud } from '../support/node-red';
import { hurry } from './hurry';
import { CHIPID, NOTHING, rowsOf, said, type Row } from './row';

/** Makes a row in whose run long waits are short. */
const row = (fault: string, line: string, then: string, run: () => Promise<string>): Row =>
  rowsOf('fleet')(fault, line, then, async () => {
    // A call and a handshake have their whole time, 15 s; the lists do not.
    const time = hurry(16_000);
    try {
      return await run();
    } finally {
      time.stop();
    }
  });

/** Path of both spellings of the list. */
const LIST = { path: 'devices/list' };

/** What the events node has emitted, by device or for the application. */
const events = (): string[] =>
  arrivedAt('out').map(({ event, chipid }: NodeMessage & { event?: string; chipid?: string }) =>
    [event, chipid].join(' ').trim(),
  );
const tells = (...expected: string[]): Promise<void> =>
  until(() => events().join() === expected.join(), `it tells ${expected.join()}`);

/** An events node that has read the list once, and reads it again every 200 ms once time is in a hurry. */
async function watching(
  chipids: readonly string[] = [],
  properties: object = {},
): Promise<Simulator> {
  const cloud = await startCloud();
  const watcher = node('events', { refresh: '20', misses: '1' });
  const listener = node('listen', { chipids, recover: 'off', wires: [[]] });
  await load([cloudApp(cloud, properties), watcher, ...(chipids.length ? [listener] : [])]);
  await shows('events', '3/3');
  return cloud;
}

/** A list that cannot be read, three times in a row. */
const unread = (fault: string, name: FaultName, line: string, properties?: object): Row =>
  row(fault, line, '`unknown`, nobody is offline; `known` with the next list', async () => {
    const cloud = await watching([], properties);
    const heal = cloud.fail(name, LIST);
    await tells('unknown');
    heal();
    await tells('unknown', 'known');
    await shows('events', '3/3');
    // The count of those that followed is written after a minute, which is short here.
    const [first = ''] = said().split(', `');
    return first;
  });

/** A service with a list that a row changes. @param unusable what it answers in turn: lists, and failures in between */
const withoutNumbers = (
  fault: string,
  unusable: readonly (readonly unknown[] | 'fails')[],
  line: string,
  then: string,
  expected: readonly string[],
): Row =>
  row(fault, line, then, async () => {
    const good = [{ chipid: 1 }, { chipid: 2 }, { chipid: 3 }];
    let answers: readonly (readonly unknown[] | 'fails')[] = [];
    let asked = 0;
    const service = await httpService((...request) => {
      const answer = answers.length === 0 ? good : answers[asked++ % answers.length];
      (answer === 'fails' ? json({ msg: 'broken' }, 400) : json(answer))(...request);
    });
    const watcher = node('events', { refresh: '20', misses: '1' });
    await load([cloudApp({ baseUrl: service.baseUrl, appid: '10001' }), watcher]);
    await shows('events', '3/3');
    answers = unusable;
    await until(() => asked >= 6, 'the list is read some times');
    assert.deepEqual(events(), expected.slice(0, 1));
    answers = [];
    await tells(...expected);
    await shows('events', '3/3');
    const [first = ''] = said().split(', `');
    return first;
  });

const empty = row(
  'list empty',
  NOTHING,
  'each device is `offline` once, and `online` again',
  async () => {
    const cloud = await watching();
    const all = [...cloud.devices.keys()];
    for (const chipid of all) cloud.sleep(chipid);
    await until(() => events().length === all.length, 'all are offline');
    await shows('events', '0/3');
    for (const chipid of all) cloud.wake(chipid);
    await until(() => events().length === 2 * all.length, 'all are online');
    const expected = ['offline', 'online'].map((event) =>
      all.map((chipid) => `${event} ${chipid}`),
    );
    const [off, on] = [events().slice(0, all.length), events().slice(all.length)];
    assert.deepEqual([off.sort(), on.sort()], expected);
    return said();
  },
);

const unlisted = row(
  'list without a device that uploads',
  NOTHING,
  '`online` with the upload; `offline` after readings without one',
  async () => {
    const cloud = await watching([CHIPID]);
    await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
    cloud.sleep(CHIPID);
    await tells(`offline ${CHIPID}`);
    cloud.upload(CHIPID, 'x');
    await tells(`offline ${CHIPID}`, `online ${CHIPID}`, `offline ${CHIPID}`);
    return said();
  },
);

const failed = (what: string, advice: string, said = ''): string =>
  `\`${what}. Listing the online devices failed${said}. ${advice}\``;
const CHECK_KEYS =
  'Check the app key and the application id of the configuration, and the clock of this machine; the ' +
  'application may have been deleted.';
const CHECK_ADDRESS =
  "Check that the address is the service's, and no proxy or portal answers in its place.";
const WAIT = 'Try again later, or set a longer time-out.';

export const FLEET: readonly Row[] = [
  unread(
    'list fails',
    'unauthorized',
    failed('UNAUTHORIZED: The service answered 401', CHECK_KEYS, ': "sign is wrong"'),
  ),
  unread(
    'list of garbage',
    'array',
    failed('INVALID_RESPONSE: The answer is not an array of JSON objects', CHECK_ADDRESS),
  ),
  unread('list that hangs', 'hang', failed('TIMEOUT: no answer in 1 s', WAIT), { timeout: 1 }),
  withoutNumbers(
    'list of records without chip numbers',
    [[{ chip_id: 1 }, { chip_id: 2 }, { chip_id: 3 }]],
    failed(
      'INVALID_RESPONSE: None of the 3 records has a valid chip number',
      "Check that the address is the service's.",
    ),
    '`unknown`, nobody is offline; `known` with the next list',
    ['unknown', 'known'],
  ),
  withoutNumbers(
    'the same, alternating with failures',
    [[{ chip_id: 1 }], 'fails'],
    failed(
      'INVALID_RESPONSE: The only record has no valid chip number',
      "Check that the address is the service's.",
    ),
    '`unknown`, nobody is offline; `known` with the next list',
    ['unknown', 'known'],
  ),
  withoutNumbers(
    'list with some records without chip numbers',
    [[{ chipid: 1 }, { chipid: 2 }, { chip_id: 1 }, { chipid: 3 }]],
    "`One record of the list of online devices has no valid chip number and is ignored. Check that the address is the service's.`",
    'the others stay online',
    [],
  ),
  empty,
  unlisted,
];
