import assert from 'node:assert/strict';
import { mock } from 'node:test';
import helper from 'node-red-node-test-helper';
import { DeviceCloudClient } from '../../../src/client';
import type { DeviceCloudError } from '../../../src/errors';
import type { Simulator } from '../../../src/simulator';
import { until } from '../../tooling/until';
import { startCloud } from '../support/node-red';
import { CANARIES } from '../support/secrets';
import { listening } from './listening';
import { ARRIVES, CHIPID, emitted, NOTHING, payloads, rowsOf, said, WORKS, type Row } from './row';

const row = rowsOf('callers');

/** A client of the library, closed at the end of what is done with it. */
async function withClient(
  act: (client: DeviceCloudClient, cloud: Simulator) => Promise<string>,
): Promise<string> {
  const cloud = await startCloud();
  const { baseUrl, appid } = cloud;
  const client = new DeviceCloudClient({ baseUrl, appid, proxy: false, ...CANARIES });
  try {
    return await act(client, cloud);
  } finally {
    await client.close();
  }
}

const throwing = row(
  'a listener that throws',
  "`The listener's onUpload threw: RangeError: Maximum call stack size exceeded.`",
  `the channel stays open, ${ARRIVES}`,
  async () => {
    const cloud = await listening({ recover: 'off' });
    const { mock: send } = mock.method(helper.getNode('listen')!, 'send', () => {
      throw new RangeError('Maximum call stack size exceeded');
    });
    cloud.upload(CHIPID, 'spoilt');
    await until(() => send.callCount() === 1, 'it has been sent');
    send.restore();
    cloud.upload(CHIPID, 'good');
    await emitted('good');
    assert.deepEqual(payloads(), ['good']);
    assert.equal(cloud.requests.length, 1, 'the channel held');
    return said();
  },
);

const twice = row(
  'the same listener twice, and one of the two released',
  NOTHING,
  'the other goes on; the channel closes with the last',
  () =>
    withClient(async (client, cloud) => {
      const uploads: string[] = [];
      const listener = { onUpload: ({ body }: { body: Buffer }) => uploads.push(body.toString()) };
      const subscriptions = [client.listen(CHIPID, listener), client.listen(CHIPID, listener)];
      await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
      subscriptions[0]!.release();
      subscriptions[0]!.release();
      cloud.upload(CHIPID, 'good');
      await until(() => uploads.length > 0, 'the other has it');
      assert.deepEqual(uploads, ['good']);
      subscriptions[1]!.release();
      await until(() => cloud.channels(CHIPID) === 0, 'the channel is closed');
      assert.equal(cloud.requests.length, 1);
      return said();
    }),
);

const aborted = row("a caller's own abort", '`CONNECTION_LOST`', WORKS, () =>
  withClient(async (client, cloud) => {
    const heal = cloud.fail('hang');
    const controller = new AbortController();
    const call = client.reboot(CHIPID, { signal: controller.signal });
    const failing = call.then(
      () => assert.fail('it was answered'),
      (error: DeviceCloudError) => error,
    );
    await until(() => cloud.requests.length === 1, 'it is under way');
    controller.abort(new Error('the user went away'));
    const { code, message } = await failing;
    assert.match(message, /the user went away/);
    heal();
    await client.reboot(CHIPID);
    return `\`${code}\``;
  }),
);

export const CALLERS: readonly Row[] = [throwing, twice, aborted];
