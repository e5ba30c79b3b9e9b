import assert from 'node:assert/strict';
import type { Simulator } from '../../../src/simulator';
import { until } from '../../tooling/until';
import { cloudApp, deploy, load, node } from '../support/flow';
import { journal } from '../support/journal';
import { call, post, send, shows } from '../support/messages';
import { startCloud } from '../support/node-red';
import { CHIPID, codeOf, NOTHING, rowsOf, said, type Row } from './row';

const row = rowsOf('held');

const NEXT = 'next command goes out with the next upload';
const push = (payload: string) => ({ chipid: CHIPID, payload });

async function holding(
  when: 'online' | 'upload',
  properties: object = {},
  more: Parameters<typeof load>[0] = [],
): Promise<Simulator> {
  const cloud = await startCloud();
  await load([cloudApp(cloud), node('push', { when, ...properties }), ...more]);
  cloud.sleep(CHIPID);
  return cloud;
}

const received = (cloud: Simulator): (string | undefined)[] =>
  cloud.device(CHIPID).received.map(({ text }) => text);

/** The device wakes and uploads, over a channel that is open. */
async function wake(cloud: Simulator): Promise<void> {
  await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
  cloud.wake(CHIPID);
}

/** The next command is sent when the device wakes, and nothing else beside what a row has seen. */
async function works(cloud: Simulator, seen: readonly string[]): Promise<void> {
  cloud.sleep(CHIPID);
  const sent = call('push', push('good'));
  await shows('push', 'status.awaiting-device');
  await wake(cloud);
  await sent;
  assert.deepEqual(received(cloud), [...seen, 'good']);
}

const expires = row('expires', '`EXPIRED`', `not sent; ${NEXT}`, async () => {
  const cloud = await holding('upload', {}, [node('reboot', { when: 'upload', expires: '1' })]);
  const failed = await codeOf('reboot', { chipid: CHIPID });
  await works(cloud, []);
  assert.equal(cloud.device(CHIPID).boots, 0);
  return failed;
});

const unlisted = row('list that cannot be read', NOTHING, `waits; ${NEXT}`, async () => {
  const cloud = await holding('online');
  cloud.wake(CHIPID);
  cloud.fail('unauthorized', { path: 'devices/list' });
  const sent = call('push', push('waits'));
  await shows('push', 'status.awaiting-device');
  await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
  assert.deepEqual(received(cloud), []);
  cloud.upload(CHIPID, 'awake');
  await sent;
  await works(cloud, ['waits']);
  return said();
});

const flaps = row(
  'device that wakes for one command at a time',
  '`GATEWAY`',
  `sent once and in order, one more at each wake; ${NEXT}`,
  async () => {
    const cloud = await holding('upload');
    const names = ['a', 'b', 'c'];
    const ends = names.map((name) => send('push', push(name)));
    // It acts, and is gone before it could answer.
    cloud.delay(CHIPID, 60_000);
    for (const [n, end] of ends.entries()) {
      await wake(cloud);
      await until(() => received(cloud).length === n + 1, `it has got ${n + 1}`);
      cloud.sleep(CHIPID);
      await end;
      assert.deepEqual(received(cloud), names.slice(0, n + 1));
    }
    const log = said();
    cloud.delay(CHIPID, 0);
    await works(cloud, names);
    return log;
  },
);

const lost = row(
  'no answer, then a sign of life',
  '`TIMEOUT`',
  `the rest wait for it, and none is sent twice; ${NEXT}`,
  async () => {
    const cloud = await holding('upload', { timeout: '1' });
    cloud.fail('hang', { path: 'dev/push', acts: true, times: 1 });
    const [first, second] = ['first', 'second'].map((name) => send('push', push(name)));
    await wake(cloud);
    const { error } = await first!;
    assert.deepEqual(received(cloud), ['first']);
    cloud.upload(CHIPID, 'again');
    assert.equal((await second!).error, undefined);
    await works(cloud, ['first', 'second']);
    return `\`${(error as { code: string }).code}\``;
  },
);

const closed = row(
  'node closed while it waits',
  '–',
  `sent after the deploy; ${NEXT}`,
  async () => {
    const cloud = await holding('upload');
    for (const name of ['a', 'b']) post('push', push(name));
    await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
    await deploy([cloudApp(cloud), node('push', { when: 'upload', name: 'second' })]);
    assert.deepEqual(
      journal.endings.map(({ error }) => error),
      [undefined, undefined],
    );
    await works(cloud, ['a', 'b']);
    return '–';
  },
);

const full = row(
  'the 101st for a device',
  '`QUEUE_FULL`',
  `the 100 are sent in order; ${NEXT}`,
  async () => {
    const cloud = await holding('upload');
    const names = Array.from({ length: 100 }, (_, n) => String(n));
    const ends = names.map((name) => call('push', push(name)));
    await until(() => cloud.channels(CHIPID) === 1, 'they wait');
    const failed = await codeOf('push', push('101'));
    await wake(cloud);
    await Promise.all(ends);
    await works(cloud, names);
    return failed;
  },
);

export const HELD: readonly Row[] = [expires, unlisted, flaps, lost, closed, full];
