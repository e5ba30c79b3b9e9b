import assert from 'node:assert/strict';
import type { FaultName } from '../../../src/simulator';
import { cloudApp, load, node } from '../support/flow';
import { call, shows } from '../support/messages';
import { startCloud } from '../support/node-red';
import { until } from '../../tooling/until';
import { hurry } from './hurry';
import { ARRIVES, CHIPID, codeOf, emitted, rowsOf, said, WORKS, type Row } from './row';

const row = rowsOf('channel');

/** A push over a channel that does not come up in time. */
const unopened = (fault: string, name: FaultName): Row =>
  row(fault, '`NOT_CONNECTED`', WORKS, async () => {
    const time = hurry();
    try {
      const cloud = await startCloud();
      const patient = node('push', { id: 'patient', transport: 'channel' });
      const hasty = node('push', { transport: 'channel', timeout: '1' });
      await load([cloudApp(cloud), hasty, patient]);
      const heal = cloud.fail(name);
      const failed = await codeOf('push', { chipid: CHIPID, payload: 'x' });
      heal();
      await call('patient', { chipid: CHIPID, payload: 'good' });
      await until(() => cloud.device(CHIPID).received.length === 1, 'the device has it');
      return failed;
    } finally {
      time.stop();
    }
  });

/** A listener whose channel is not opened, and is later. @param waits how long, in ms, until then */
const unheard = (
  fault: string,
  name: FaultName,
  reason: string,
  then: string,
  waits?: readonly [from: number, to: number],
): Row =>
  row(fault, `\`the channel is down (${reason}).\``, `${then}, ${ARRIVES}`, async () => {
    const time = hurry();
    try {
      const cloud = await startCloud();
      cloud.fail(name, { times: 1 });
      const listen = node('listen', { chipids: [CHIPID], recover: 'off' });
      // Without a ping: its wait is a long one, too.
      await load([cloudApp(cloud, { ping: 0, heartbeat: 0 }), listen]);
      await until(() => said().includes(reason), 'the channel is down');
      // The pause has begun by now. The next handshake has its whole time.
      time.stop();
      await until(() => cloud.channels(CHIPID) === 1, 'it is open');
      if (waits) {
        const [from, to] = waits;
        const found = time.waits.some((ms) => ms >= from && ms <= to);
        assert.ok(found, `of ${String(time.waits)} ms none is from ${from} to ${to}`);
      }
      assert.equal(cloud.requests.length, 2, 'one attempt failed, and the next one came up');
      await shows('listen', 'status.connected');
      cloud.upload(CHIPID, 'good');
      await emitted('good');
      return said();
    } finally {
      time.stop();
    }
  });

export const CHANNEL_UPGRADE: readonly Row[] = [
  unopened('401 on upgrade, a push waits', 'refuse-upgrade'),
  unopened('200 on upgrade, a push waits', 'answer-upgrade'),
  unopened('upgrade never answered, a push waits', 'hang-upgrade'),
  unheard(
    '401 on upgrade',
    'refuse-upgrade',
    '401',
    'tried again after 30 to 60 s',
    [30_000, 60_000],
  ),
  unheard('200 on upgrade', 'answer-upgrade', '200', 'opened again'),
  unheard(
    'upgrade never answered',
    'hang-upgrade',
    'ETIMEDOUT',
    'given up after 15 s',
    [15_000, 15_000],
  ),
];
