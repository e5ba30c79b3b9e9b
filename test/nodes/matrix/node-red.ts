import assert from 'node:assert/strict';
import flows from '@node-red/runtime/lib/flows';
import { cloudApp, deploy, load, node, watchSinks } from '../support/flow';
import { arrivedAt, call, post, send, shows } from '../support/messages';
import { startCloud } from '../support/node-red';
import { CANARIES } from '../support/secrets';
import { until } from '../../tooling/until';
import { ARRIVES, CHIPID, codeOf, emitted, NOTHING, rowsOf, said, WORKS, type Row } from './row';

const row = rowsOf('Node-RED');
const push = (payload = 'x') => ({ chipid: CHIPID, payload });
const listen = (properties: object = {}) => node('listen', { chipids: [CHIPID], ...properties });

/** A flow that is not configured, and then is. */
const missing = (fault: string, app: { d?: boolean; id?: string }, keys?: object): Row =>
  row(fault, '`NOT_CONFIGURED`', 'works once it is there', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud, app), node('push')], keys ?? { app: { ...CANARIES } });
    const failed = await codeOf('push', push());
    await deploy([cloudApp(cloud), node('push')]);
    await call('push', push());
    return failed;
  });

export const NODE_RED: readonly Row[] = [
  row('node deleted during a call', '`CONNECTION_LOST`', WORKS, async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push'), node('reboot')]);
    cloud.fail('hang', { times: 1 });
    const failing = codeOf('push', push());
    await until(() => cloud.requests.length === 1, 'it is under way');
    await deploy([cloudApp(cloud), node('reboot')], 'nodes');
    const failed = await failing;
    await call('reboot', { chipid: CHIPID });
    return failed;
  }),
  missing('config node missing', { id: 'another' }),
  missing('config node disabled', { d: true }),
  row(
    'config node changed',
    NOTHING,
    `old connections end, ${WORKS} at the new address`,
    async () => {
      const [first, second] = [await startCloud(), await startCloud()];
      await load([cloudApp(first), node('push'), listen()]);
      await shows('listen', 'status.connected');
      await deploy([cloudApp(second), node('push'), listen()], 'nodes');
      await until(() => first.sockets() === 0, 'the old connections end');
      await call('push', push());
      assert.equal(second.device(CHIPID).received.length, 1);
      return said();
    },
  ),
  row('two nodes on one device', NOTHING, 'one at a time and in order', async () => {
    const cloud = await startCloud({ answerDelay: 5 });
    await load([cloudApp(cloud), node('push'), node('push', { id: 'second' })]);
    const sent = Array.from({ length: 20 }, (_, n) => String(n));
    for (const n of sent) post(Number(n) % 2 ? 'second' : 'push', push(n));
    await until(() => arrivedAt('out').length === sent.length, 'all have ended');
    const { received, maxInFlight } = cloud.device(CHIPID);
    assert.deepEqual([maxInFlight, received.map(({ text }) => text)], [1, sent]);
    return said();
  }),
  missing('credentials missing', {}, {}),
  missing('`${ENV}` unset', {}, { app: { ...CANARIES, appkey: '${DEVICE_CLOUD_TEST_UNSET}' } }),
  row('flow stopped and started', NOTHING, `nothing stays open, ${WORKS}, ${ARRIVES}`, async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push'), listen()]);
    await shows('listen', 'status.connected');
    await flows.stopFlows();
    await until(() => cloud.sockets() === 0, 'nothing is open');
    await flows.startFlows();
    await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
    const { error } = await send('push', push());
    assert.equal(error, undefined);
    watchSinks();
    cloud.upload(CHIPID, 'good');
    await emitted('good');
    return said();
  }),
];
